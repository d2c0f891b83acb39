"""Statuses of answers, and the splits of documents. Nothing is imported here, so that every file may use them.

An answer is a draft, then submitted; a reviewer accepts, fixes or rejects it. Without review, submitting accepts.
"""

ACCEPTED = ("accepted", "fixed")  # statuses of labels; fixed: accepted after the reviewer changed it
ANSWERED = ("submitted", *ACCEPTED)  # statuses that count as somebody's answer
AUTOMATIC = "automatic"  # status of an answer that was accepted without a person, where datasets name one
TRAIN = "train"  # split whose documents a run learns from
