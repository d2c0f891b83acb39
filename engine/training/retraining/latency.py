"""Latency of champion and challenger: both answer alternately, so machine load affects both alike.

On a CPU it is processor time, of all threads: what else the machine does makes the clock's ratio of a network to itself
.59 to 1.07, and that of processor time .95 to 1.06 (two cores, four busy processes beside it).
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.grounded import GroundedPage
from engine.jobs.cancellation import ShouldStop
from model.examples import Word

if TYPE_CHECKING:
    from model.inference import Predictor

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


def compare_latency(
    champion: "Predictor",
    challenger: "Predictor",
    pages: Sequence[GroundedPage],
    *,
    should_stop: ShouldStop = lambda: None,
    clock: Callable[[], float] | None = None,
) -> Latency | None:
    """Measure both on the first pages with words and questions, alternately; None without such pages.

    `clock`: returns seconds; without it, the processor's where both compute on a CPU.
    """
    on_cpu = all(predictor.device.type == "cpu" for predictor in (champion, challenger))
    clock = clock or (time.process_time if on_cpu else time.perf_counter)
    asked = [page for page in pages if page.words and page.questions][:PAGES]
    times: list[tuple[float, float]] = []
    for page in asked:
        if should_stop() is not None:
            break
        rounds = []
        for number in range(_ROUNDS):
            both = (champion, challenger) if number % 2 == 0 else (challenger, champion)
            taken = {id(predictor): _time_page(predictor, page, clock) for predictor in both}
            rounds.append((taken[id(champion)], taken[id(challenger)]))
        times.append(
            (min(champion_time for champion_time, _ in rounds), min(challenger_time for _, challenger_time in rounds))
        )
    if not times:
        return None
    return Latency(
        pages=len(times),
        champion_ms=1000 * statistics.median(champion_time for champion_time, _ in times),
        challenger_ms=1000 * statistics.median(challenger_time for _, challenger_time in times),
        ratio=statistics.median(challenger_time / champion_time for champion_time, challenger_time in times),
    )


def _time_page(predictor: "Predictor", page: GroundedPage, clock: Callable[[], float]) -> float:
    began = clock()
    encoded = predictor.encode(None, [Word(word.text, word.box) for word in page.words], (page.width, page.height))
    predictor.ask_many(encoded, [question.question for question in page.questions[:QUESTIONS]])
    return clock() - began
