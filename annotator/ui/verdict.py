"""Plot of a run's verdict: change in mean IoU on each holdout, with its interval."""

from collections.abc import Mapping
from html import escape
from typing import Any

from annotator.ui.curves import HOLDOUTS

_ROW, _LEFT, _WIDTH, _RIGHT, _TOP = 34, 150, 330, 110, 30
_GOOD, _BAD, _UNSURE = "var(--g-good)", "var(--g-person-ink)", "var(--g-ink-3)"  # light and dark: static/css/theme.css


def picture(verdict: Mapping[str, Any]) -> str:
    """Return the verdict as an SVG: dots for mean differences in IoU, bars for intervals, dashed limits.

    A green bar lies above zero, an orange one below zero, a grey one includes zero.

    Args:
        verdict: verdict of a run, as stored with it.

    Returns:
        HTML, empty when nothing was judged.
    """
    rows = [
        (name, figures)
        for name, figures in verdict.get("holdouts", {}).items()
        if figures.get("difference") is not None and name in HOLDOUTS
    ]
    if not rows:
        return ""
    reach: float = max(0.06, *(abs(figures[end]) for _, figures in rows for end in ("low", "high"))) * 1.1
    height = _TOP + _ROW * len(rows) + 34
    level = round(100 * float(verdict.get("level", 0.9)))

    def x(value: float) -> float:
        return round(_LEFT + _WIDTH * (value + reach) / (2 * reach), 1)

    parts = [
        f'<line x1="{x(0)}" x2="{x(0)}" y1="{_TOP - 8}" y2="{_TOP + _ROW * len(rows)}" stroke="currentColor" '
        f'opacity=".35"/>'
    ]
    for value in (-reach / 1.1, 0.0, reach / 1.1):
        parts.append(
            f'<text x="{x(value)}" y="{_TOP + _ROW * len(rows) + 18}" text-anchor="middle" class="axis">{value:+.2f}'
            f"</text>"
        )
    for at, (name, figures) in enumerate(rows):
        parts.append(_row(name, figures, _TOP + _ROW * at + _ROW / 2, x))
    return (
        '<figure class="glossator-verdict"><figcaption>Newest verdict: change in mean IoU, challenger minus champion, '
        f"with {level} % interval. Dashed: largest loss allowed.</figcaption>"
        f'<svg viewBox="0 0 {_LEFT + _WIDTH + _RIGHT} {height}" role="img" '
        f'aria-label="{escape(str(verdict.get("sentence", "")), quote=True)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _row(name: str, figures: Mapping[str, Any], y: float, x: Any) -> str:
    low, high, mean = figures["low"], figures["high"], figures["difference"]
    colour = _GOOD if low > 0 else _BAD if high < 0 else _UNSURE
    before, after = figures["parent"]["mean_iou"], figures["challenger"]["mean_iou"]
    limit = ""
    if figures.get("judged") and name != "taught":  # training pages are shown for comparison and judge nothing
        at = x(figures["limit"])
        limit = f'<line x1="{at}" x2="{at}" y1="{y - 12}" y2="{y + 12}" style="stroke: {_BAD}" stroke-dasharray="3 3"/>'
    return (
        f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(HOLDOUTS[name])}</text>{limit}'
        f'<line x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}" style="stroke: {colour}" stroke-width="6" '
        f'stroke-linecap="round" opacity=".45"/>'
        f'<circle cx="{x(mean)}" cy="{y}" r="5" style="fill: {colour}"/>'
        f'<text x="{_LEFT + _WIDTH + 12}" y="{y + 4}" class="figure">{before:.3f} → {after:.3f}</text>'
    )
