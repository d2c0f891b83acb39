"""Propose the rows of a table from the words of a paper, its asked columns, and rows that a person has given.

The method is ours: headings are looked for by their words, their synonyms and the kinds of what stands below; edges of
columns lie where the fewest lines print; lines with values begin rows, lines of text go on with the row that they are
nearest to; the table goes on where the same columns do. A given row says where the columns are, and is left as it is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.examples import Word
from model.tables.columns import Column, gutters
from model.tables.given_rows import from_given, from_pattern
from model.tables.headings import Heading, find_headings
from model.tables.lines import read_lines
from model.tables.parts import AskedColumn, Line, PageLines, Row, WordAt
from model.tables.table_parts import TablePart, follow, is_same, next_heading, settle


@dataclass(frozen=True, slots=True)
class ProposedTable:
    """Rows of a table, and how much of it looks as expected, 0..1."""

    rows: tuple[Row, ...]
    score: float


def propose_table(
    pages: Sequence[Sequence[Word]], columns: Sequence[AskedColumn], given: Sequence[Row] = ()
) -> ProposedTable:
    """Return the rows of a table in reading order, the given ones among them.

    Args:
        pages: Words of each page, in reading order; boxes in pixels.
        columns: Columns that are asked for.
        given: Rows that a person has made or corrected.

    Returns:
        Rows of the likeliest table; none where no page looks like it.
    """
    if not columns:
        return ProposedTable((), 0.0)
    read = [read_lines(at, words) for at, words in enumerate(pages)]
    if given and (stacked := from_pattern(read, columns, given)) is not None:
        return ProposedTable(tuple(stacked), 1.0)
    headings = [find_headings(lines, columns) for lines in read]
    parts = from_given(read, headings, columns, given) if given else _from_headings(read, headings, columns)
    if not parts and not given:
        parts = _from_structure(read, columns)
    rows = _collect(parts, columns, given)
    return ProposedTable(tuple(rows), _score(parts, columns, given))


def _from_headings(
    read: Sequence[PageLines], headings: Sequence[Sequence[Heading]], columns: Sequence[AskedColumn]
) -> list[TablePart]:
    """Return the best table with a heading, on its page and those on which it goes on."""
    some = [
        part
        for lines, on_page in zip(read, headings, strict=True)
        for heading in on_page
        if (part := _below(lines, heading, on_page, columns)) is not None
    ]
    if not some:
        return []
    best = max(some, key=lambda part: part.worth)
    # Where a heading is printed on each page, the table begins at the first.
    alike = [part for part in some if part.heading and best.heading and is_same(part.heading, best.heading)]
    first = min(alike, key=lambda part: (part.lines.page, -part.worth))
    return follow(first, read, headings, columns)


def _below(
    lines: PageLines, heading: Heading, on_page: Sequence[Heading], columns: Sequence[AskedColumn]
) -> TablePart | None:
    """Return the table below a heading; None without rows."""
    until = next_heading(lines, heading, on_page)
    body = [line for line in lines.lines[heading.last + 1 : until] if line.middle > lines.lines[heading.last].middle]
    bands = [Column(text.left, text.right, text.name) for text in heading.texts]
    part = settle(lines, bands, body, columns)
    if part is None:
        return None
    part.heading = heading
    return part


def _from_structure(read: Sequence[PageLines], columns: Sequence[AskedColumn]) -> list[TablePart]:
    """Return the table that lines show without a heading: runs of lines whose gaps lie over each other."""
    best: TablePart | None = None
    for lines in read:
        for run in _runs(lines):
            bands = gutters(lines, [line for line in run if len(lines.chunks(line.words, 0.6)) >= 3])
            if len(bands) < max(2, min(len(columns), 3)):
                continue
            part = settle(lines, bands, run, columns)
            if part is not None and (best is None or part.worth > best.worth + 1e-9):
                best = part
    if best is None or sum(column.name is not None for column in best.bands.columns) < max(2, 0.6 * len(columns)):
        return []
    return follow(best, read, [[] for _ in read], columns)


def _runs(lines: PageLines) -> list[list[Line]]:
    """Return runs of lines of several columns, with the lines of text between them."""
    runs: list[list[Line]] = []
    current: list[Line] = []
    wide = 0
    for line in lines.lines:
        several = len(lines.chunks(line.words, 0.6)) >= 3
        near = not current or line.middle - current[-1].middle < 4 * lines.height
        if current and (not near or (not several and wide > 3)):
            runs.append(current)
            current, wide = [], 0
        if several or current:
            current.append(line)
            wide = 0 if several else wide + 1
    return [run for run in [*runs, current] if len(run) > 1]


def _collect(parts: Sequence[TablePart], columns: Sequence[AskedColumn], given: Sequence[Row]) -> list[Row]:
    """Return the rows of all parts in reading order, the given ones as they are."""
    reserved = {word for row in given for cell in row.values() for word in cell}
    placed: list[tuple[tuple[int, float], Row]] = []
    for part in parts:
        page = part.lines.page
        if part.rows.before and placed:
            place, row = placed[-1]
            if not any(row is stays for stays in given):
                placed[-1] = place, _join_rows(row, _cells(part, part.rows.before, reserved))
        for some in part.rows.rows:
            row = _cells(part, some, reserved)
            if row:
                placed.append(((page, some[0].middle), row))
    heights = {part.lines.page: part.lines for part in parts}
    for row in given:
        page = min(at for cell in row.values() for at, _ in cell)
        words = [at for cell in row.values() for place, at in cell if place == page]
        top = min(heights[page].words[at].box[1] for at in words) if page in heights else 0.0
        placed.append(((page, float(top)), row))
    placed.sort(key=lambda placed_row: placed_row[0])
    order = [column.name for column in columns]
    return [{name: row[name] for name in order if name in row} for _, row in placed]


def _cells(part: TablePart, some: Sequence[Line], reserved: Collection[WordAt]) -> dict[str, list[WordAt]]:
    cells: dict[str, list[WordAt]] = {}
    for line in some:
        for at, words in sorted(part.bands.place(part.lines, line).items()):
            name = part.bands.columns[at].name
            free = [(part.lines.page, word) for word in words if (part.lines.page, word) not in reserved]
            if name is not None and free:
                cells.setdefault(name, []).extend(free)
    return cells


def _join_rows(row: Row, more: Mapping[str, Sequence[WordAt]]) -> Row:
    return {name: [*row.get(name, ()), *more.get(name, ())] for name in dict.fromkeys((*row, *more))}


def _score(parts: Sequence[TablePart], columns: Sequence[AskedColumn], given: Sequence[Row]) -> float:
    if not parts:
        return 0.0
    named = {column.name for part in parts for column in part.bands.columns if column.name is not None}
    regular = float(np.mean([part.rows.regular for part in parts]))
    heading = 1.0 if given or any(part.heading is not None for part in parts) else 0.7
    return round(heading * len(named) / len(columns) * (0.5 + 0.5 * regular), 4)
