"""Figures of a simulation, round by round."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Measured:
    """Score of a version on unseen pages; 95 % intervals by resampled pages.

    `declined`: share of the unanswerable questions that it declines; None without any.
    """

    acc_50: float
    mean_iou: float
    acc_50_interval: tuple[float, float]
    mean_iou_interval: tuple[float, float]
    declined: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Round of a simulation; scores are of the champion after it.

    `gain`: paired difference in acc@.5 to the first round.
    """

    round: int
    pages: int  # corrected so far
    version: str
    acc_50: float
    mean_iou: float
    acc_50_interval: tuple[float, float]
    mean_iou_interval: tuple[float, float]
    declined: float | None = None
    gain: tuple[float, float, float] | None = None  # mean, low, high
    watched: Measured | None = None
    watched_gain: tuple[float, float, float] | None = None
    generated: Measured | None = None  # on generated pages of all kinds, by words
    challenger: Measured | None = None
    promoted: bool | None = None
    sentence: str = ""
    corrections_a_page: float | None = None
    edited_words_a_question: float | None = None
    accepted_unchanged: float | None = None
    seconds: float | None = None  # of the whole retraining, with judging


def round_from_json(stored: Mapping[str, Any]) -> Round:
    """Return a round from its JSON object, as `dataclasses.asdict` made it. Raises ValueError for another object."""
    return _ROUND.validate_python(stored)


_ROUND = TypeAdapter(Round)
