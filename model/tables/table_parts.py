"""The part of a table on a page: columns and rows that agree with each other, and where it goes on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from model.tables.columns import Bands, Column, assign, complete, draw_edges, kinds_of
from model.tables.headings import Heading
from model.tables.parts import AskedColumn, Line, PageLines
from model.tables.rows import PageRows, read_rows

_ROUNDS = 3  # of columns from rows, and rows from columns
_RIVAL = 0.8  # of the score of a heading, from which another one below it begins another table
_FEWEST = 2  # columns of which a page must show values to hold the table


@dataclass(slots=True)
class TablePart:
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


def settle(
    lines: PageLines,
    bands: Sequence[Column],
    body: Sequence[Line],
    columns: Sequence[AskedColumn],
    given: Sequence[Collection[int]] = (),
    *,
    goes_on: bool = False,
) -> TablePart | None:
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
    return TablePart(lines, drawn, rows)


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


def next_heading(lines: PageLines, heading: Heading, on_page: Sequence[Heading]) -> int:
    """Return the place of the line with which another table begins; a weak likeness is no heading."""
    later = [rival.first for rival in on_page if rival.first > heading.last and rival.score >= _RIVAL * heading.score]
    return min(later, default=len(lines.lines))


def follow(
    first: TablePart, read: Sequence[PageLines], headings: Sequence[Sequence[Heading]], columns: Sequence[AskedColumn]
) -> list[TablePart]:
    """Return a table with its parts on the next pages, below the same heading or in the same columns."""
    parts, at = [first], first.lines.page + 1
    while at < len(read):
        before = parts[-1]
        last = before.lines.lines[-1].bottom if before.lines.lines else 0.0
        lines = read[at]
        names = first.heading.names if first.heading is not None else set()
        again = next(
            (heading for heading in headings[at] if first.heading is not None and is_same(heading, first.heading)),
            None,
        )
        part = None
        if again is not None and names:
            part = _go_on(lines, again, headings[at], columns)
        elif not before.rows.ended or before.rows.bottom > 0.72 * last:
            others = [heading.first for heading in headings[at] if 2 * heading.score >= len(columns)]
            body = body_from_top(lines, before.bands, min(others, default=len(lines.lines)))
            part = settle(lines, before.bands.columns, body, columns, goes_on=True)
            if part is not None and (part.rows.regular < 0.5 or not conforms(part, before)):
                part = None
        if part is None:
            break
        parts.append(part)
        at += 1
    return parts


def _go_on(
    lines: PageLines, heading: Heading, on_page: Sequence[Heading], columns: Sequence[AskedColumn]
) -> TablePart | None:
    until = next_heading(lines, heading, on_page)
    bands = [Column(text.left, text.right, text.name) for text in heading.texts]
    part = settle(lines, bands, lines.lines[heading.last + 1 : until], columns, goes_on=True)
    if part is not None:
        part.heading = heading
    return part


def body_from_top(lines: PageLines, bands: Bands, until: int) -> list[Line]:
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


def conforms(part: TablePart, before: TablePart) -> bool:
    """Return whether values of the same kinds stand in the columns of two pages."""
    pairs = [
        (column.kind, earlier.kind)
        for column, earlier in zip(part.bands.columns, before.bands.columns, strict=False)
        if earlier.kind is not None
    ]
    return sum(kind == earlier for kind, earlier in pairs) >= 0.6 * len(pairs)


def is_same(heading: Heading, rival: Heading) -> bool:
    """Return whether two headings name the same columns, but for one, at the same places."""
    places = {text.name: text.left for text in heading.texts if text.name is not None}
    common = [text for text in rival.texts if text.name in places]
    near = [text for text in common if abs(text.left - places[text.name or ""]) < 0.1 * max(1.0, text.right)]
    return len(near) >= max(1, max(len(heading.names), len(rival.names)) - 1)
