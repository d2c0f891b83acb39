"""Two plain ways to find a table, as what a proposer has to be better than.

Both are given what they could not know: of the grids on a page, the one that holds most words of the truth, and the
best assignment of its columns to those that are asked for. Rows that repeat the headings are taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
import pymupdf
from rapidfuzz import fuzz
from scipy.optimize import linear_sum_assignment

from model.boxes import FloatBox
from tests.benchmarks.tables.score import TableScore, score
from tests.benchmarks.tables.truth import Cell, Row, TableColumn, TablePage, TableWord, TrueTable, WordAt, text_of

Grid = list[list[Cell]]  # rows of cells, as many in each row
STRATEGIES = ("lines", "lines_strict", "text")  # of PyMuPDF
_SAME_LINE = 0.5  # distance of the centres of two words of a line, in heights
_ALIKE = 90.0  # of 100, similarity of a heading to its question
_HEADINGS = 0.4  # share of the columns whose headings a line of headings holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Settings of the baseline of clusters; lengths in heights of a line.

    Args:
        gap: Narrowest gap between two columns.
        crossed: Share of the lines that may cross a gap.
        filled: Share of the columns that a line must fill to begin a row; others belong to the row above.
        apart: Distance of two lines from which a table ends.
    """

    gap: float
    crossed: float
    filled: float
    apart: float


TUNED = Clusters(gap=1.5, crossed=0.25, filled=0.3, apart=2.5)  # by --tune --count 100


def by_clusters(table: TrueTable, settings: Clusters = TUNED) -> list[Row]:
    """Return the rows by clusters of x for columns and lines of y for rows."""
    return _best_rows(table, lambda page: _cluster_grids(page, table.columns, settings))


def by_find_tables(table: TrueTable) -> list[Row] | None:
    """Return the rows that PyMuPDF finds with its best strategy for the table; None for a file without a text layer."""
    pymupdf.no_recommend_layout()  # it would print an advertisement of its layout package, which is not used here
    with pymupdf.open(stream=table.pdf, filetype="pdf") as document:
        wanted = {number for row in table.rows for cell in row.values() for number, _ in cell}
        if not all(document[number - 1].get_text().strip() for number in wanted):
            return None
        found: list[tuple[TableScore, list[Row]]] = []
        for strategy in STRATEGIES:
            rows = _best_rows(table, partial(_found_grids, document, strategy))
            found.append((score(table.rows, rows), rows))
    return max(found, key=lambda pair: (pair[0].f1, pair[0].row_share))[1]


def _found_grids(document: pymupdf.Document, strategy: str, words: TablePage) -> Iterator[Grid]:
    page = document[words.number - 1]
    scale = words.width / page.rect.width
    for table in page.find_tables(strategy=strategy).tables:
        columns = max((len(row.cells) for row in table.rows), default=0)
        grid = [
            [_words_in(words, cell, scale) for cell in [*row.cells, *[None] * (columns - len(row.cells))]]
            for row in table.rows
        ]
        if columns:
            yield grid


def _words_in(page: TablePage, box: FloatBox | None, scale: float) -> Cell:
    if box is None:
        return frozenset()
    x0, y0, x1, y1 = (side * scale for side in box)
    return frozenset(
        (page.number, at)
        for at, word in enumerate(page.words)
        if x0 <= (word.box[0] + word.box[2]) / 2 < x1 and y0 <= (word.box[1] + word.box[3]) / 2 < y1
    )


def _cluster_grids(page: TablePage, columns: Sequence[TableColumn], settings: Clusters) -> Iterator[Grid]:
    """Yield the grid of each block of lines; a block ends at a wide gap, and at a line of headings."""
    if not page.words:
        return
    height = median(word.box[3] - word.box[1] for word in page.words)
    lines = _lines(page, height)
    block: list[list[WordAt]] = []
    below = 0.0
    for centre, line in lines:
        heading = _holds_headings(" ".join(page.words[at].text for _, at in line), columns)
        if block and (heading or centre - below > settings.apart * height):
            yield _cluster_grid(page, block, height, settings)
            block = []
        if not heading:
            block.append(line)
        below = centre
    if block:
        yield _cluster_grid(page, block, height, settings)


def _lines(page: TablePage, height: float) -> list[tuple[float, list[WordAt]]]:
    """Return the words of each line with its centre, from the top down."""
    order = sorted(range(len(page.words)), key=lambda at: _centre(page.words[at]))
    lines: list[tuple[float, list[WordAt]]] = []
    for at in order:
        centre = _centre(page.words[at])
        if lines and centre - lines[-1][0] < _SAME_LINE * height:
            lines[-1][1].append((page.number, at))
        else:
            lines.append((centre, [(page.number, at)]))
    return lines


def _centre(word: TableWord) -> float:
    return (word.box[1] + word.box[3]) / 2


def _cluster_grid(page: TablePage, block: Sequence[Sequence[WordAt]], height: float, settings: Clusters) -> Grid:
    covered = np.zeros(page.width + 1, dtype=np.int64)
    for line in block:
        of_line = np.zeros_like(covered, dtype=bool)
        for _, at in line:
            of_line[page.words[at].box[0] : page.words[at].box[2]] = True
        covered += of_line
    columns = _columns(covered > settings.crossed * len(block), settings.gap * height)
    rows: Grid = []
    for line in block:
        cells: list[set[WordAt]] = [set() for _ in columns]
        for number, at in line:
            middle = (page.words[at].box[0] + page.words[at].box[2]) / 2
            cells[int(np.argmin([_distance(middle, column) for column in columns]))].add((number, at))
        if rows and sum(map(bool, cells)) < settings.filled * len(columns):
            rows[-1] = [above | frozenset(cell) for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append([frozenset(cell) for cell in cells])
    return rows


def _columns(covered: np.ndarray, gap: float) -> list[tuple[int, int]]:
    """Return the parts of the width that are covered, joined over gaps narrower than `gap` pixels; at least one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], covered.astype(np.int8), [0]])))
    columns: list[tuple[int, int]] = []
    for left, right in edges.reshape(-1, 2).tolist():
        if columns and left - columns[-1][1] < gap:
            columns[-1] = (columns[-1][0], right)
        else:
            columns.append((left, right))
    return columns or [(0, len(covered))]


def _distance(x: float, column: tuple[int, int]) -> float:
    return max(column[0] - x, 0.0, x - column[1])


def _best_rows(table: TrueTable, grids_of: Callable[[TablePage], Iterable[Grid]]) -> list[Row]:
    """Return the rows of the grid on each page that shares most words with the truth, its columns assigned at best."""
    rows: list[Row] = []
    names = [column.name for column in table.columns]
    for page in table.pages:
        wanted = [
            frozenset(word for row in table.rows for word in row.get(name, ()) if word[0] == page.number)
            for name in names
        ]
        if not any(wanted):
            continue
        best: tuple[int, list[Row]] = (0, [])
        for grid in grids_of(page):
            columns = [frozenset().union(*cells) for cells in zip(*grid, strict=True)]
            shared = np.array([[len(column & words) for words in wanted] for column in columns])
            taken = linear_sum_assignment(-shared)
            if (total := int(shared[taken].sum())) > best[0]:
                assigned = {names[name]: column for column, name in zip(*taken, strict=True) if shared[column, name]}
                best = total, [{name: cells[at] for name, at in assigned.items() if cells[at]} for cells in grid]
        rows += [row for row in best[1] if row and not _is_heading(row, table.columns, table.pages)]
    return rows


def _holds_headings(line: str, columns: Sequence[TableColumn]) -> bool:
    """Return whether a line holds the headings of several columns."""
    alike = sum(fuzz.partial_ratio(column.question.lower(), line.lower()) >= _ALIKE for column in columns)
    return len(line) >= len(columns) and alike >= max(2.0, _HEADINGS * len(columns))


def _is_heading(row: Row, columns: Sequence[TableColumn], pages: Sequence[TablePage]) -> bool:
    """Return whether half of a row's cells are alike to the questions of their columns."""
    questions = {column.name: column.question.lower() for column in columns}
    alike = [fuzz.partial_ratio(text_of(cell, pages).lower(), questions[name]) >= _ALIKE for name, cell in row.items()]
    return sum(alike) >= 0.5 * len(alike)
