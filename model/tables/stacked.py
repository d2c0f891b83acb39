"""Rows of several lines with other columns on each, as a person has given one: the others look like it.

A given row is a pattern: its lines, and what stands on each at which place. Other rows are runs of lines with values of
the same kinds at the same places. The method is ours.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from model.kind_shapes import kind_of_value
from model.kinds import Kind
from model.tables.columns import FIGURES, Bands, Column, draw_edges
from model.tables.parts import Line, PageLines

_OVER = 0.3  # share of the narrower of two columns, from which one stands over the other
_LIKE = 0.6  # share of a pattern that lines must have
_SLACK = 0.8  # heights by which the distances of two lines may differ


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stands at a place of a line."""

    left: float
    right: float
    kind: Kind | None
    text: str


def is_stacked(lines: PageLines, row: Mapping[str, Collection[int]]) -> bool:
    """Return whether columns of a given row stand over each other, on lines of their own."""
    cells = [(lines.span(list(words)), _lines_of(lines, words)) for words in row.values() if words]
    for at, (upper, own) in enumerate(cells):
        for lower, others in cells[at + 1 :]:
            common = min(upper[1], lower[1]) - max(upper[0], lower[0])
            if common > _OVER * max(1.0, min(upper[1] - upper[0], lower[1] - lower[0])) and not set(own) & set(others):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A given row, line by line.

    Attributes:
        steps: Distances of each line to the next, pixels.
        pieces: What stands on each line.
        places: Where the asked columns stand on each line.
    """

    steps: tuple[float, ...]
    pieces: tuple[tuple[_Piece, ...], ...]
    places: tuple[Mapping[str, tuple[float, float]], ...]


def pattern_of(lines: PageLines, row: Mapping[str, Collection[int]]) -> Pattern:
    """Return the pattern of a given row: name of the column -> its words on the page."""
    words = {word for cell in row.values() for word in cell}
    some = [lines.lines[at] for at in _lines_of(lines, words)]
    return Pattern(
        tuple(lower.middle - upper.middle for upper, lower in itertools.pairwise(some)),
        tuple(tuple(_pieces(lines, line)) for line in some),
        tuple(
            {name: lines.span(here) for name, cell in row.items() if (here := [at for at in line.words if at in cell])}
            for line in some
        ),
    )


def rows_alike(lines: PageLines, pattern: Pattern, taken: Collection[int]) -> list[dict[str, list[int]]]:
    """Return the rows of a page that look like a pattern, from the top, without the words that are `taken`."""
    free = [line for line in lines.lines if not set(taken) & set(line.words)]
    length = len(pattern.pieces)
    runs: list[Sequence[Line]] = []
    at = 0
    while at + length <= len(free):
        run = free[at : at + length]
        if _fits(lines, pattern, run):
            runs.append(run)
        at += length if runs and runs[-1] is run else 1
    bands = [_bands(lines, [run[number] for run in runs], pattern, number) for number in range(length)] if runs else []
    return [_cells(lines, run, bands) for run in runs]


def _lines_of(lines: PageLines, words: Collection[int]) -> list[int]:
    wanted = set(words)
    return [at for at, line in enumerate(lines.lines) if wanted & set(line.words)]


def _pieces(lines: PageLines, line: Line) -> list[_Piece]:
    pieces = []
    for chunk in lines.chunks(line.words, 0.6):
        text = lines.text(chunk)
        kind = kind_of_value(text)
        pieces.append(_Piece(*lines.span(chunk), Kind.NUMBER if kind in FIGURES else kind, text))
    return pieces


def _fits(lines: PageLines, pattern: Pattern, run: Sequence[Line]) -> bool:
    """Return whether lines look like those of the pattern: as far apart, with like values at the same places."""
    steps = [lower.middle - upper.middle for upper, lower in itertools.pairwise(run)]
    if any(abs(step - wanted) > _SLACK * lines.height for step, wanted in zip(steps, pattern.steps, strict=True)):
        return False
    shares = [_share(wanted, _pieces(lines, line)) for wanted, line in zip(pattern.pieces, run, strict=True)]
    return min(shares) >= 0.5 * _LIKE and sum(shares) / len(shares) >= _LIKE


def _share(wanted: Sequence[_Piece], there: Sequence[_Piece]) -> float:
    """Return the share of pieces that have a like one at their place, of the longer list."""
    like = 0
    for piece in wanted:
        over = [lower for lower in there if min(piece.right, lower.right) > max(piece.left, lower.left)]
        like += any(lower.kind is piece.kind or lower.text == piece.text for lower in over)
    return like / max(1, len(wanted), len(there) - 1)


def _bands(lines: PageLines, some: Sequence[Line], pattern: Pattern, number: int) -> Bands:
    columns = [Column(left, right, name) for name, (left, right) in pattern.places[number].items()]
    for piece in pattern.pieces[number]:
        if all(piece.right <= column.left or piece.left >= column.right for column in columns):
            columns.append(Column(piece.left, piece.right))
    return draw_edges(lines, some, columns)


def _cells(lines: PageLines, run: Sequence[Line], bands: Sequence[Bands]) -> dict[str, list[int]]:
    cells: dict[str, list[int]] = {}
    for line, of_line in zip(run, bands, strict=True):
        if not of_line.columns:
            continue
        for at, words in sorted(of_line.place(lines, line).items()):
            name = of_line.columns[at].name
            if name is not None:
                cells.setdefault(name, []).extend(words)
    return cells
