"""Marked PDFs: the original of a document with highlights and notes of its answers, searchable where OCR read it.

The door is `writing.write_marked_pdf`. A guarded child process opens the file, as in the reading of documents. A file
that is no PDF, or cannot be opened, becomes a PDF of its page images.
"""
