"""Plots as SVG: a title, one sentence that states the result, values on hover.

Every plot is 420 units wide, so text stays readable on a phone and with three plots side by side. Colours are the
classes s0, s1, ... of static/css/quality.css. A folded table under each plot holds its values, for screen readers too.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape

from annotator.ui.table import table

_NOTHING = '<figure class="glossator-plot empty">'
SERIES = 6  # colours that colour-blind people can tell apart; further series are summed as "others"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 230, 40, 14, 14, 30


@dataclass(frozen=True)
class Dot:
    """A figure with its interval.

    Attributes:
        name: label below the dot.
        value: the figure.
        low: lower end of the interval, or None.
        high: upper end of the interval, or None.
        count: number of masks (or documents) behind the figure.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    count: int


_WIDEST = 32.0  # of a bar, however few days there are


def stacked_bars(
    title: str, sentence: str, bins: Sequence[date], series: Sequence[tuple[str, Sequence[int]]], unit: str
) -> str:
    """Return stacked bars by day.

    Args:
        title: title of the plot.
        sentence: result in one sentence.
        bins: first day of each bar.
        series: (name, values by bin) of each layer, bottom first.
        unit: plural of the counted thing, as "masks".
    """
    totals = [sum(values[at] for _, values in series) for at in range(len(bins))]
    top, ticks = scale(max(totals, default=0), whole=True)
    width = (WIDTH - LEFT - RIGHT) / max(len(bins), 1)
    bar = min(width - min(2.0, width * 0.25), _WIDEST)
    bars, below = [], [0] * len(bins)
    for place, (name, values) in enumerate(series):
        for at, value in enumerate(values):
            if value:
                y = y_of(below[at] + value, top)
                height = y_of(below[at], top) - y
                below[at] += value
                hover = f"{_day(bins[at])}: {name}, {value} {unit} of {totals[at]}"
                bars.append(
                    f'<rect class="s{place}" x="{LEFT + (at + 0.5) * width - bar / 2:.1f}" y="{y:.1f}" '
                    f'width="{bar:.1f}" '
                    f'height="{max(height - 0.8, 0.6):.1f}"><title>{escape(hover)}</title></rect>'
                )
    columns = ["Day", *(name for name, _ in series), "all"]
    rows = [[f"{day}", *(values[at] for _, values in series), totals[at]] for at, day in enumerate(bins) if totals[at]]
    legend = [(f"s{place}", f"{name} {sum(values):,}") for place, (name, values) in enumerate(series)]
    axes = up(ticks, top) + _days(bins, width)
    return figure(title, sentence, axes + "".join(bars), legend, table(columns, rows))


def dots(
    title: str,
    sentence: str,
    rows: Sequence[Dot],
    written: Callable[[float], str],
    top: float = 0,
    *,
    unit: str = "masks",
    what: str = "Model",
    trend: bool = True,
) -> str:
    """Return dots with bars for their intervals, from left to right.

    Args:
        title: title of the plot.
        sentence: result in one sentence.
        rows: the dots, at least one.
        written: formats a value as text.
        top: end of the axis; 0: chosen from the values.
        unit: plural of the things counted behind a dot.
        what: heading of the dots' names in the table.
        trend: draw a line from each dot to the next.
    """
    reach, ticks = scale(top or max(max(row.value, row.high or 0) for row in rows))
    if top:
        reach = top
    step = (WIDTH - LEFT - RIGHT) / len(rows)
    parts, points = [], []
    for at, row in enumerate(rows):
        x, y = LEFT + step * (at + 0.5), y_of(row.value, reach)
        points.append(f"{x:.1f} {y:.1f}")
        hover = f"{row.name}: {written(row.value)}, {row.count} {unit}"
        if row.low is not None and row.high is not None:
            hover = f"{row.name}: {written(row.value)} ({written(row.low)} to {written(row.high)}), {row.count} {unit}"
            parts.append(
                f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" y1="{y_of(row.low, reach):.1f}" '
                f'y2="{y_of(row.high, reach):.1f}"/>'
            )
        # On the side of the dot where the line to the next one does not go.
        side, anchor = (x + 10, "start") if at + 1 < len(rows) or at == 0 else (x - 10, "end")
        rising = at + 1 < len(rows) and rows[at + 1].value > row.value
        parts.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>'
            f'<text class="value" x="{side:.1f}" y="{y + (15 if rising else -7):.1f}" '
            f'text-anchor="{anchor}">{escape(written(row.value))}</text>'
            f'<text x="{x:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(_short(row.name))}</text>'
            f'<rect class="hover" x="{x - step / 2:.1f}" y="{TOP}" width="{step:.1f}" height="{HEIGHT - TOP}">'
            f"<title>{escape(hover)}</title></rect>"
        )
    path = f'<path class="trend" d="M{"L".join(points)}"/>' if trend and len(points) > 1 else ""
    values = table(
        [what, "Value", "95 % interval", unit.capitalize()],
        [
            [
                row.name,
                written(row.value),
                "-" if row.low is None or row.high is None else f"{written(row.low)} to {written(row.high)}",
                row.count,
            ]
            for row in rows
        ],
    )
    return figure(title, sentence, up(ticks, reach, written) + path + "".join(parts), [], values)


def lines(
    title: str, sentence: str, bins: Sequence[date], series: Sequence[tuple[str, Sequence[int]]], unit: str
) -> str:
    """Return one line by day for each series; the legend shows the newest values.

    Args:
        title: title of the plot.
        sentence: result in one sentence.
        bins: the days.
        series: (name, values by day) of each line.
        unit: word behind a name in the table, as "waiting".
    """
    top, ticks = scale(max((max(values, default=0) for _, values in series), default=0), whole=True)
    width = (WIDTH - LEFT - RIGHT) / max(len(bins), 1)
    drawn = ""
    for place, (_name, values) in enumerate(series):
        steps = "".join(f"V{y_of(value, top):.1f}h{width:.2f}" for value in values)
        drawn += f'<path class="line s{place}" d="M{LEFT} {y_of(values[0], top):.1f}{steps}"/>'
    for at, day in enumerate(bins):
        hover = f"{_day(day)}: " + ", ".join(f"{name} {values[at]}" for name, values in series)
        drawn += (
            f'<rect class="hover" x="{LEFT + at * width:.1f}" y="{TOP}" width="{width:.2f}" '
            f'height="{y_of(0, top) - TOP}">'
            f"<title>{escape(hover)}</title></rect>"
        )
    legend = [(f"s{place}", f"{name} {values[-1]:,}") for place, (name, values) in enumerate(series)]
    rows = [[f"{day}", *(values[at] for _, values in series)] for at, day in enumerate(bins)]
    listed = table(["Day", *(f"{name} ({unit})" for name, _ in series)], rows)
    return figure(title, sentence, up(ticks, top) + _days(bins, width) + drawn, legend, listed)


def bars(title: str, sentence: str, groups: Sequence[tuple[str, Sequence[tuple[str, float, str]]]]) -> str:
    """Return horizontal bars from 0 to 1.

    Args:
        title: title of the plot.
        sentence: result in one sentence.
        groups: (name, rows) of each group; a row is (name, value, number of observations as text).
    """
    left, row, y = 130, 30, 8
    end = WIDTH - 52
    height = max(HEIGHT, 40 + sum(30 + 26 * len(several) for _, several in groups))
    drawn = "".join(
        f'<path class="grid" d="M{left + (end - left) * tick:.1f} 4V{height - 24}"/>'
        f'<text x="{left + (end - left) * tick:.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>'
        for tick in (0, 0.25, 0.5, 0.75, 1)
    )
    cells: list[Sequence[object]] = []
    for name, several in groups:
        drawn += f'<text class="group" x="4" y="{y + 14}">{escape(name)}</text>'
        y += 22
        for place, (who, value, behind) in enumerate(several):
            length = (end - left) * min(max(value, 0.0), 1.0)
            drawn += (
                f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(who)}</text>'
                f'<rect class="s{place}" x="{left}" y="{y + 2}" width="{length:.1f}" height="18" rx="2">'
                f"<title>{escape(f'{name}, {who}: {value:.3f}, {behind}')}</title></rect>"
                f'<text class="value" x="{left + length + 6:.1f}" y="{y + 16}">{value:.2f}</text>'
            )
            cells.append([name, who, f"{value:.3f}", behind])
            y += row - 4
        y += 8
    return figure(title, sentence, drawn, [], table(["Figure", "Compared", "Value", "Over"], cells), height=height)


@dataclass(frozen=True)
class Bounded:
    """A share at and above a threshold, with its lower bound.

    Attributes:
        threshold: least confidence, 0..1.
        share: share that is right, 0..1.
        low: lower confidence bound of the share, 0..1.
        count: number of answers behind the share.
    """

    threshold: float
    share: float
    low: float
    count: int


def bounded_shares(
    title: str, sentence: str, rows: Sequence[Bounded], target: float, chosen: float | None, unit: str
) -> str:
    """Return shares against a threshold, with the band down to their lower bounds.

    Args:
        title: title of the plot.
        sentence: result in one sentence.
        rows: shares, lowest threshold first.
        target: required share, a horizontal line.
        chosen: chosen threshold, a vertical line, or None.
        unit: plural of the counted thing, as "answers".
    """
    bottom = math.floor(10 * min([target, *(row.low for row in rows)])) / 10
    first, last = rows[0].threshold, max(rows[-1].threshold, rows[0].threshold + 0.05)

    def x(threshold: float) -> float:
        return LEFT + 8 + (threshold - first) / (last - first) * (WIDTH - LEFT - RIGHT - 30)

    def y(share: float) -> float:
        return y_of(share - bottom, 1 - bottom)

    step = 0.1 if bottom < 0.7 else 0.05
    ticks = [bottom + step * at for at in range(round((1 - bottom) / step) + 1)]
    drawn = "".join(
        f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.0%}</text>'
        for tick in ticks
    )
    upper = "L".join(f"{x(row.threshold):.1f} {y(row.share):.1f}" for row in rows)
    lower = "L".join(f"{x(row.threshold):.1f} {y(row.low):.1f}" for row in reversed(rows))
    drawn += f'<path class="band" d="M{upper}L{lower}Z"/><path class="line s0" d="M{upper}"/>'
    drawn += (
        f'<path class="target" d="M{LEFT} {y(target):.1f}H{WIDTH - RIGHT}"/>'
        f'<text class="value halo" x="{LEFT + 4}" y="{HEIGHT - BOTTOM - 6}">- - target {target:.1%}</text>'
    )
    if chosen is not None:
        drawn += f'<path class="chosen" d="M{x(chosen):.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
    every = 1 if len(rows) <= 5 else 2
    for at, row in enumerate(rows):
        hover = f"{row.threshold:.2f} and above: {row.share:.1%} of {row.count} {unit} right, lower bound {row.low:.1%}"
        drawn += (
            f'<circle class="dot" cx="{x(row.threshold):.1f}" cy="{y(row.share):.1f}" r="3.5"/>'
            f'<rect class="hover" x="{x(row.threshold) - 9:.1f}" y="{TOP}" width="18" '
            f'height="{HEIGHT - TOP - BOTTOM}">'
            f"<title>{escape(hover)}</title></rect>"
        )
        if at % every == 0:
            drawn += (
                f'<text x="{x(row.threshold):.1f}" y="{HEIGHT - 12}" text-anchor="middle">{row.threshold:.2f}</text>'
            )
    cells = [[f"{row.threshold:.2f}", row.count, f"{row.share:.1%}", f"{row.low:.1%}"] for row in rows]
    values = table(["Minimum confidence", unit.capitalize(), "Right", "Lower bound"], cells)
    return figure(title, sentence, drawn, [], values)


def framed_content(title: str, sentence: str, content: str) -> str:
    """Return other content in the frame of a plot.

    Args:
        title: title of the frame.
        sentence: result in one sentence.
        content: HTML, as a table.
    """
    return (
        f'<figure class="glossator-plot"><figcaption><b>{escape(title)}</b><span>{escape(sentence)}</span></figcaption>'
        f"{content}</figure>"
    )


def nothing(title: str, sentence: str, next_step: str) -> str:
    """Return the frame of a plot without data.

    Args:
        title: title of the frame.
        sentence: description of the plot.
        next_step: action that brings data.
    """
    return (
        f"{_NOTHING}<figcaption><b>{escape(title)}</b><span>{escape(sentence)}</span>"
        f"</figcaption>"
        f"<p>{escape(next_step)}</p></figure>"
    )


def filled_first(drawn: Sequence[str]) -> list[str]:
    """Return frames in their order, those without data last."""
    return sorted((frame for frame in drawn if frame), key=lambda frame: frame.startswith(_NOTHING))


def figure(
    title: str,
    sentence: str,
    drawn: str,
    legend: Sequence[tuple[str, str]],
    values: str,
    *,
    height: int = HEIGHT,
    said: str = "",
) -> str:
    """Return a plot in its frame.

    Args:
        title: title of the plot.
        sentence: result in one sentence.
        drawn: content of the SVG, WIDTH units wide.
        legend: (class, name) of each colour.
        values: table of the values (HTML).
        height: height of the SVG in units.
        said: description for screen readers; title and sentence when empty.
    """
    names = "".join(f'<li><i class="{colour}"></i>{escape(name)}</li>' for colour, name in legend)
    return (
        f'<figure class="glossator-plot"><figcaption><b>{escape(title)}</b><span>{escape(sentence)}</span></figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(said or f"{title}. {sentence}", quote=True)}">{drawn}</svg>'
        f"{f'<ul>{names}</ul>' if names else ''}<details><summary>Values</summary>{values}</details></figure>"
    )


def y_of(value: float, top: float) -> float:
    """Return the height of a value on an axis from 0 to `top`, in units from above."""
    return HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP)


def scale(most: float, *, whole: bool = False) -> tuple[float, list[float]]:
    """Return the end of an axis and about four round ticks."""
    if most <= 0:
        return 1.0, [0.0, 1.0]
    rough = most / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    if whole:
        step = max(1.0, math.ceil(step))
    count = math.ceil(most / step)
    return step * count, [step * at for at in range(count + 1)]


def up(ticks: Sequence[float], top: float, written: Callable[[float], str] = "{:g}".format) -> str:
    """Return the lines and numbers of a vertical axis from 0 to `top`."""
    return "".join(
        f'<path class="{"grid" if tick else "base"}" d="M{LEFT} {y_of(tick, top):.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 6}" y="{y_of(tick, top) + 4:.1f}" text-anchor="end">{escape(_exactly(tick, written))}</text>'
        for tick in ticks
        if tick <= top
    )


def _exactly(tick: float, written: Callable[[float], str]) -> str:
    """Return a tick with the unit that values have, but not rounded as they are: 0.1 s would stand twice."""
    text = written(tick)
    return text if text.endswith("%") else re.sub(r"[\d.,]+", f"{tick:g}", text, count=1)


def _days(bins: Sequence[date], width: float) -> str:
    """Return the dates below an axis: as many as fit, the newest included."""
    every = max(1, math.ceil(len(bins) / 5))
    return "".join(
        f'<text x="{min(max(LEFT + (at + 0.5) * width, LEFT + 14), WIDTH - RIGHT - 14):.1f}" y="{HEIGHT - 12}" '
        f'text-anchor="middle">{bins[at].day} {bins[at]:%b}</text>'
        for at in range(len(bins) - 1, -1, -every)
    )


def _day(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b %Y}"


def _short(name: str) -> str:
    return name if len(name) <= 12 else f"{name[:11]}…"
