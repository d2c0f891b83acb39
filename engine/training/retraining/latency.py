"""Latency of champion and challenger: both answer alternately, so machine load affects both alike."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.grounded import GroundedPage
from engine.jobs.cancellation import ShouldStop
from model.inference import Predictor, Word

PAGES = 12  # pages that both read and ask
QUESTIONS = 4  # of a page, in one batch
_ROUNDS = 3  # of each page; the fastest counts, since load only slows down


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of both in milliseconds, median over pages; `ratio` is the median of the ratios per page."""

    pages: int
    champion_ms: float
    challenger_ms: float
    ratio: float

    def to_json(self, limit: float) -> dict[str, Any]:
        """Return it as stored in a verdict."""
        return {
            "pages": self.pages,
            "parent_ms": round(self.champion_ms, 2),  # the key of stored verdicts
            "challenger_ms": round(self.challenger_ms, 2),
            "ratio": round(self.ratio, 4),
            "limit": limit,
        }


def compared(
    champion: Predictor,
    challenger: Predictor,
    pages: Sequence[GroundedPage],
    *,
    should_stop: ShouldStop = lambda: None,
    clock: Callable[[], float] = time.perf_counter,
) -> Latency | None:
    """Measure both on the first pages with words and questions, alternately; None without such pages."""
    asked = [page for page in pages if page.words and page.questions][:PAGES]
    times: list[tuple[float, float]] = []
    for page in asked:
        if should_stop() is not None:
            break
        rounds = []
        for number in range(_ROUNDS):
            both = (champion, challenger) if number % 2 == 0 else (challenger, champion)
            taken = {id(one): _timed(one, page, clock) for one in both}
            rounds.append((taken[id(champion)], taken[id(challenger)]))
        times.append((min(one for one, _ in rounds), min(other for _, other in rounds)))
    if not times:
        return None
    return Latency(
        pages=len(times),
        champion_ms=1000 * statistics.median(one for one, _ in times),
        challenger_ms=1000 * statistics.median(other for _, other in times),
        ratio=statistics.median(other / one for one, other in times),
    )


def _timed(predictor: Predictor, page: GroundedPage, clock: Callable[[], float]) -> float:
    began = clock()
    encoded = predictor.encode(None, [Word(one.text, one.box) for one in page.words], (page.width, page.height))
    predictor.ask_many(encoded, [question.question for question in page.questions[:QUESTIONS]])
    return clock() - began
