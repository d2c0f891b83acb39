"""Datasets in and out: one module a format, read and written as streams.

`exports` writes snapshots. `imports` reads datasets of other programs; `import_store` stores them document by document.
"""
