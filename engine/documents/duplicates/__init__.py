"""Duplicate documents: page signatures, the index that finds them by key, and groups with their split.

A group never spans two splits; a document that would join two is quarantined.
"""
