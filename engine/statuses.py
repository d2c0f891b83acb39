"""Statuses of answers and splits of documents.

This module imports nothing, so that every module may use it.

An answer is a draft, then submitted; a reviewer accepts, fixes or rejects it. Without review, submitting accepts it.
"""

ACCEPTED = ("accepted", "fixed")  # statuses of labels; fixed: accepted after the reviewer changed it
ANSWERED = ("submitted", *ACCEPTED)  # statuses that count as an answer
REMOVED = "removed"  # status of an answer that counts nowhere until it is restored (engine.queries.standing)
AUTOMATIC = "automatic"  # status of an unreviewed, auto-accepted answer in datasets
TRAIN = "train"  # split of training documents
SPLITS = (TRAIN, "recent", "frozen")  # all splits; recent and frozen are holdouts
