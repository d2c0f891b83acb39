"""Reading of a file: in a guarded child process, page by page, into words in reading order."""
