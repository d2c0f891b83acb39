"""Gain of selection: corrections per page of the model's choices and of random documents. Reads only.

Chosen and random documents are interleaved, for the same people and the same model, so they are comparable. Corrections
per page are the answers that people had to change, over the pages of finished documents. A higher figure for chosen
documents means that people's time goes where the model is wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from sqlalchemy import CTE, Integer, cast, func, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Page, Task

CHOSEN = ("model", "random")
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


def choices(session: Session, project_id: str, masks: CTE) -> Choices:
    """Return the figures of a project.

    A document is finished when all its tasks are answered. Documents moved to the front by hand or for their age are
    left out. `masks`: every finished mask with `annotation` and `unchanged`, as in engine.statistics.throughput.
    """
    done = (
        select(
            Annotation.document_id,
            Annotation.question_id,
            func.min(cast(masks.c.unchanged, Integer)).label("unchanged"),
        )
        .join(masks, masks.c.annotation == Annotation.id)
        .where(Annotation.project_id == project_id)
        .group_by(Annotation.document_id, Annotation.question_id)
        .subquery()
    )
    pages = select(func.count(Page.id)).where(Page.document_id == Task.document_id).scalar_subquery()
    rows = session.execute(
        select(
            func.min(Task.chosen_by),
            pages,
            func.count(done.c.question_id) - func.sum(done.c.unchanged),
        )
        .outerjoin(done, (done.c.document_id == Task.document_id) & (done.c.question_id == Task.question_id))
        .where(Task.project_id == project_id, Task.closed_at.is_(None))
        .group_by(Task.document_id)
        .having(func.count(Task.id) == func.count(done.c.question_id))
        .having(func.min(Task.chosen_by) == func.max(Task.chosen_by), func.count(Task.chosen_by) == func.count(Task.id))
        .order_by(Task.document_id)
    )
    found: dict[str, list[Finished]] = {name: [] for name in CHOSEN}
    for by, count, corrections in rows:
        if by in found and count:
            found[by].append(Finished(int(count), int(corrections)))
    return compared(found)


def compared(found: dict[str, list[Finished]]) -> Choices:
    """Return the figures of finished documents by selection reason. Pure and deterministic.

    Intervals are percentiles of the bootstrap over documents (Efron and Tibshirani 1993, section 13.3).
    """
    drawn = {name: _resampled(some, at) for at, (name, some) in enumerate(found.items()) if len(some) >= FEWEST}
    by = []
    for name, some in found.items():
        if not some:
            continue
        pages, corrections = sum(each.pages for each in some), sum(each.corrections for each in some)
        low, high = _ends(drawn[name]) if name in drawn else (None, None)
        by.append(
            Choice(
                chosen_by=name,
                documents=len(some),
                pages=pages,
                corrections=corrections,
                corrections_a_page=corrections / pages,
                low=low,
                high=high,
            )
        )
    rate = {each.chosen_by: each.corrections_a_page for each in by}
    if len(rate) < len(CHOSEN):
        return Choices(by=by)
    ends: tuple[float | None, float | None] = (None, None)
    if len(drawn) == len(CHOSEN):
        ends = _ends(drawn["model"] - drawn["random"])
    return Choices(by=by, more=rate["model"] - rate["random"], more_low=ends[0], more_high=ends[1])


def _resampled(some: Sequence[Finished], seed: int) -> NDArray[np.float64]:
    values = np.array(some, float)
    at = np.random.default_rng([_SEED, seed]).integers(0, len(values), (_RESAMPLES, len(values)))
    drawn = values[at].sum(axis=1)
    rates: NDArray[np.float64] = drawn[:, 1] / drawn[:, 0]
    return rates


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
