"""Heads that answer: the word head with region growing, and the mask decoder."""
