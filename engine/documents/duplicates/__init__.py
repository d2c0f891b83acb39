"""Documents that show the same: signatures of pages, the index that finds them by key, and groups with their split.

A group never lies in two splits; documents that would join two are quarantined.
"""
