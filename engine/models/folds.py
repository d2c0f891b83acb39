"""Folds of documents: a version is judged on each fold by weights that have not learned from it.

The fold of a document follows from its group of like documents, and never changes. engine.training.retraining.folds
says what is made of them.
"""

import hashlib

FOLDS = 3


def fold_of(group_id: str) -> int:
    """Return the fold of a group of like documents, 0 to FOLDS - 1."""
    return int.from_bytes(hashlib.sha256(f"fold:{group_id}".encode()).digest()[:8], "big") % FOLDS
