"""Files in: checked, read in a guarded child process, stored page by page with their words.

`ingest` and `incoming` take files, `reading` finds the words, `duplicates/` finds documents that show the same.
"""
