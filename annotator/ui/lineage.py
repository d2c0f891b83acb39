"""Plot of a project's models: mean IoU of each with its interval, joined to the model that it began with."""

from collections.abc import Sequence
from html import escape

from annotator.ui import plots
from annotator.ui.curves import FIGURE, HOLDOUTS, iou
from annotator.ui.table import table
from engine.models.registry import VersionView

JUDGED_ON = ("own", "generated")
_ASIDE = 6  # units that the dots of the two sets stand apart
_MOST = 10  # models that fit side by side, the one in use among them
TITLE = f"{FIGURE} of the models"


def picture(versions: Sequence[VersionView]) -> str:
    """Return mean IoU by model as a plot, with 90 % intervals.

    Lines join a model and the one that it began with when both were judged on the same set. A ring marks the model in
    use.

    Args:
        versions: versions of a project, newest first.

    Returns:
        HTML, empty when no version was judged.
    """
    judged = _newest([version for version in versions if any(mean(version, name) is not None for name in JUDGED_ON)])
    if not judged:
        return ""
    ends = [end for version in judged for name in JUDGED_ON for end in interval(version, name)]
    low, high = max(0.0, min(ends) - 0.02), min(1.0, max(ends) + 0.02)
    step = (plots.WIDTH - plots.LEFT - plots.RIGHT) / len(judged)

    def x(at: int, place: int) -> float:
        return round(plots.LEFT + step * (at + 0.5) + (_ASIDE if place else -_ASIDE), 1)

    def y(value: float) -> float:
        return round(plots.y_of((value - low) / max(1e-6, high - low), 1.0), 1)

    drawn = "".join(
        f'<path class="grid" d="M{plots.LEFT} {y(value)}H{plots.WIDTH - plots.RIGHT}"/>'
        f'<text x="{plots.LEFT - 6}" y="{y(value) + 4}" text-anchor="end">{value:.2f}</text>'
        for value in (low, (low + high) / 2, high)
    )
    places = {version.id: at for at, version in enumerate(judged)}
    for place, name in enumerate(JUDGED_ON):
        for at, version in enumerate(judged):
            value = mean(version, name)
            if value is None:
                continue
            parent = places.get(version.parent_id or "")
            before = mean(judged[parent], name) if parent is not None else None
            if parent is not None and before is not None:
                drawn += (
                    f'<path class="descent s{place}" d="M{x(parent, place)} {y(before)}L{x(at, place)} {y(value)}"/>'
                )
            bottom, top = interval(version, name)
            drawn += f'<path class="span s{place}" d="M{x(at, place)} {y(bottom)}V{y(top)}"/>'
            drawn += f'<circle class="s{place}" cx="{x(at, place)}" cy="{y(value)}" r="4.5">'
            drawn += f"<title>{escape(f'{version.label}, {HOLDOUTS[name].lower()}: {iou(value)}')}</title></circle>"
            if version.champion:
                drawn += f'<circle class="ring s{place}" cx="{x(at, place)}" cy="{y(value)}" r="8.5"/>'
    for at, version in enumerate(judged):
        weight = ' class="value"' if version.champion else ""
        drawn += (
            f'<text{weight} x="{plots.LEFT + step * (at + 0.5):.1f}" y="{plots.HEIGHT - 12}" text-anchor="middle">'
            f"{escape(version.label)}</text>"
        )
    legend = [(f"s{place}", HOLDOUTS[name]) for place, name in enumerate(JUDGED_ON)]
    cells = [[version.label, *(format_mean(version, name) for name in JUDGED_ON)] for version in judged]
    values = table(["Model", *(HOLDOUTS[name] for name in JUDGED_ON)], cells)
    sentence = "With 90 % intervals, as judged. Lines join a model and its parent. Ring: model in use."
    return plots.figure(TITLE, sentence, drawn, legend, values)


def mean(version: VersionView, name: str) -> float | None:
    """Return the mean IoU of a version on a set of questions, 0..1; None when it was not judged on it."""
    value = (version.figures.get(name) or {}).get("mean_iou")
    return None if value is None else float(value)


def interval(version: VersionView, name: str) -> tuple[float, ...]:
    """Return the ends of the interval of a mean IoU; empty when it was not judged."""
    value = mean(version, name)
    if value is None:
        return ()
    bounds = (version.figures.get(name) or {}).get("interval") or [value, value]
    return float(bounds[0]), float(bounds[1])


def format_mean(version: VersionView, name: str) -> str:
    """Return the mean IoU of a version with its interval as a cell; "-" when it was not judged."""
    value = mean(version, name)
    if value is None:
        return "-"
    low, high = interval(version, name)
    return f"{iou(value)} ({iou(low)} to {iou(high)})" if low < high else iou(value)


def format_values(version: VersionView) -> str:
    """Return the share of equal values on the held-out documents as a cell; "-" when none was judged."""
    value = (version.figures.get("own") or {}).get("value_equal")
    return "-" if value is None else f"{value:.0%}"


def _newest(judged: Sequence[VersionView]) -> list[VersionView]:
    """Return the newest judged versions and the one in use, oldest first."""
    newest = list(judged[:_MOST])
    champion = next((version for version in judged if version.champion), None)
    if champion is not None and champion not in newest:
        newest[-1] = champion
    return newest[::-1]
