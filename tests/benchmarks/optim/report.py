"""Tables and curves of the quality benchmark."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.optim.trial import Trial
from tests.benchmarks.plots import curves
from tests.benchmarks.tables import table

# Two-sided 95 % quantiles of Student's t for 1, 2 ... degrees of freedom: few seeds, no normal distribution.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


@dataclass(frozen=True, slots=True)
class Result:
    """rates: losses at the first seed by learning rate. trials: of the best rate, one a seed."""

    name: str
    rates: Mapping[float, float]
    trials: Sequence[Trial]

    @property
    def rate(self) -> float:
        return min(self.rates, key=lambda rate: self.rates[rate])

    @property
    def at_edge(self) -> bool:
        return self.rate in (min(self.rates), max(self.rates))

    @property
    def loss(self) -> float:
        return statistics.mean(trial.loss for trial in self.trials)

    @property
    def half_width(self) -> float:
        """Of the 95 % interval of the mean; NaN for one seed."""
        count = len(self.trials)
        if count < 2 or not math.isfinite(self.loss):
            return math.nan
        return STUDENT[count - 2] * statistics.stdev(trial.loss for trial in self.trials) / math.sqrt(count)


def steps_to(result: Result, loss: float) -> float:
    """Steps until the mean held-out curve is at `loss`, between its points along a line; infinite where it never is."""
    before: tuple[int, float] | None = None
    for points in zip(*(trial.curve for trial in result.trials), strict=False):
        step, here = points[0][0], statistics.mean(value for _, value in points)
        if here <= loss:
            if before is None or before[1] == here:
                return float(step)
            return before[0] + (step - before[0]) * (before[1] - loss) / (before[1] - here)
        before = (step, here)
    return math.inf


def print_task(task: str, steps: int, results: Sequence[Result]) -> None:
    """One table: loss, interval, steps to AdamW's last loss, best learning rate, milliseconds of a step, measures."""
    base = next((result for result in results if result.name == "adamw"), results[0])
    measures = list(dict.fromkeys(name for result in results for trial in result.trials for name in trial.measures))
    heads = ["", "loss", "± 95 %", "seeds", f"steps to {base.name}'s", "best rate", "ms", *measures]
    lines = []
    for result in sorted(results, key=lambda result: result.loss):
        to = steps_to(result, base.loss) / steps_to(base, base.loss)
        lines.append(
            [
                result.name,
                f"{result.loss:.4f}",
                f"{result.half_width:.4f}" if math.isfinite(result.half_width) else "",
                str(len(result.trials)),
                f"{to:.2f}" if math.isfinite(to) else "never",
                f"{result.rate:.2g}" + (" (edge)" if result.at_edge else ""),
                f"{result.trials[0].milliseconds:.1f}",
                *(f"{_mean(result, name):.3f}" for name in measures),
            ]
        )
    print(f"\n{task}: held-out loss after {steps} steps; steps as multiples of {base.name}'s own")
    print(table(heads, lines), flush=True)


def draw(path: Path, task: str, results: Sequence[Result]) -> None:
    """Mean held-out curves with their range over the seeds; the ten best."""
    series, bands = {}, {}
    for result in sorted(results, key=lambda result: result.loss)[:10]:
        by_seed = [[value for _, value in trial.curve] for trial in result.trials]
        xs = [step for step, _ in result.trials[0].curve]
        if any(len(values) != len(xs) for values in by_seed):
            continue
        columns = list(zip(*by_seed, strict=True))
        series[result.name] = (xs[1:], [statistics.mean(values) for values in columns][1:])
        if len(by_seed) > 1:
            bands[result.name] = ([min(values) for values in columns][1:], [max(values) for values in columns][1:])
    # An excursion of one run early on would flatten all that is to be seen.
    top = max(ys[len(ys) // 5] for _, ys in series.values())
    curves(path, series, title=f"{task}: held-out loss", x="steps", y="loss", bands=bands, top=1.05 * top)


def _mean(result: Result, name: str) -> float:
    return statistics.mean(trial.measures.get(name, math.nan) for trial in result.trials)
