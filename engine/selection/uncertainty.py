"""Confidence and uncertainty of an answer. Pure.

Four signals are combined: the probability that the page answers, the predicted IoU, the disagreement of words and
pixels, and the best other proposal (the margin, Scheffer et al. 2001, "Active hidden Markov models for information
extraction", section 3). The weights were fitted on answers of the shipped weights to forms and receipts.
"""

from collections.abc import Iterable

DISAGREEMENT, RIVAL = 0.3, 0.5  # share of the confidence that each can take away


def confidence(answered: float, score: float, disagreement: float, rival: float) -> float:
    """Return the confidence that the mark is right, 0..1.

    Args:
        answered: Probability that the page answers, 0..1.
        score: Predicted IoU, 0..1.
        disagreement: 1 - IoU of the mark by words and the mark by pixels, 0..1.
        rival: Predicted IoU of the best other proposal, 0..1; 0 without one.
    """
    return answered * score * (1 - DISAGREEMENT * disagreement) * (1 - RIVAL * min(max(rival, 0.0), 1.0))


def uncertainty(answered: float, score: float, disagreement: float, rival: float) -> float:
    """Return the uncertainty of the answer, 0..1: of the mark or of "not in the document", the surer one."""
    return 1 - max(confidence(answered, score, disagreement, rival), 1 - answered)


def best_rival(scores: Iterable[float]) -> float:
    """Return the predicted IoU of the best other proposal; 0 without one."""
    return max(scores, default=0.0)
