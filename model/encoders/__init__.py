"""Encoders of the page and of the prompt: image, words, question, and their fusion."""
