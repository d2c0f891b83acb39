"""The text layer of a PDF: its words, and doubts about them."""
