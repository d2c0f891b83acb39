"""What the parts of the benchmark share: figures of times, and what a part hands back."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: medians over rounds, in milliseconds. bar: what the 95 % may be at most; None: no aim."""

    what: str
    p50: float
    p95: float
    times: int
    bar: float | None = None

    def cells(self) -> list[str]:
        """The line as text."""
        met = "" if self.bar is None else "met" if self.p95 <= self.bar else "MISSED"
        aim = "" if self.bar is None else f"{self.bar:g}"
        return [self.what, f"{self.p50:.0f}", f"{self.p95:.0f}", str(self.times), aim, met]


HEADS = ["", "median ms", "95 % ms", "times", "aim ms", ""]


def percentile(times: Sequence[float], share: float) -> float:
    """The smallest time that at least `share` of all do not exceed; NaN without any."""
    ordered = sorted(times)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def row(what: str, rounds: Sequence[Sequence[float]], bar: float | None = None) -> Row:
    """One round's times each (ms): the median of the rounds' medians and of their 95 %."""
    p50 = statistics.median(percentile(times, 0.5) for times in rounds)
    p95 = statistics.median(percentile(times, 0.95) for times in rounds)
    return Row(what, p50, p95, sum(map(len, rounds)), bar)
