"""Propose answers made of words, and rank them: coarse proposals, a listwise choice."""
