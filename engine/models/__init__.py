"""Model versions: the registry, the champion of each project, promotions and rollbacks.

Checkpoints are stored in the blob store by their SHA-256.
"""
