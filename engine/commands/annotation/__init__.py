"""Commands about documents and their answers: ask, mark, review, and what is put up for people."""
