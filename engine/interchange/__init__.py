"""Datasets out and in: one module a format, streams instead of whole files.

`exports` writes snapshots, `imports` reads sets that other programs made, `import_store` stores them entry by entry.
"""
