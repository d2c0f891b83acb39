"""Gain of selection: corrections per page of the model's choices and of random documents. Reads only.

Chosen and random documents are interleaved, for the same people and the same model, so they are comparable. Corrections
per page are the answers that people had to change, over the pages of finished documents. A higher figure for chosen
documents means that people's time goes where the model is wrong.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import COMPARED_CHOICES, FinishedDocument

FEWEST = 6  # documents needed for an interval
_RESAMPLES, _SEED = 2000, 0


class Choice(BaseModel):
    """Finished documents with the same selection reason; 95 % interval, None for fewer than six documents."""

    chosen_by: str
    documents: int
    pages: int
    corrections: int
    corrections_a_page: float
    low: float | None
    high: float | None


class Choices(BaseModel):
    """Figures by selection reason, and the difference of model and random choice with its interval."""

    by: list[Choice]
    more: float | None = Field(None, description="Corrections per page: chosen by the model, minus random.")
    more_low: float | None = None
    more_high: float | None = None


class Finished(NamedTuple):
    """Finished document: its pages, and the number of answers that people changed."""

    pages: int
    corrections: int


def choices(session: Session, project_id: str) -> Choices:
    """Return the figures of a project.

    A document is finished when all its tasks are answered. Documents moved to the front by hand or for their age are
    left out.
    """
    kind = FinishedDocument.chosen_by, FinishedDocument.pages, FinishedDocument.corrections
    rows = session.execute(
        select(*kind, func.count())
        .where(FinishedDocument.project_id == project_id, FinishedDocument.pages > 0)
        .group_by(*kind)
        .order_by(*kind)
    )
    counts_by_reason: dict[str, dict[Finished, int]] = {name: {} for name in COMPARED_CHOICES}
    for by, pages, corrections, documents in rows:
        counts_by_reason[by][Finished(pages, corrections)] = documents
    return compare_choices(counts_by_reason)


def compare_choices(counts_by_reason: Mapping[str, Mapping[Finished, int]]) -> Choices:
    """Return the figures of finished documents by selection reason. Pure and deterministic.

    Intervals are percentiles of the bootstrap over documents (Efron and Tibshirani 1993, section 13.3). Documents with
    the same numbers are drawn together, by the multinomial distribution: the same draw, in time that does not grow.

    Args:
        counts_by_reason: Selection reason -> numbers of a finished document -> documents with these numbers.
    """
    documents = {name: sum(kinds.values()) for name, kinds in counts_by_reason.items()}
    drawn = {
        name: _resample_rates(kinds, at)
        for at, (name, kinds) in enumerate(counts_by_reason.items())
        if documents[name] >= FEWEST
    }
    by = []
    for name, kinds in counts_by_reason.items():
        if not kinds:
            continue
        pages = sum(numbers.pages * count for numbers, count in kinds.items())
        corrections = sum(numbers.corrections * count for numbers, count in kinds.items())
        low, high = _ends(drawn[name]) if name in drawn else (None, None)
        by.append(
            Choice(
                chosen_by=name,
                documents=documents[name],
                pages=pages,
                corrections=corrections,
                corrections_a_page=corrections / pages,
                low=low,
                high=high,
            )
        )
    rate = {choice.chosen_by: choice.corrections_a_page for choice in by}
    if len(rate) < len(COMPARED_CHOICES):
        return Choices(by=by)
    ends: tuple[float | None, float | None] = (None, None)
    if len(drawn) == len(COMPARED_CHOICES):
        ends = _ends(drawn["model"] - drawn["random"])
    return Choices(by=by, more=rate["model"] - rate["random"], more_low=ends[0], more_high=ends[1])


def _resample_rates(kinds: Mapping[Finished, int], seed: int) -> NDArray[np.float64]:
    values, numbers = np.array(list(kinds), float), np.array(list(kinds.values()))
    shares = numbers / numbers.sum()
    drawn = np.random.default_rng([_SEED, seed]).multinomial(numbers.sum(), shares, _RESAMPLES) @ values
    rates: NDArray[np.float64] = drawn[:, 1] / drawn[:, 0]
    return rates


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
