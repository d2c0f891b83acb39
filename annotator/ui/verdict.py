"""Plot of a run's verdict: change in mean IoU on each set of questions, with its interval."""

from collections.abc import Mapping
from html import escape
from typing import Any

from annotator.ui import plots
from annotator.ui.curves import HOLDOUTS, iou
from annotator.ui.table import table

_ROW, _LEFT, _WIDTH, _TOP = 34, 160, 140, 22
_GOOD, _BAD, _UNSURE = "var(--g-good)", "var(--g-person-ink)", "var(--g-ink-3)"  # light and dark: static/css/theme.css
_HALVES = ("recent", "frozen")  # of "own"
TITLE = "Newest verdict"


def picture(verdict: Mapping[str, Any]) -> str:
    """Return the verdict as a plot: dots for mean differences in IoU, bars for intervals, dashed limits.

    A green bar lies above zero, an orange one below zero, a grey one includes zero.

    Args:
        verdict: verdict of a run, as stored with it.

    Returns:
        HTML, empty when nothing was judged.
    """
    judged = verdict.get("holdouts", {})
    rows = [
        (name, judged[name])
        for name in HOLDOUTS
        if judged.get(name, {}).get("difference") is not None and not (name in _HALVES and "own" in judged)
    ]
    if not rows:
        return ""
    ends = [abs(figures[end]) for _, figures in rows for end in ("low", "high")]
    ends += [abs(figures["limit"]) for name, figures in rows if _has_limit(name, figures)]
    reach: float = max(0.06, *ends) * 1.1
    bottom = _TOP + _ROW * len(rows)

    def x(value: float) -> float:
        return round(_LEFT + _WIDTH * (value + reach) / (2 * reach), 1)

    parts = [f'<line x1="{x(0)}" x2="{x(0)}" y1="{_TOP - 8}" y2="{bottom}" stroke="currentColor" opacity=".35"/>']
    for value in (-reach / 1.1, 0.0, reach / 1.1):
        parts.append(f'<text x="{x(value)}" y="{bottom + 18}" text-anchor="middle">{value:+.2f}</text>')
    for at, (name, figures) in enumerate(rows):
        parts.append(_row(name, figures, _TOP + _ROW * at + _ROW / 2, x))
    level = round(100 * float(verdict.get("level", 0.9)))
    sentence = (
        f"Change in mean IoU from the model in use to the retrained one, with {level} % interval. "
        "Dashed: largest loss allowed."
    )
    return plots.figure(
        TITLE, sentence, "".join(parts), [], _values(rows), height=bottom + 30, said=str(verdict.get("sentence", ""))
    )


def _row(name: str, figures: Mapping[str, Any], y: float, x: Any) -> str:
    low, high, mean = figures["low"], figures["high"], figures["difference"]
    colour = _GOOD if low > 0 else _BAD if high < 0 else _UNSURE
    limit = ""
    if _has_limit(name, figures):
        at = x(figures["limit"])
        limit = f'<line x1="{at}" x2="{at}" y1="{y - 12}" y2="{y + 12}" style="stroke: {_BAD}" stroke-dasharray="3 3"/>'
    return (
        f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(HOLDOUTS[name])}</text>{limit}'
        f'<line x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}" style="stroke: {colour}" stroke-width="6" '
        f'stroke-linecap="round" opacity=".45"/>'
        f'<circle cx="{x(mean)}" cy="{y}" r="5" style="fill: {colour}"/>'
        f'<text x="{plots.WIDTH}" y="{y + 4}" text-anchor="end" class="value">{_change(figures)}</text>'
    )


def _has_limit(name: str, figures: Mapping[str, Any]) -> bool:
    """Return whether a set of questions can fail a run: training answers are shown for comparison and judge nothing."""
    return bool(figures.get("judged")) and name != "taught"


def _change(figures: Mapping[str, Any]) -> str:
    return f"{iou(figures['parent']['mean_iou'])} → {iou(figures['challenger']['mean_iou'])}"


def _values(rows: list[tuple[str, Mapping[str, Any]]]) -> str:
    cells = [
        [
            HOLDOUTS[name],
            iou(figures["parent"]["mean_iou"]),
            iou(figures["challenger"]["mean_iou"]),
            f"{figures['difference']:+.3f}",
            f"{figures['low']:+.3f} to {figures['high']:+.3f}",
        ]
        for name, figures in rows
    ]
    return table(["Measured on", "Model in use", "Retrained", "Change", "Interval"], cells)
