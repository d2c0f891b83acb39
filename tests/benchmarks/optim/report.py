"""Tables and curves of the quality benchmark."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.markdown import table
from tests.benchmarks.optim.trial import Settings, Trial

# Two-sided 95 % quantiles of Student's t for 1, 2 ... degrees of freedom: few seeds, no normal distribution. Beyond
# them the last one is taken, which is a little too wide.
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093),
)


@dataclass(frozen=True, slots=True)
class Result:
    """trials: of the best settings, by seed."""

    name: str
    settings: Settings
    by_seed: Mapping[int, Trial]

    @property
    def trials(self) -> Sequence[Trial]:
        return list(self.by_seed.values())

    @property
    def loss(self) -> float:
        return statistics.mean(trial.loss for trial in self.trials)


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Mean and half width of the 95 % interval of the mean; NaN for one difference, or one that is not finite."""
    mean = statistics.mean(differences)
    if len(differences) < 2 or not math.isfinite(mean):
        return mean, math.nan
    quantile = STUDENT[min(len(differences) - 2, len(STUDENT) - 1)]
    return mean, quantile * statistics.stdev(differences) / math.sqrt(len(differences))


def paired(result: Result, base: Result) -> str:
    """Difference to another row over the seeds that both have, with its interval."""
    shared = [seed for seed in result.by_seed if seed in base.by_seed]
    if result is base or not shared:
        return ""
    mean, half = interval([result.by_seed[seed].loss - base.by_seed[seed].loss for seed in shared])
    return f"{mean:+.4f}" + (f" ± {half:.4f}" if math.isfinite(half) else "")


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
    """One table: loss, difference to Muon by pairs of seeds, steps to AdamW's last loss, settings, milliseconds a step."""
    base, muon = (next((r for r in results if r.name == name), results[0]) for name in ("adamw", "muon"))
    measures = list(dict.fromkeys(name for result in results for trial in result.trials for name in trial.measures))
    heads = [
        "",
        "loss",
        f"to {muon.name}",
        "seeds",
        f"steps to {base.name}'s",
        "rate",
        "momentum",
        "decay",
        "ms",
        *measures,
    ]
    lines = []
    for result in sorted(results, key=lambda result: result.loss):
        to = steps_to(result, base.loss) / steps_to(base, base.loss) if math.isfinite(base.loss) else math.nan
        lines.append(
            [
                result.name,
                f"{result.loss:.4f}",
                paired(result, muon),
                str(len(result.trials)),
                f"{to:.2f}" if math.isfinite(to) else "-" if math.isnan(to) else "never",
                f"{result.settings.rate:.2g}",
                f"{result.settings.momentum:g}",
                f"{result.settings.decay:.2g}",
                f"{statistics.median(trial.milliseconds for trial in result.trials):.1f}",
                *(f"{_mean(result, name):.3f}" for name in measures),
            ]
        )
    print(f"\n{task}: held-out loss after {steps} steps; steps as multiples of {base.name}'s own")
    print(table(heads, lines), flush=True)


def draw(path: Path, task: str, results: Sequence[Result]) -> None:
    """Mean held-out curves with their range over the seeds; the ten best."""
    from tests.benchmarks.plots import curves  # a GPU machine may lack matplotlib

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
