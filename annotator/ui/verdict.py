"""Plot of a run's verdict: change in mean IoU on each set of questions and in right values, with intervals."""

from collections.abc import Mapping
from html import escape
from typing import Any

from annotator.ui import plots
from annotator.ui.curves import HOLDOUTS, iou
from annotator.ui.table import table

_ROW, _LEFT, _WIDTH, _TOP = 34, 160, 140, 22
_GOOD, _BAD, _UNSURE = "var(--g-good)", "var(--g-person-ink)", "var(--g-ink-3)"  # light and dark: static/css/theme.css
_HALVES = ("recent", "frozen")  # of "own"
_VALUES = {"value_equal": "Equal values", "value_exact": "Values, same text", "value_anls": "Values, ANLS"}
_TYPED = "Dates, amounts …"  # values of types that read more than a text; they alone can fail a run
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
    drawn = [(HOLDOUTS[name], figures, _has_limit(name, figures), _change(figures)) for name, figures in rows]
    values = _value_rows(judged.get("own", {}))
    drawn += [
        (title, figures, bool(figures["judged"]), _shares(figures))
        for title, figures in values
        if title in (_VALUES["value_equal"], _TYPED)
    ]
    ends = [abs(figures[end]) for _, figures, _, _ in drawn for end in ("low", "high")]
    ends += [abs(figures["limit"]) for _, figures, limited, _ in drawn if limited]
    reach: float = max(0.06, *ends) * 1.1
    bottom = _TOP + _ROW * len(drawn)

    def x(value: float) -> float:
        return round(_LEFT + _WIDTH * (value + reach) / (2 * reach), 1)

    parts = [f'<line x1="{x(0)}" x2="{x(0)}" y1="{_TOP - 8}" y2="{bottom}" stroke="currentColor" opacity=".35"/>']
    for value in (-reach / 1.1, 0.0, reach / 1.1):
        parts.append(f'<text x="{x(value)}" y="{bottom + 18}" text-anchor="middle">{value:+.2f}</text>')
    for at, row in enumerate(drawn):
        parts.append(_row(*row, _TOP + _ROW * at + _ROW / 2, x))
    level = round(100 * float(verdict.get("level", 0.9)))
    sentence = (
        f"Change in mean IoU from the model in use to the retrained one, with {level} % interval. "
        "Dashed: largest loss allowed."
    )
    if values:
        sentence += f" Equal values: share on the held-out documents; “{_TYPED}” leaves out texts."
    return plots.figure(
        TITLE,
        sentence,
        "".join(parts),
        [],
        _table(rows, values),
        height=bottom + 30,
        said=str(verdict.get("sentence", "")),
    )


def _row(title: str, figures: Mapping[str, Any], limited: bool, change: str, y: float, x: Any) -> str:
    low, high, mean = figures["low"], figures["high"], figures["difference"]
    colour = _GOOD if low > 0 else _BAD if high < 0 else _UNSURE
    limit = ""
    if limited:
        at = x(figures["limit"])
        limit = f'<line x1="{at}" x2="{at}" y1="{y - 12}" y2="{y + 12}" style="stroke: {_BAD}" stroke-dasharray="3 3"/>'
    return (
        f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(title)}</text>{limit}'
        f'<line x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}" style="stroke: {colour}" stroke-width="6" '
        f'stroke-linecap="round" opacity=".45"/>'
        f'<circle cx="{x(mean)}" cy="{y}" r="5" style="fill: {colour}"/>'
        f'<text x="{plots.WIDTH}" y="{y + 4}" text-anchor="end" class="value">{change}</text>'
    )


def _value_rows(own: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the changes in values on own documents: title and figures, with both shares; empty without any field."""
    values = own.get("values")
    if not values:
        return []
    rows: list[tuple[str, Mapping[str, Any]]] = [
        (title, {**values[name], **{side: own[side][name] for side in ("parent", "challenger")}})
        for name, title in _VALUES.items()
    ]
    if values["typed"]["questions"]:
        rows.insert(1, (_TYPED, values["typed"]))
    return rows


def _shares(figures: Mapping[str, Any]) -> str:
    return f"{figures['parent']:.0%} → {figures['challenger']:.0%}"


def _has_limit(name: str, figures: Mapping[str, Any]) -> bool:
    """Return whether a set of questions can fail a run: training answers are shown for comparison and judge nothing."""
    return bool(figures.get("judged")) and name != "taught"


def _change(figures: Mapping[str, Any]) -> str:
    return f"{iou(figures['parent']['mean_iou'])} → {iou(figures['challenger']['mean_iou'])}"


def _table(rows: list[tuple[str, Mapping[str, Any]]], values: list[tuple[str, Mapping[str, Any]]]) -> str:
    measured = [
        (HOLDOUTS[name], iou(figures["parent"]["mean_iou"]), iou(figures["challenger"]["mean_iou"]), figures)
        for name, figures in rows
    ]
    measured += [(title, f"{row['parent']:.1%}", f"{row['challenger']:.1%}", row) for title, row in values]
    cells = [
        [
            title,
            before,
            after,
            f"{figures['difference']:+.3f}",
            f"{figures['low']:+.3f} to {figures['high']:+.3f}",
        ]
        for title, before, after, figures in measured
    ]
    return table(["Measured on", "Model in use", "Retrained", "Change", "Interval"], cells)
