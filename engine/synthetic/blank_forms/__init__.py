"""Generated pages from real blank forms: the print and the fields of a fillable PDF, filled with invented values.

`template` is a blank page, `keys` finds the print that belongs to a field, `filler` writes values, `asking` asks for
them, `pages` yields finished pages. engine/documents/blank_forms/forms.py reads the PDF.
"""
