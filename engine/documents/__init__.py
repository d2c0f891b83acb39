"""Documents: files are checked, read in a guarded child process, and stored with pages and words.

`ingest` and `incoming` accept files, `read_jobs` reads the further pages of long ones, `reading` extracts words,
`duplicates/` finds documents with equal pages.
"""
