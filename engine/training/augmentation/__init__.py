"""Changed examples: misread characters, ciphered words, stretched pages, questions without an answer.

Each function is pure and seeded; boxes stay exact.
"""
