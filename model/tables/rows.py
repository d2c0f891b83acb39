"""Rows of a table on a page: which lines make a row, which are groups, totals or other text, and where it ends."""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from model.tables.columns import Bands, is_of_kind
from model.tables.parts import Line, PageLines
from model.tables.wording import begins_totals

_FURTHEST = 3.2  # usual distances of lines, from which a table may have ended
_NEARER = 0.87  # a line belongs to the row whose distance is so much smaller
_FULL = 0.9  # heights that a line must leave free, so that its next word would have found room


class _Kind(Enum):
    ROW = "row"  # holds values as a row does
    TEXT = "text"  # text of some columns alone: goes on, or belongs to a group
    TOTAL = "total"
    OTHER = "other"


@dataclass(slots=True)
class _Seen:
    """A line with what its columns hold."""

    line: Line
    cells: dict[int, list[int]]
    good: int
    bad: int
    crossed: int
    kind: _Kind = _Kind.OTHER
    near: float = 0.0  # distance from the line before, pixels


@dataclass(slots=True)
class PageRows:
    """Rows of a page.

    Attributes:
        rows: Lines of each row, from the top.
        before: Lines above the first row that go on with the last row of the page before.
        bottom: Where the last row ends, pixels; 0 without rows.
        ended: Whether the table ends on this page.
        regular: Share of its lines that look like those of a table, 0..1.
    """

    rows: list[list[Line]] = field(default_factory=list)
    before: list[Line] = field(default_factory=list)
    bottom: float = 0.0
    ended: bool = False
    regular: float = 0.0


def read_rows(
    lines: PageLines,
    bands: Bands,
    body: Sequence[Line],
    given: Sequence[Collection[int]] = (),
    *,
    goes_on: bool = False,
) -> PageRows:
    """Return the rows among the lines of a page.

    Args:
        lines: The page.
        bands: Columns of the table.
        body: Lines that may belong to it, from the top.
        given: Words of the rows that a person has given.
        goes_on: Whether rows of the page before may go on here.
    """
    reserved = {word for row in given for word in row}
    seen = [_look(lines, bands, line) for line in body if not reserved & set(line.words)]
    _classify(lines, bands, seen)
    seen, ended = _cut(lines, seen, [line for line in body if reserved & set(line.words)])
    anchors = [entry for entry in seen if entry.kind is _Kind.ROW]
    result = PageRows(ended=ended)
    if not anchors:
        return result
    result.regular = len(anchors) / max(1, len(seen))
    leaders = _lead(lines, bands, seen)
    groups: dict[int, list[Line]] = {id(entry): [entry.line] for entry in anchors}
    for entry, leader in leaders:
        if leader is not None:
            groups[id(leader)].append(entry.line)
        elif goes_on and entry.line.middle < anchors[0].line.middle:
            result.before.append(entry.line)
    result.rows = [sorted(groups[id(entry)], key=lambda line: line.middle) for entry in anchors]
    result.bottom = max(line.bottom for row in result.rows for line in row)
    return result


def _look(lines: PageLines, bands: Bands, line: Line) -> _Seen:
    cells = bands.place(lines, line)
    good = bad = 0
    for at, words in cells.items():
        kind = bands.columns[at].kind
        if kind is not None:
            fits = is_of_kind(lines.text(words), kind)
            good, bad = good + fits, bad + (not fits)
    return _Seen(line, cells, good, bad, bands.crossings(lines, line))


def _classify(lines: PageLines, bands: Bands, seen: Sequence[_Seen]) -> None:
    typed = sum(column.kind is not None for column in bands.columns)
    for before, entry in zip([None, *seen], seen, strict=False):
        entry.near = entry.line.middle - before.line.middle if before is not None else 0.0
    filled = [entry.good for entry in seen if entry.good > entry.bad and not entry.crossed]
    usual = float(np.median(filled)) if filled else 0.0
    least = max(1.0, 0.34 * usual)
    columns = [len(entry.cells) for entry in seen if len(entry.cells) > 1 and not entry.crossed]
    usual_columns = float(np.median(columns)) if columns else 1.0
    for entry in seen:
        texts = [at for at in entry.cells if bands.columns[at].kind is None]
        leading = lines.text(entry.cells[min(entry.cells)])
        text = lines.text(entry.line.words)
        few = len(entry.cells) <= max(2.0, 0.6 * usual_columns)
        if entry.good and few and (begins_totals(text) or begins_totals(leading) or _labels_total(lines, entry)):
            entry.kind = _Kind.TOTAL
        elif typed and entry.good >= least and entry.good > entry.bad and entry.crossed <= (1 if entry.good > 1 else 0):
            lonely = entry.good == 1 and usual >= 3 and not texts
            entry.kind = _Kind.TOTAL if lonely else _Kind.ROW
        elif not typed and len(entry.cells) >= max(2.0, 0.6 * usual_columns) and not entry.crossed:
            entry.kind = _Kind.ROW
        elif not entry.good and not entry.bad and not entry.crossed and texts:
            entry.kind = _Kind.TEXT
        else:
            entry.kind = _Kind.OTHER


def _labels_total(lines: PageLines, entry: _Seen) -> bool:
    return any(begins_totals(lines.text(words)) for words in entry.cells.values())


def _cut(lines: PageLines, seen: list[_Seen], given: Sequence[Line]) -> tuple[list[_Seen], bool]:
    """Return the lines of the table alone, and whether something else follows it."""
    rows = [at for at, entry in enumerate(seen) if entry.kind is _Kind.ROW]
    if not rows:
        return [], bool(seen)
    steps = [seen[at].near for at in rows[1:]]
    usual = max(1.2 * lines.height, float(np.median(steps)) if steps else 2.0 * lines.height)
    far = max(_FURTHEST * usual, 5.0 * lines.height)
    start = rows[0]
    while start > 0 and seen[start].near < 1.6 * usual and seen[start - 1].kind is _Kind.TEXT:
        start -= 1
    end, odd = rows[0], 0
    ends_at = given[-1].middle if given else 0.0
    for at in range(rows[0] + 1, len(seen)):
        entry = seen[at]
        gap = entry.near
        between = [line for line in given if seen[at - 1].line.middle < line.middle < entry.line.middle]
        if between:
            gap = entry.line.middle - between[-1].middle
        inside = entry.line.middle < ends_at
        odd = odd + 1 if entry.kind in (_Kind.OTHER, _Kind.TOTAL) else 0
        if (gap > far or odd > 3) and not inside:
            break
        if entry.kind is _Kind.ROW:
            end = at
    while end + 1 < len(seen) and seen[end + 1].kind is _Kind.TEXT and seen[end + 1].near < 1.6 * usual:
        end += 1
    return seen[start : end + 1], end + 1 < len(seen)


def _lead(lines: PageLines, bands: Bands, seen: Sequence[_Seen]) -> list[tuple[_Seen, _Seen | None]]:
    """Return the text lines, each with the row that it belongs to; None where it belongs to none."""
    anchors = [entry for entry in seen if entry.kind is _Kind.ROW]
    first, last = anchors[0].line.middle, anchors[-1].line.middle
    texts = [entry for entry in seen if entry.kind is _Kind.TEXT]
    above = sum(entry.line.middle < first for entry in texts)
    below = sum(entry.line.middle > last for entry in texts)
    room = _room(lines, bands, seen)
    up, down = _preferences(seen)
    # Texts go on below their row, unless they begin above the first row and end with it.
    hangs = not (above and not below) or (up > 0 and up >= down)
    centred = _are_centred(seen)
    # A group stands at the left edge: where the rows begin with another column, a line of text belongs to its row.
    widest = _widest(bands)
    leftmost = widest is None or not any(at < widest for entry in anchors for at in entry.cells)
    leaders: list[tuple[_Seen, _Seen | None]] = []
    ordered = [entry for entry in seen if entry.kind in (_Kind.ROW, _Kind.TEXT)]
    kinds = [entry.kind for entry in ordered]
    after_row = sum(pair == (_Kind.ROW, _Kind.TEXT) for pair in itertools.pairwise(kinds))
    often = after_row >= 0.5 * len(anchors)  # most rows have further lines: details, or the texts of all are long
    for at, entry in enumerate(ordered):
        if entry.kind is not _Kind.TEXT:
            continue
        upper = next((ordered[k] for k in range(at - 1, -1, -1) if ordered[k].kind is _Kind.ROW), None)
        lower = next((ordered[k] for k in range(at + 1, len(ordered)) if ordered[k].kind is _Kind.ROW), None)
        to_upper = entry.line.middle - ordered[at - 1].line.middle if at else np.inf
        to_lower = ordered[at + 1].line.middle - entry.line.middle if at + 1 < len(ordered) else np.inf
        nearer_below = to_lower < _NEARER * to_upper
        nearer_above = to_upper < _NEARER * to_lower
        before = ordered[at - 1] if at else None
        ended = leftmost and before is not None and not often and not _went_on(lines, before, entry, room)
        leader: _Seen | None = upper
        if nearer_above and upper is not None:
            pass
        elif nearer_below and lower is not None:
            # Above a row whose own line holds a text in the same column stands a group, unless rows are centred.
            begun = hangs and not centred and set(entry.cells) <= set(lower.cells)
            leader = None if begun or _is_group(entry, bands, hangs=hangs) else lower
        elif not hangs:
            leader = lower if lower is not None else upper
        elif ended or _is_group(entry, bands, hangs=True):
            leader = None
        leaders.append((entry, leader))
    return leaders


def _preferences(seen: Sequence[_Seen]) -> tuple[int, int]:
    """Return how many lines of text stand nearer to the row above, and how many to the row below."""
    up = down = 0
    ordered = [entry for entry in seen if entry.kind in (_Kind.ROW, _Kind.TEXT)]
    for before, entry, after in zip(ordered, ordered[1:], ordered[2:], strict=False):
        if entry.kind is _Kind.TEXT:
            to_upper, to_lower = entry.line.middle - before.line.middle, after.line.middle - entry.line.middle
            up += before.kind is _Kind.ROW and to_upper < _NEARER * to_lower
            down += after.kind is _Kind.ROW and to_lower < _NEARER * to_upper
    return up, down


def _are_centred(seen: Sequence[_Seen]) -> bool:
    """Return whether values stand at the middle of wrapped texts: lines of text are as far above a row as below it."""
    ordered = [entry for entry in seen if entry.kind in (_Kind.ROW, _Kind.TEXT)]
    for before, entry, after in zip(ordered, ordered[1:], ordered[2:], strict=False):
        if (before.kind, entry.kind, after.kind) == (_Kind.TEXT, _Kind.ROW, _Kind.TEXT):
            steps = entry.line.middle - before.line.middle, after.line.middle - entry.line.middle
            if min(steps) > _NEARER * max(steps):
                return True
    return False


def _is_group(entry: _Seen, bands: Bands, *, hangs: bool) -> bool:
    """Return whether a line stands where texts of rows do not: left of the column of texts, over several columns."""
    widest = _widest(bands)
    if widest is None:
        return True
    first = min(entry.cells)
    return hangs and (first < widest if widest > 0 else len(entry.cells) > 1)


def _widest(bands: Bands) -> int | None:
    """Return the widest column of texts."""
    texts = [at for at, column in enumerate(bands.columns) if column.kind is None]
    return max(texts, key=lambda at: bands.columns[at].right - bands.columns[at].left, default=None)


def _room(lines: PageLines, bands: Bands, seen: Sequence[_Seen]) -> dict[int, float]:
    """Return where the texts of each column end at most, pixels."""
    ends: dict[int, float] = {}
    for entry in seen:
        if entry.kind in (_Kind.ROW, _Kind.TEXT):
            for at, words in entry.cells.items():
                ends[at] = max(ends.get(at, 0.0), lines.span(words)[1])
    return ends


def _went_on(lines: PageLines, before: _Seen, entry: _Seen, room: dict[int, float]) -> bool:
    """Return whether a line goes on with the one before: its first word found no room there, or letters say so."""
    for at, words in entry.cells.items():
        if at not in before.cells:
            continue
        end = lines.span(before.cells[at])[1]
        x0, _, x1, _ = lines.words[words[0]].box
        text, next_text = lines.words[before.cells[at][-1]].text, lines.words[words[0]].text
        if end + (x1 - x0) + 0.25 * lines.height > room[at] - _FULL * lines.height * 0.2:
            return True
        if text.endswith(("-", ",", "/", "&", "+", "(")) or next_text[:1].islower() or next_text[:1] in "(/-+&":
            return True
    return False
