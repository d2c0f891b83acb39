"""Propose the rows of a table from the words of a paper, its asked columns, and rows that a person has given.

The method is ours: headings are looked for by their words, their synonyms and the kinds of what stands below; edges of
columns lie where the fewest lines print; lines with values begin rows, lines of text go on with the row that they are
nearest to; the table goes on where the same columns do. A given row says where the columns are, and is left as it is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.examples import Word
from model.tables.columns import Bands, Column, assign, complete, draw_edges, gutters, kinds_of
from model.tables.headings import Heading, find_headings
from model.tables.lines import read_lines
from model.tables.parts import AskedColumn, Line, PageLines, Row, WordAt
from model.tables.rows import PageRows, read_rows

_ROUNDS = 3  # of columns from rows, and rows from columns
_RIVAL = 0.8  # of the score of a heading, from which another one below it begins another table
_FEWEST = 2  # columns of which a page must show values to hold the table


@dataclass(frozen=True, slots=True)
class ProposedTable:
    """Rows of a table, and how much of it looks as expected, 0..1."""

    rows: tuple[Row, ...]
    score: float


@dataclass(slots=True)
class _Part:
    """The table on a page."""

    lines: PageLines
    bands: Bands
    rows: PageRows
    heading: Heading | None = None

    @property
    def worth(self) -> float:
        """Return how much speaks for it: named columns with values, and rows."""
        named = sum(column.name is not None for column in self.bands.columns)
        heading = self.heading.score if self.heading is not None else 0.0
        return heading + named * min(1.0, self.rows.regular) + 0.1 * min(10, len(self.rows.rows))


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
    headings = [find_headings(lines, columns) for lines in read]
    parts = _from_given(read, headings, columns, given) if given else _from_headings(read, headings, columns)
    if not parts and not given:
        parts = _from_structure(read, columns)
    rows = _collect(parts, columns, given)
    return ProposedTable(tuple(rows), _score(parts, columns, given))


def _from_headings(
    read: Sequence[PageLines], headings: Sequence[Sequence[Heading]], columns: Sequence[AskedColumn]
) -> list[_Part]:
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
    alike = [part for part in some if part.heading and best.heading and _is_same(part.heading, best.heading)]
    first = min(alike, key=lambda part: (part.lines.page, -part.worth))
    return _follow(first, read, headings, columns)


def _is_same(one: Heading, other: Heading) -> bool:
    """Return whether two headings name the same columns, but for one, at the same places."""
    places = {text.name: text.left for text in one.texts if text.name is not None}
    common = [text for text in other.texts if text.name in places]
    near = [text for text in common if abs(text.left - places[text.name or ""]) < 0.1 * max(1.0, text.right)]
    return len(near) >= max(1, max(len(one.names), len(other.names)) - 1)


def _below(
    lines: PageLines, heading: Heading, on_page: Sequence[Heading], columns: Sequence[AskedColumn]
) -> _Part | None:
    """Return the table below a heading; None without rows."""
    until = _next_heading(lines, heading, on_page)
    body = [line for line in lines.lines[heading.last + 1 : until] if line.middle > lines.lines[heading.last].middle]
    bands = [Column(text.left, text.right, text.name) for text in heading.texts]
    part = _settle(lines, bands, body, columns)
    if part is None:
        return None
    part.heading = heading
    return part


def _next_heading(lines: PageLines, heading: Heading, on_page: Sequence[Heading]) -> int:
    """Return the place of the line with which another table begins; a weak likeness is no heading."""
    later = [other.first for other in on_page if other.first > heading.last and other.score >= _RIVAL * heading.score]
    return min(later, default=len(lines.lines))


def _settle(
    lines: PageLines,
    bands: Sequence[Column],
    body: Sequence[Line],
    columns: Sequence[AskedColumn],
    given: Sequence[Collection[int]] = (),
    *,
    goes_on: bool = False,
) -> _Part | None:
    """Return the table in some lines: columns from rows and rows from columns, until both agree."""
    inside: Sequence[Line] = _first_lines(lines, body)
    given_lines = _lines_with(body, given)
    drawn, rows = Bands((), ()), PageRows()
    for _ in range(_ROUNDS):
        drawn = draw_edges(lines, [*inside, *given_lines], bands)
        drawn = assign(drawn, kinds_of(lines, [*inside, *given_lines], drawn), columns)
        rows = read_rows(lines, drawn, body, given, goes_on=goes_on)
        found = [line for row in rows.rows for line in row]
        if rows.rows:
            wanted = len({band.name for band in bands} - {None}) < len(columns)
            bands = complete(lines, [row[0] for row in rows.rows], bands, wanted=wanted)
        if not found or found == list(inside):
            break
        inside = found
    if not rows.rows and not given:
        return None
    return _Part(lines, drawn, rows)


def _first_lines(lines: PageLines, body: Sequence[Line]) -> list[Line]:
    """Return the lines up to the first wide space, at most 40: what says where columns end before rows are known."""
    some: list[Line] = []
    for line in body[:40]:
        if some and line.middle - some[-1].middle > 5 * lines.height and len(some) > 1:
            break
        some.append(line)
    return [line for line in some if len(lines.chunks(line.words, 0.6)) > 1] or some


def _lines_with(body: Sequence[Line], given: Sequence[Collection[int]]) -> list[Line]:
    reserved = {word for row in given for word in row}
    return [line for line in body if reserved & set(line.words)]


def _follow(
    first: _Part, read: Sequence[PageLines], headings: Sequence[Sequence[Heading]], columns: Sequence[AskedColumn]
) -> list[_Part]:
    """Return a table with its parts on the next pages, below the same heading or in the same columns."""
    parts, at = [first], first.lines.page + 1
    while at < len(read):
        before = parts[-1]
        last = before.lines.lines[-1].bottom if before.lines.lines else 0.0
        lines = read[at]
        names = first.heading.names if first.heading is not None else set()
        again = next((one for one in headings[at] if first.heading is not None and _is_same(one, first.heading)), None)
        part = None
        if again is not None and names:
            part = _continue(lines, again, headings[at], columns)
        elif not before.rows.ended or before.rows.bottom > 0.72 * last:
            others = [heading.first for heading in headings[at] if 2 * heading.score >= len(columns)]
            body = _body_from_top(lines, before.bands, min(others, default=len(lines.lines)))
            part = _settle(lines, before.bands.columns, body, columns, goes_on=True)
            if part is not None and (part.rows.regular < 0.5 or not _conforms(part, before)):
                part = None
        if part is None:
            break
        parts.append(part)
        at += 1
    return parts


def _continue(
    lines: PageLines, heading: Heading, on_page: Sequence[Heading], columns: Sequence[AskedColumn]
) -> _Part | None:
    until = _next_heading(lines, heading, on_page)
    bands = [Column(text.left, text.right, text.name) for text in heading.texts]
    part = _settle(lines, bands, lines.lines[heading.last + 1 : until], columns, goes_on=True)
    if part is not None:
        part.heading = heading
    return part


def _body_from_top(lines: PageLines, bands: Bands, until: int) -> list[Line]:
    """Return the lines of a page on which a table goes on: from the first that holds several columns."""
    candidates = list(lines.lines[:until])
    for at, line in enumerate(candidates):
        cells = bands.place(lines, line)
        if len(cells) >= _FEWEST and not bands.crossings(lines, line) and len(cells) >= 0.4 * len(bands.columns):
            start = at
            while start > 0 and line.middle - candidates[start - 1].middle < 1.7 * lines.height:
                line, start = candidates[start - 1], start - 1
            return candidates[start:]
    return []


def _conforms(part: _Part, before: _Part) -> bool:
    """Return whether values of the same kinds stand in the columns of two pages."""
    pairs = [
        (one.kind, other.kind)
        for one, other in zip(part.bands.columns, before.bands.columns, strict=False) if other.kind is not None
    ]  # fmt: skip
    return sum(one == other for one, other in pairs) >= 0.6 * len(pairs)


def _from_structure(read: Sequence[PageLines], columns: Sequence[AskedColumn]) -> list[_Part]:
    """Return the table that lines show without a heading: runs of lines whose gaps lie over each other."""
    best: _Part | None = None
    for lines in read:
        for run in _runs(lines):
            bands = gutters(lines, [line for line in run if len(lines.chunks(line.words, 0.6)) >= 3])
            if len(bands) < max(2, min(len(columns), 3)):
                continue
            part = _settle(lines, bands, run, columns)
            if part is not None and (best is None or part.worth > best.worth + 1e-9):
                best = part
    if best is None or sum(column.name is not None for column in best.bands.columns) < max(2, 0.6 * len(columns)):
        return []
    return _follow(best, read, [[] for _ in read], columns)


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


def _from_given(
    read: Sequence[PageLines],
    headings: Sequence[Sequence[Heading]],
    columns: Sequence[AskedColumn],
    given: Sequence[Row],
) -> list[_Part]:
    """Return the table around the rows that a person has given, on their pages and those on which it goes on."""
    by_page: dict[int, list[Row]] = {}
    for row in given:
        page = min(at for words in row.values() for at, _ in words)
        by_page.setdefault(page, []).append(row)
    parts: list[_Part] = []
    for page in sorted(by_page):
        if page >= len(read):
            continue
        parts.append(_around(read[page], headings[page], columns, by_page[page], given))
    first, last = parts[0], parts[-1]
    known = {part.lines.page for part in parts}
    further = _follow(last, read, headings, columns)[1:]
    if first.heading is None:
        for at in range(first.lines.page - 1, -1, -1):
            part = _settle(
                read[at], first.bands.columns, _body_from_top(read[at], first.bands, len(read[at].lines)), columns
            )
            if part is None or part.rows.regular < 0.5 or not _conforms(part, first):
                break
            parts.insert(0, part)
    return sorted(
        [*parts, *(part for part in further if part.lines.page not in known)], key=lambda part: part.lines.page
    )


def _around(
    lines: PageLines,
    on_page: Sequence[Heading],
    columns: Sequence[AskedColumn],
    rows: Sequence[Row],
    given: Sequence[Row],
) -> _Part:
    """Return the table around given rows of a page."""
    page = lines.page
    words = [[at for cell in row.values() for place, at in cell if place == page] for row in rows]
    top = min(lines.words[at].box[1] for row in words for at in row)
    bottom = max(lines.words[at].box[3] for row in words for at in row)
    heading = next((one for one in reversed(on_page) if lines.lines[one.last].middle < top), None)
    below = min((one.first for one in on_page if lines.lines[one.first].middle > bottom), default=len(lines.lines))
    body = list(lines.lines[heading.last + 1 if heading is not None else 0 : below])
    bands = _bands_of(lines, heading, rows, given, columns)
    part = _settle(lines, bands, body, columns, words)
    assert part is not None  # with given rows there always is one
    part.heading = heading
    return part


def _bands_of(
    lines: PageLines,
    heading: Heading | None,
    rows: Sequence[Row],
    given: Sequence[Row],
    columns: Sequence[AskedColumn],
) -> list[Column]:
    """Return the columns of given rows: of the asked cells, and of what else stands on their lines or above."""
    page = lines.page
    spans: dict[str, tuple[float, float]] = {}
    for row in rows:
        for name, cell in row.items():
            here = [at for place, at in cell if place == page]
            if here:
                left, right = lines.span(here)
                old = spans.get(name, (left, right))
                spans[name] = min(left, old[0]), max(right, old[1])
    bands = [Column(left, right, name) for name, (left, right) in spans.items()]
    used = {at for row in rows for cell in row.values() for place, at in cell if place == page}
    for line in lines.lines:
        if not used & set(line.words):
            continue
        for chunk in lines.chunks([at for at in line.words if at not in used], 0.6):
            left, right = lines.span(chunk)
            _add(bands, Column(left, right))
    for text in heading.texts if heading is not None else ():
        _add(bands, Column(text.left, text.right, None if text.name in spans else text.name))
    return bands


def _add(bands: list[Column], new: Column) -> None:
    """Add a column that stands clear of the others; one over another may name it."""
    for at, band in enumerate(bands):
        common = min(new.right, band.right) - max(new.left, band.left)
        if common > 0.2 * min(new.right - new.left, band.right - band.left):
            if band.name is None and new.name is not None:
                bands[at] = replace(band, name=new.name)
            return
    bands.append(new)


def _collect(parts: Sequence[_Part], columns: Sequence[AskedColumn], given: Sequence[Row]) -> list[Row]:
    """Return the rows of all parts in reading order, the given ones as they are."""
    reserved = {word for row in given for cell in row.values() for word in cell}
    placed: list[tuple[tuple[int, float], Row]] = []
    for part in parts:
        page = part.lines.page
        if part.rows.before and placed:
            place, row = placed[-1]
            if all(row is not one for one in given):
                placed[-1] = place, _joined(row, _cells(part, part.rows.before, reserved))
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
    placed.sort(key=lambda one: one[0])
    order = [column.name for column in columns]
    return [{name: row[name] for name in order if name in row} for _, row in placed]


def _cells(part: _Part, some: Sequence[Line], reserved: Collection[WordAt]) -> dict[str, list[WordAt]]:
    cells: dict[str, list[WordAt]] = {}
    for line in some:
        for at, words in sorted(part.bands.place(part.lines, line).items()):
            name = part.bands.columns[at].name
            free = [(part.lines.page, word) for word in words if (part.lines.page, word) not in reserved]
            if name is not None and free:
                cells.setdefault(name, []).extend(free)
    return cells


def _joined(row: Row, more: Mapping[str, Sequence[WordAt]]) -> Row:
    return {name: [*row.get(name, ()), *more.get(name, ())] for name in dict.fromkeys((*row, *more))}


def _score(parts: Sequence[_Part], columns: Sequence[AskedColumn], given: Sequence[Row]) -> float:
    if not parts:
        return 0.0
    named = {column.name for part in parts for column in part.bands.columns if column.name is not None}
    regular = float(np.mean([part.rows.regular for part in parts]))
    heading = 1.0 if given or any(part.heading is not None for part in parts) else 0.7
    return round(heading * len(named) / len(columns) * (0.5 + 0.5 * regular), 4)
