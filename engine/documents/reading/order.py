"""Reading order from geometry: columns of prose in sequence, everything else row by row.

Forms, receipts and tables need rows before columns (a key, then its value to the right); prose needs columns before
rows. A gutter shared by several rows splits a page only where both sides hold runs of several words (whitespace cover,
after T. Breuel, "Two Geometric Algorithms for Layout Analysis", DAS 2002, simplified to vertical gutters).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from engine.documents.reading.source_words import FoundLine, FoundWord, is_right_to_left, union
from model.boxes import FloatBox

_GAP = 1.5  # line heights; a wider gap ends a run of words
_GUTTER = 0.3  # narrowest gutter between columns, in line heights; runs on both sides are separate lines already
_COLUMN_ROWS = 3
_COLUMN_WORDS = 3.0  # mean words per run, below which it is a table and not prose
_TABLE_CELLS = 4  # runs of few words side by side, from which a row belongs to a table
_COLUMN_WIDTH = 8.0  # mean width of a run, in line heights
_TOUCHING = 0.15  # gap, in heights, below which pieces of a number are one word
_SEPARATORS = "/.,:-"
_SAME_ROW = 0.5  # vertical overlap, as a share of the lower one, of two runs in one row


@dataclass(frozen=True, slots=True)
class _Placed:
    """Word with its box in the frame in which its text runs to the right."""

    word: FoundWord
    box: FloatBox


@dataclass(frozen=True, slots=True)
class _Run:
    """Words that follow each other without a gap, left to right."""

    words: tuple[_Placed, ...]
    box: FloatBox

    @property
    def height(self) -> float:
        """Return the height of the run."""
        return self.box[3] - self.box[1]


def reading_order(lines: Sequence[FoundLine]) -> list[list[FoundWord]]:
    """Return the words, one list a line, in the order in which a person reads them.

    Text of the most frequent heading comes first, sideways stamps after it. In Arabic and Hebrew lines, words run from
    right to left, and numbers and Latin words within them from left to right.
    """
    by_heading: dict[int, list[FoundLine]] = {}
    for line in lines:
        by_heading.setdefault(line.heading, []).append(line)
    ordered: list[list[FoundWord]] = []
    for _, group in sorted(by_heading.items(), key=lambda item: (-_characters(item[1]), item[0])):
        runs = [run for line in group for run in _runs(line)]
        from_right = _goes_left(word.word.text for run in runs for word in run.words)
        for row in _blocks(runs, from_right):
            ordered.append(_in_row(row, from_right))
    return ordered


def _characters(lines: Iterable[FoundLine]) -> int:
    return sum(len(word.text) for line in lines for word in line.words)


def _upright(box: FloatBox, heading: int) -> FloatBox:
    x0, y0, x1, y1 = box
    if heading == 90:
        return (y0, -x1, y1, -x0)
    if heading == 180:
        return (-x1, -y1, -x0, -y0)
    if heading == 270:
        return (-y1, x0, -y0, x1)
    return box


def _runs(line: FoundLine) -> list[_Run]:
    words = sorted((_Placed(word, _upright(word.box, line.heading)) for word in line.words), key=lambda p: p.box[0])
    gap = _GAP * median(placed.box[3] - placed.box[1] for placed in words)
    runs: list[list[_Placed]] = [[words[0]]]
    right = words[0].box[2]
    for placed in words[1:]:
        if placed.box[0] - right > gap:
            runs.append([])
        runs[-1].append(placed)
        right = max(right, placed.box[2])
    return [_Run(tuple(run), union([placed.box for placed in run])) for run in runs]


def _rows(runs: list[_Run]) -> list[list[_Run]]:
    """Return rows of runs, top to bottom; each run is compared with its neighbour, for skewed rows."""
    rows: list[list[_Run]] = []
    for run in sorted(runs, key=lambda r: (r.box[1], r.box[0])):
        best, best_overlap = None, _SAME_ROW
        for row in rows[-12:]:  # runs are sorted from top to bottom: earlier rows are out of reach
            near = min(row, key=lambda other: max(other.box[0] - run.box[2], run.box[0] - other.box[2]))
            if max(near.box[0] - run.box[2], run.box[0] - near.box[2]) < -0.5 * min(run.height, near.height):
                continue  # one above the other
            share = (min(near.box[3], run.box[3]) - max(near.box[1], run.box[1])) / max(
                1e-6, min(run.height, near.height)
            )
            if share > best_overlap:
                best, best_overlap = row, share
        if best is None:
            rows.append([run])
        else:
            best.append(run)
    return sorted(rows, key=_middle)


def _middle(row: list[_Run]) -> float:
    return sum(run.box[1] + run.box[3] for run in row) / (2 * len(row))


def _blocks(runs: list[_Run], from_right: bool) -> list[list[_Run]]:
    """Return the rows of a region in reading order, column by column."""
    rows = _rows(runs)
    heights = [run.height for run in runs]
    unit = median(heights) if heights else 1.0
    start = 0
    while start < len(rows):
        end, gutter = _columns_from(rows, start, unit)
        if gutter is None:
            # In a long table the next rows would fail as well: steps prevent a quadratic search.
            start += max(1, (end - start) // 8)
            continue
        start = _reach_up(rows, start, gutter, unit)
        inside = [run for row in rows[start:end] for run in row]
        left = [run for run in inside if run.box[2] <= gutter]
        right = [run for run in inside if run.box[2] > gutter]
        first, second = (right, left) if from_right else (left, right)
        below = [run for row in rows[end:] for run in row]
        return [
            *rows[:start],
            *_blocks(first, from_right),
            *_blocks(second, from_right),
            *(_blocks(below, from_right) if below else ()),
        ]
    return rows


def _columns_from(rows: list[list[_Run]], start: int, unit: float) -> tuple[int, float | None]:
    """Return the row after those that share a gutter with row `start`, and its x; None without columns."""
    if (
        len(rows[start]) < 2
        or max(_words_a_run([run]) for run in rows[start]) < _COLUMN_WORDS
        or _is_table_row(rows[start])
    ):
        return start, None
    free: list[tuple[float, float]] = _gaps(rows[start], unit)
    end = start + 1
    while end < len(rows):
        narrowed = _narrow(free, rows[end], unit)
        if not narrowed or _is_table_row(rows[end]):
            break
        free = narrowed
        end += 1
    inside = [run for row in rows[start:end] for run in row]
    for x0, x1 in sorted(free, key=lambda gap: gap[0] - gap[1]):
        middle = (x0 + x1) / 2
        sides = [run for run in inside if run.box[2] <= middle], [run for run in inside if run.box[2] > middle]
        if all(_is_column(side, unit) for side in sides):
            return end, middle
    return end, None


def _gaps(row: list[_Run], unit: float) -> list[tuple[float, float]]:
    runs = sorted(row, key=lambda run: run.box[0])
    gaps = []
    right = runs[0].box[2]
    for run in runs[1:]:
        if run.box[0] - right >= _GUTTER * unit:
            gaps.append((right, run.box[0]))
        right = max(right, run.box[2])
    return gaps


def _narrow(free: list[tuple[float, float]], row: list[_Run], unit: float) -> list[tuple[float, float]]:
    """Return the remaining gaps beside the runs of one more row."""
    for run in row:
        left = []
        for x0, x1 in free:
            for y0, y1 in ((x0, min(x1, run.box[0])), (max(x0, run.box[2]), x1)):
                if y1 - y0 >= _GUTTER * unit:
                    left.append((y0, y1))
        free = sorted(set(left))
    return free


def _reach_up(rows: list[list[_Run]], start: int, gutter: float, unit: float) -> int:
    """Include rows above that lie in one column only: a column may start before its neighbour."""
    while start > 0:
        above, below = rows[start - 1], rows[start]
        near = max(run.box[3] for run in above) + unit >= min(run.box[1] for run in below)
        beside = all(run.box[2] <= gutter or run.box[0] >= gutter for run in above)
        if not near or not beside or _is_table_row(above):
            break
        start -= 1
    return start


def _is_table_row(row: list[_Run]) -> bool:
    """Return whether a row belongs to a table: cells lie far apart, pieces of loosely set prose do not."""
    runs = sorted(row, key=lambda run: run.box[0])
    cells = 1 + sum(after.box[0] - run.box[2] >= _GAP * run.height for run, after in pairwise(runs))
    return cells >= _TABLE_CELLS and sum(_weight(p.word.text) for r in row for p in r.words) < _COLUMN_WORDS * cells


def _words_a_run(runs: list[_Run]) -> float:
    """Return the mean words per run; Chinese and Japanese characters, words of their own, count a third."""
    return sum(_weight(placed.word.text) for run in runs for placed in run.words) / len(runs)


def _weight(text: str) -> float:
    return 1 / 3 if len(text) == 1 and ord(text) >= 0x2E80 else 1.0


def _is_column(runs: list[_Run], unit: float) -> bool:
    return (
        len(runs) >= _COLUMN_ROWS
        and _words_a_run(runs) >= _COLUMN_WORDS
        and sum(run.box[2] - run.box[0] for run in runs) / len(runs) >= _COLUMN_WIDTH * unit
    )


def _goes_left(texts: Iterable[str]) -> bool:
    ways = Counter(is_right_to_left(text) for text in texts)
    return ways[True] > ways[False]


def _in_row(row: list[_Run], page_goes_left: bool) -> list[FoundWord]:
    """Convert visual order to logical order (Unicode UAX 9, word by word)."""
    placed = [word for run in sorted(row, key=lambda run: run.box[0]) for word in run.words]
    words = [word.word for word in _whole_numbers(placed)]
    ways = [is_right_to_left(word.text) for word in words]
    lefts, rights = ways.count(True), ways.count(False)
    goes_left = (lefts > 0 and (page_goes_left or lefts > rights)) or (page_goes_left and not rights)
    ordered: list[FoundWord] = []
    start = 0
    while start < len(words):
        end = start + 1
        if ways[start] is (
            not goes_left
        ):  # a stretch against the row's direction, with the numbers and signs inside it
            for following in range(end, len(words)):
                if ways[following] is goes_left:
                    break
                if ways[following] is not None:
                    end = following + 1
        ordered += words[start:end][::-1]
        start = end
    return ordered[::-1] if goes_left else ordered


def _whole_numbers(words: list[_Placed]) -> list[_Placed]:
    """Join split dates and amounts, which occur in right-to-left text: 1403, /, 09, /, 19."""
    whole: list[_Placed] = []
    for piece in words:
        last = whole[-1] if whole else None
        if last and piece.box[0] - last.box[2] < _TOUCHING * (piece.box[3] - piece.box[1]) and _is_split(last, piece):
            box = union([last.word.box, piece.word.box])
            sure = [word.confidence for word in (last.word, piece.word) if word.confidence is not None]
            joined = FoundWord(last.word.text + piece.word.text, box, min(sure, default=None))
            whole[-1] = _Placed(joined, union([last.box, piece.box]))
        else:
            whole.append(piece)
    return whole


def _is_split(left: _Placed, right: _Placed) -> bool:
    texts = left.word.text, right.word.text
    only_numbers = all(c.isdecimal() or c in _SEPARATORS for text in texts for c in text)
    return only_numbers and (texts[0][-1] in _SEPARATORS) != (texts[1][0] in _SEPARATORS)
