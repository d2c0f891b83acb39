"""Commands that take datasets in, make them, and give them out."""
