"""Columns of a table on a page: where each begins and ends, and which asked column it is."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from model.kind_shapes import fits_of, kind_of_value
from model.kinds import KINDS, Kind
from model.tables.parts import AskedColumn, Line, PageLines

FIGURES = (Kind.NUMBER, Kind.AMOUNT)
_NARROW = 0.35  # heights: a narrower gap may be a space between words
_FITS = 0.6  # fit from which a text is of a kind


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a page.

    Attributes:
        left: Left end of what stands in it, pixels.
        right: Right end.
        name: The asked column; None of another one.
        kind: Kind of its values; None of texts.
    """

    left: float
    right: float
    name: str | None = None
    kind: Kind | None = None

    @property
    def middle(self) -> float:
        """Return its middle."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Bands:
    """Columns of a table from the left, and the edges between them; `edges` has one less."""

    columns: tuple[Column, ...]
    edges: tuple[float, ...]

    def place(self, lines: PageLines, line: Line) -> dict[int, list[int]]:
        """Return the words of a line by column, by their middles."""
        cells: dict[int, list[int]] = {}
        for at in line.words:
            x0, _, x1, _ = lines.words[at].box
            cells.setdefault(int(np.searchsorted(self.edges, (x0 + x1) / 2)), []).append(at)
        return cells

    def crossings(self, lines: PageLines, line: Line) -> int:
        """Return over how many edges the words of a line run, a space of a usual width included."""
        count = 0
        for chunk in lines.chunks(line.words, 0.45):
            start, end = lines.span(chunk)
            slack = 0.4 * lines.height
            count += sum(start + slack < edge < end - slack for edge in self.edges)
        return count


def is_of_kind(text: str, kind: Kind | None) -> bool:
    """Return whether a printed text may be a value of a kind; any text is of none."""
    if kind is None:
        return True
    bare = text.strip("*()[] ")
    if kind in FIGURES:
        digits = sum(sign.isdigit() for sign in bare)
        letters = sum(sign.isalpha() for sign in bare)
        return digits > 0 and letters <= 3 and digits + 3 >= letters and "/" not in bare and bare.count(":") == 0
    fits = dict(zip(KINDS, fits_of(text), strict=True))
    return fits[kind] >= _FITS


def draw_edges(lines: PageLines, body: Sequence[Line], columns: Sequence[Column]) -> Bands:
    """Return columns with edges between them: where the fewest lines print, and there where most room is.

    Args:
        lines: The page.
        body: Lines of the table that say where its columns end.
        columns: The columns, from the left; their ends may be those of headings.
    """
    ordered = sorted(columns, key=lambda column: column.middle)
    spans = [[lines.span([at]) for at in line.words] for line in body]
    edges = []
    for left_column, right_column in itertools.pairwise(ordered):
        edges.append(_edge(spans, left_column, right_column, lines.height))
    return Bands(tuple(ordered), tuple(np.maximum.accumulate(edges)) if edges else ())


def _edge(
    spans: Sequence[Sequence[tuple[float, float]]], left_column: Column, right_column: Column, height: float
) -> float:
    start, end = left_column.middle, right_column.middle
    steps = np.arange(start, max(end, start + 1.0) + 0.5, max(1.0, height / 12))
    cost = np.zeros(len(steps))
    for left, right in ((left_column.left, left_column.right), (right_column.left, right_column.right)):
        cost += 2.0 * ((steps > left) & (steps < right))  # an edge through a heading is wrong
    for words in spans:
        inside = np.zeros(len(steps), bool)
        for left, right in words:
            if right > start and left < end:
                inside |= (steps > left) & (steps < right)
        cost += inside
    best, widest = (left_column.right + right_column.left) / 2, 0.0
    for more in (0.0, 0.05 * len(spans)):
        for first, last in _runs(cost <= cost.min() + more):
            width = steps[last] - steps[first] - 3 * height * (cost[first : last + 1].mean() - cost.min())
            if width > widest:
                best, widest = (steps[first] + steps[last]) / 2, width
        if widest >= _NARROW * height:
            break
    return float(best)


def _runs(chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the runs of chosen steps as their first and last place."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)))
    return [(int(first), int(last) - 1) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def gutters(lines: PageLines, body: Sequence[Line]) -> list[Column]:
    """Return the columns that lines show by themselves: between them hardly any line prints."""
    spans = [lines.span(chunk) for line in body for chunk in lines.chunks(line.words, 0.4)]
    if not spans:
        return []
    left, right = min(span[0] for span in spans), max(span[1] for span in spans)
    steps = np.arange(left, right + 1.0, max(1.0, lines.height / 12))
    printed = np.zeros(len(steps))
    for line in body:
        inside = np.zeros(len(steps), bool)
        for chunk in lines.chunks(line.words, 0.4):
            start, end = lines.span(chunk)
            inside |= (steps >= start) & (steps <= end)
        printed += inside
    columns: list[Column] = []
    for first, last in _runs(printed > 0.1 * len(body)):
        if columns and steps[first] - columns[-1].right < _NARROW * lines.height:
            columns[-1] = replace(columns[-1], right=float(steps[last]))
        else:
            columns.append(Column(float(steps[first]), float(steps[last])))
    return columns


def complete(lines: PageLines, rows: Sequence[Line], bands: Sequence[Column], *, wanted: bool) -> list[Column]:
    """Return columns with those that rows show and no heading names, as a first column often is.

    Between headings there are others only if one is `wanted`: a heading may be narrower than what stands below it.

    A column below whose heading nothing stands goes with the nearest such one: its values stand beside their heading.
    """
    shown = [column for column in gutters(lines, rows) if _is_filled(lines, rows, column)]
    alone = [column for column in shown if all(_apart(column, band) for band in bands)]
    completed = list(bands)
    for at, band in enumerate(completed):
        if alone and all(_apart(column, band) for column in shown):
            nearest = min(alone, key=lambda column: max(column.left - band.right, band.left - column.right))
            if max(nearest.left - band.right, band.left - nearest.right) < 4 * lines.height:
                alone.remove(nearest)
                ends = min(band.left, nearest.left), max(band.right, nearest.right)
                completed[at] = replace(band, left=ends[0], right=ends[1])
    first, last = min(band.left for band in bands), max(band.right for band in bands)
    return [*completed, *(column for column in alone if wanted or column.right < first or column.left > last)]


def _apart(column: Column, band: Column) -> bool:
    return column.right <= band.left or column.left >= band.right


def _is_filled(lines: PageLines, rows: Sequence[Line], column: Column) -> bool:
    """Return whether at least a third of the rows print letters or digits in a column."""
    filled = 0
    for line in rows:
        inside = [at for at in line.words if column.left <= sum(lines.words[at].box[::2]) / 2 <= column.right]
        filled += any(sign.isalnum() for sign in lines.text(inside))
    return 3 * filled >= len(rows)


def kinds_of(lines: PageLines, body: Sequence[Line], bands: Bands) -> list[Kind | None]:
    """Return what kind the values of each column are, by most of its cells."""
    seen: list[list[Kind | None]] = [[] for _ in bands.columns]
    for line in body:
        for column, words in bands.place(lines, line).items():
            text = lines.text(words)
            kind = kind_of_value(text)
            if kind not in FIGURES and is_of_kind(text, Kind.NUMBER) and kind not in (Kind.DATE, Kind.TIME, Kind.PHONE):
                kind = Kind.NUMBER
            seen[column].append(Kind.NUMBER if kind in FIGURES else kind)
    kinds: list[Kind | None] = []
    for values in seen:
        most = max(set(values), key=values.count) if values else None
        kinds.append(most if values and values.count(most) >= 0.6 * len(values) else None)
    return kinds


def assign(bands: Bands, kinds: Sequence[Kind | None], columns: Sequence[AskedColumn]) -> Bands:
    """Return the bands with names for those asked columns that have none, in the order in which they are asked.

    A column that is named already stays; the others fit by the kind of their values. Source: alignment of two
    sequences by dynamic programming (Needleman and Wunsch 1970).
    """
    named = {column.name: at for at, column in enumerate(bands.columns) if column.name is not None}
    worth = np.full((len(columns), len(bands.columns)), -1.0)
    for row, asked in enumerate(columns):
        for at, band in enumerate(bands.columns):
            if asked.name in named:
                worth[row, at] = 5.0 if named[asked.name] == at else -9.0
            elif band.name is None:
                worth[row, at] = _fit(asked.kind, kinds[at])
            else:
                worth[row, at] = -9.0
    best = np.zeros((len(columns) + 1, len(bands.columns) + 1))
    for row in range(1, len(columns) + 1):
        for at in range(1, len(bands.columns) + 1):
            pair = best[row - 1, at - 1] + worth[row - 1, at - 1]
            best[row, at] = max(pair, best[row - 1, at], best[row, at - 1])
    names: Mapping[int, str] = {}
    row, at = len(columns), len(bands.columns)
    while row and at:
        if best[row, at] == best[row - 1, at]:
            row -= 1
        elif best[row, at] == best[row, at - 1]:
            at -= 1
        else:
            names = {**names, at - 1: columns[row - 1].name}
            row, at = row - 1, at - 1
    wanted = {column.name: column.kind for column in columns}
    present = set(named)
    made = []
    for place, band in enumerate(bands.columns):
        name = band.name
        if name is None and names.get(place) not in present:
            name = names.get(place)
        kind = wanted[name] if name is not None and wanted[name] is not None else kinds[place]
        made.append(replace(band, name=name, kind=kind))
    return Bands(tuple(made), bands.edges)


def _fit(asked: Kind | None, seen: Kind | None) -> float:
    same = Kind.NUMBER if asked in FIGURES else asked
    if same == seen:
        return 1.0 if seen is not None else 0.7
    return 0.3 if asked is None else -0.5
