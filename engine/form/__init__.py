"""The form of a paper: all fields of its project at once, with one person's answers to them.

`asking` lets the model answer the fields that the person has not asked yet, `view` reads the form, `accepting` decides
about several answers in one request.
"""
