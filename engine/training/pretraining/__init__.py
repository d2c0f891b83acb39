"""Pretraining from random weights: on text, on unlabelled pages, and on generated questions.

`run` drives and resumes the stages, `stages` lists them, `probing` measures what they learned.
"""
