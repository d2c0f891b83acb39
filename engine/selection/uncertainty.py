"""How sure a model is of an answer, and how unsure. Pure.

Four signs are put together: the probability that the page answers, the predicted IoU, how far words and pixels disagree, and
how close the best other proposal comes (the margin, Scheffer et al. 2001, "Active hidden Markov models for information
extraction", section 3). Their weights were set on answers of the shipped weights to the forms and receipts of the README: the README
says what each is worth.
"""

from collections.abc import Iterable

DISAGREEMENT, RIVAL = 0.3, 0.5  # how much of the confidence each can take away


def confidence(answered: float, score: float, disagreement: float, rival: float) -> float:
    """Return how sure it is that the mark is right, 0..1.

    answered: probability that the page answers. score: predicted IoU. disagreement: 1 - IoU of what words and what pixels
    say. rival: predicted IoU of the best other proposal, 0 where there is none. All 0..1.
    """
    return answered * score * (1 - DISAGREEMENT * disagreement) * (1 - RIVAL * min(max(rival, 0.0), 1.0))


def uncertainty(answered: float, score: float, disagreement: float, rival: float) -> float:
    """Return how unsure it is what the answer is, 0..1: of the mark, or that there is none, whichever is surer."""
    return 1 - max(confidence(answered, score, disagreement, rival), 1 - answered)


def best_rival(scores: Iterable[float]) -> float:
    """Return the predicted IoU of the best other proposal; 0 where there is none."""
    return max(scores, default=0.0)
