"""Plot of a project's model versions: parent, mean IoU on each holdout, and its interval."""

from collections.abc import Sequence
from html import escape

from annotator.ui.curves import HOLDOUTS
from engine.models.registry import VersionView

_STEP, _LEFT, _RIGHT, _TOP, _HEIGHT = 74, 54, 26, 16, 150
_LINES = {"own": "var(--g-good)", "generated": "var(--g-ink-3)"}  # light and dark: static/css/theme.css
_MOST = 12  # newest versions shown; more would not fit


def picture(versions: Sequence[VersionView]) -> str:
    """Return an SVG of mean IoU by version, with intervals.

    Lines join a version and its parent when both were judged on the same holdout. The champion has a ring.

    Args:
        versions: versions of a project, newest first.

    Returns:
        HTML, empty when no version was judged.
    """
    judged = [one for one in reversed(versions) if any(_mean(one, name) is not None for name in _LINES)][-_MOST:]
    if not judged:
        return ""
    ends = [end for one in judged for name in _LINES for end in _interval(one, name)]
    low, high = max(0.0, min(ends) - 0.02), min(1.0, max(ends) + 0.02)
    width = _LEFT + _STEP * len(judged) + _RIGHT

    def x(at: int, name: str) -> float:
        return _LEFT + _STEP * (at + 0.5) + (6 if name == "generated" else -6)

    def y(value: float) -> float:
        return round(_TOP + _HEIGHT * (high - value) / max(1e-6, high - low), 1)

    parts = [
        f'<line x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y(value)}" y2="{y(value)}" stroke="currentColor" '
        f'opacity=".15"/>'
        f'<text x="{_LEFT - 8}" y="{y(value) + 4}" text-anchor="end" class="axis">{value:.2f}</text>'
        for value in (low, (low + high) / 2, high)
    ]
    places = {one.id: at for at, one in enumerate(judged)}
    for name, colour in _LINES.items():
        for at, one in enumerate(judged):
            mean = _mean(one, name)
            if mean is None:
                continue
            parent = places.get(one.parent_id or "")
            before = _mean(judged[parent], name) if parent is not None else None
            if parent is not None and before is not None:
                parts.append(
                    f'<line x1="{x(parent, name)}" x2="{x(at, name)}" y1="{y(before)}" y2="{y(mean)}" style="stroke: '
                    f'{colour}" opacity=".5"/>'
                )
            bottom, top = _interval(one, name) or (mean, mean)
            ring = (
                f'<circle cx="{x(at, name)}" cy="{y(mean)}" r="8" fill="none" style="stroke: {colour}"/>'
                if one.champion
                else ""
            )
            parts.append(
                f'<line x1="{x(at, name)}" x2="{x(at, name)}" y1="{y(bottom)}" y2="{y(top)}" style="stroke: {colour}" '
                f'stroke-width="3" stroke-linecap="round" opacity=".45"/>'
                f'<circle cx="{x(at, name)}" cy="{y(mean)}" r="4.5" style="fill: {colour}">'
                f"<title>{escape(one.label)}: {mean:.3f}</title></circle>{ring}"
            )
    for at, one in enumerate(judged):
        weight = ' font-weight="600"' if one.champion else ""
        parts.append(
            f'<text x="{_LEFT + _STEP * (at + 0.5)}" y="{_TOP + _HEIGHT + 22}" '
            f'text-anchor="middle"{weight}>{escape(one.label)}</text>'
        )
    said = "; ".join(f"{one.label} {_mean(one, 'own') or _mean(one, 'generated'):.3f}" for one in judged)
    return (
        '<figure class="glossator-verdict glossator-lineage">'
        "<figcaption>Mean IoU by version with its 90 % interval, as judged after its training: "
        f'<b style="color: {_LINES["own"]}">{escape(HOLDOUTS["own"])}</b> and <b style="color: {_LINES["generated"]}">'
        f"{escape(HOLDOUTS['generated'].lower())}</b>. Lines join a version and its parent. Ring: model in use."
        f"</figcaption>"
        f'<div class="glossator-scroll"><svg style="min-width: {width * 0.8:.0f}px; max-width: {width}px" '
        f'viewBox="0 0 {width} {_TOP + _HEIGHT + 34}" role="img" '
        f'aria-label="{escape(said, quote=True)}">{"".join(parts)}</svg></div></figure>'
    )


def _mean(version: VersionView, name: str) -> float | None:
    figures = version.figures.get(name) or {}
    value = figures.get("mean_iou")
    return None if value is None else float(value)


def _interval(version: VersionView, name: str) -> tuple[float, ...]:
    figures = version.figures.get(name) or {}
    if figures.get("mean_iou") is None:
        return ()
    found = figures.get("interval") or [figures["mean_iou"]] * 2
    return float(found[0]), float(found[1])
