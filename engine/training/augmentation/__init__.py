"""Augmentation of examples: misread characters, ciphered words, stretched pages, negative questions.

Each function is pure and seeded; boxes stay exact.
"""
