"""Tables around rows that a person has given: they say where the columns are, or what a row of several lines is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from model.tables.columns import Column
from model.tables.headings import Heading
from model.tables.parts import AskedColumn, PageLines, Row
from model.tables.stacked import is_stacked, pattern_of, rows_alike
from model.tables.table_parts import TablePart, body_from_top, conforms, follow, settle


def from_given(
    read: Sequence[PageLines],
    headings: Sequence[Sequence[Heading]],
    columns: Sequence[AskedColumn],
    given: Sequence[Row],
) -> list[TablePart]:
    """Return the table around the rows that a person has given, on their pages and those on which it goes on."""
    by_page: dict[int, list[Row]] = {}
    for row in given:
        page = min(at for words in row.values() for at, _ in words)
        by_page.setdefault(page, []).append(row)
    parts: list[TablePart] = []
    for page in sorted(by_page):
        if page >= len(read):
            continue
        parts.append(_around(read[page], headings[page], columns, by_page[page]))
    first, last = parts[0], parts[-1]
    known = {part.lines.page for part in parts}
    further = follow(last, read, headings, columns)[1:]
    if first.heading is None:
        for at in range(first.lines.page - 1, -1, -1):
            part = settle(
                read[at], first.bands.columns, body_from_top(read[at], first.bands, len(read[at].lines)), columns
            )
            if part is None or part.rows.regular < 0.5 or not conforms(part, first):
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
) -> TablePart:
    """Return the table around given rows of a page."""
    page = lines.page
    words = [[at for cell in row.values() for place, at in cell if place == page] for row in rows]
    top = min(lines.words[at].box[1] for row in words for at in row)
    bottom = max(lines.words[at].box[3] for row in words for at in row)
    heading = next((entry for entry in reversed(on_page) if lines.lines[entry.last].middle < top), None)
    below = min(
        (entry.first for entry in on_page if lines.lines[entry.first].middle > bottom), default=len(lines.lines)
    )
    body = list(lines.lines[heading.last + 1 if heading is not None else 0 : below])
    bands = _bands_of(lines, heading, rows)
    part = settle(lines, bands, body, columns, words)
    assert part is not None  # with given rows there always is one
    part.heading = heading
    return part


def _bands_of(
    lines: PageLines,
    heading: Heading | None,
    rows: Sequence[Row],
) -> list[Column]:
    """Return the columns of given rows: of the asked cells, and of what else stands on their lines or above."""
    page = lines.page
    spans: dict[str, tuple[float, float]] = {}
    for row in rows:
        for name, cell in row.items():
            places = [at for place, at in cell if place == page]
            if places:
                left, right = lines.span(places)
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


def from_pattern(read: Sequence[PageLines], columns: Sequence[AskedColumn], given: Sequence[Row]) -> list[Row] | None:
    """Return the rows that look like a given one whose columns stand over each other; None where none is so."""
    rows: list[tuple[int, dict[str, list[int]]]] = []
    for row in given:
        page = min(at for cell in row.values() for at, _ in cell)
        rows.append((page, {name: [word for at, word in cell if at == page] for name, cell in row.items()}))
    patterns = [pattern_of(read[page], row) for page, row in rows if page < len(read) and is_stacked(read[page], row)]
    if not patterns:
        return None
    order = [column.name for column in columns]
    placed: list[tuple[tuple[int, float], Row]] = [
        ((page, _top(read[page], row)), whole) for (page, row), whole in zip(rows, given, strict=True)
    ]
    for lines in read:
        taken = {word for page, row in rows if page == lines.page for cell in row.values() for word in cell}
        for pattern in patterns:
            for alike in rows_alike(lines, pattern, taken):
                taken |= {word for cell in alike.values() for word in cell}
                cells = {name: [(lines.page, word) for word in alike[name]] for name in order if name in alike}
                if cells:
                    placed.append(((lines.page, _top(lines, alike)), cells))
    placed.sort(key=lambda entry: entry[0])
    return [row for _, row in placed]


def _top(lines: PageLines, row: Mapping[str, Collection[int]]) -> float:
    return float(min((lines.words[word].box[1] for cell in row.values() for word in cell), default=0))
