"""Weights from nothing: stages of pretraining on text, on pages without labels, and on generated questions.

`run` drives the stages and resumes them, `stages` lists them, `probing` shows what they learned.
"""
