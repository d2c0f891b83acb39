"""Extraction: a paper goes in, the values of its fields come out with their places. Programs use it.

A paper may be a stored document, or a file of which nothing is stored.
"""
