"""Model versions: which exist, which one answers in a project, and how that changed.

`registry` registers, promotes and rolls back; checkpoints lie in the blob store by their SHA-256.
"""
