"""Pseudo-labels: keys found on pages that nobody has labelled, and answers on which two judges agree.

`keys` finds printed keys, `labels` asks for them and keeps what may be believed, `corpus` reads a folder of documents,
`precision` measures the labels where people have given the answers.
"""
