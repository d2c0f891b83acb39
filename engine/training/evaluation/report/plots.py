"""SVG plots of a report: histogram of IoU, calibration, and equal values by type."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from engine.training.evaluation.metrics import Scored

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 420, 250, 46, 40, 12, 14
_BINS = 10


def _x(value: float) -> float:
    return round(_LEFT + value * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(value: float) -> float:
    return round(_HEIGHT - _BOTTOM - value * (_HEIGHT - _BOTTOM - _TOP), 1)


def histogram(scored: Sequence[Scored]) -> str:
    """Plot answerable questions by IoU in tenths: bars for the model, a line for the baseline."""
    answerable = [score for score in scored if score.answerable]
    if not answerable:
        return ""
    counts, baselines = (
        np.histogram([getattr(score, name) for score in answerable], bins=_BINS, range=(0, 1))[0]
        for name in ("iou", "baseline_iou")
    )
    most = max(int(counts.max()), int(baselines.max()))
    bars = "".join(
        f'<rect class="bar" x="{_x(at / _BINS) + 1.5}" width="{_x((at + 1) / _BINS) - _x(at / _BINS) - 3:.1f}" '
        f'y="{_y(count / most)}" height="{_y(0) - _y(count / most):.1f}">'
        f"<title>IoU {at / _BINS:.1f} to {(at + 1) / _BINS:.1f}: {count} by the model, {baselines[at]} by the baseline"
        "</title></rect>"
        for at, count in enumerate(counts.tolist())
    )
    steps = "".join(f"V{_y(count / most)}H{_x((at + 1) / _BINS)}" for at, count in enumerate(baselines.tolist()))
    line = f'<path class="line floor" d="M{_x(0)} {_y(0)}{steps}V{_y(0)}"/>'
    ticks = [(0.0, "0"), (1.0, f"{most:,}")]
    return _plot("Histogram of IoU", bars + line, ticks, across="IoU", up="questions")


def calibration(scored: Sequence[Scored]) -> str:
    """Plot mean true IoU of answerable questions by predicted IoU, in tenths; dot size shows their number."""
    answerable = [score for score in scored if score.answerable]
    if not answerable:
        return ""
    predicted = np.array([score.predicted_iou for score in answerable])
    true = np.array([score.iou for score in answerable])
    place = np.clip((predicted * _BINS).astype(int), 0, _BINS - 1)
    points = [
        (predicted[place == at].mean(), true[place == at].mean(), int((place == at).sum()))
        for at in range(_BINS)
        if (place == at).any()
    ]
    most = max(count for _, _, count in points)
    path = "".join(f"{'L' if at else 'M'}{_x(x)} {_y(y)}" for at, (x, y, _) in enumerate(points))
    dots = "".join(
        f'<circle class="dot" cx="{_x(x)}" cy="{_y(y)}" r="{3 + 7 * (count / most) ** 0.5:.1f}">'
        f"<title>{count} questions: predicted {x:.2f}, true {y:.2f}</title></circle>"
        for x, y, count in points
    )
    diagonal = f'<path class="line floor" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>'
    ticks = [(value, f"{value:g}") for value in (0.0, 0.5, 1.0)]
    return _plot(
        "Calibration", f'{diagonal}<path class="line" d="{path}"/>{dots}', ticks, across="predicted IoU", up="true IoU"
    )


def value_bars(types: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Plot the share of equal values by type: a bar for the model, a dash for the baseline."""
    if not types:
        return ""
    height = min(26.0, (_y(0) - _y(1)) / len(types))
    left = _LEFT + 44  # names are longer than numbers

    def across(share: float) -> float:
        return round(left + share * (_WIDTH - left - _RIGHT - 34), 1)

    drawn = ""
    for at, (name, figures) in enumerate(types):
        top = _y(1) + at * height
        middle = round(top + height / 2, 1)
        ours, baseline = figures["value_equal"], figures["floor_value_equal"]
        title = f"{name}: {ours:.0%} of {figures['questions']:,} equal by the model, {baseline:.0%} by the baseline"
        drawn += (
            f'<text x="{left - 7}" y="{middle + 4}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="bar" x="{left}" y="{top + 3:.1f}" width="{across(ours) - left:.1f}" '
            f'height="{height - 6:.1f}"><title>{escape(title)}</title></rect>'
            f'<path class="line floor" d="M{across(baseline)} {top + 1:.1f}V{top + height - 1:.1f}"/>'
            f'<text x="{across(ours) + 5}" y="{middle + 4}">{ours:.0%}</text>'
        )
    bottom = _y(1) + len(types) * height
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {bottom + 10:.0f}" role="img" aria-label="Equal values by type">'
        f"{drawn}</svg>"
    )


def _plot(title: str, drawn: str, up_ticks: Sequence[tuple[float, str]], *, across: str, up: str) -> str:
    below = "".join(
        f'<text x="{_x(value)}" y="{_y(0) + 16}" text-anchor="middle">{value:g}</text>'
        for value in (0, 0.25, 0.5, 0.75, 1)
    )
    beside = "".join(
        f'<path class="grid" d="M{_x(0)} {_y(value)}H{_x(1)}"/>'
        f'<text x="{_x(0) - 7}" y="{_y(value) + 4}" text-anchor="end">{name}</text>'
        for value, name in up_ticks
    )
    middle = _y(0.5)
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">{beside}{below}'
        f'<text x="{_x(0.5)}" y="{_HEIGHT - 6}" text-anchor="middle">{across}</text>'
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{up}</text>{drawn}</svg>'
    )
