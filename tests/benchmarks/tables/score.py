"""How much of a proposed table is right: cells and rows as sets of words.

A row of the truth belongs to the proposed row that shares most words with it, each row to one at most. A cell is right
when it has exactly the words of the true cell; cells that are empty in both are not counted. A row is right when all
its cells are, and it has no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.benchmarks.tables.truth import Cell, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class TableScore:
    """Counts of one table, or of several that were added up.

    Args:
        rows: Rows of the truth.
        rows_right: Those that are right in every cell.
        rows_extra: Proposed rows that belong to no row of the truth.
        cells: Cells of the truth that hold words.
        cells_proposed: Proposed cells that hold words.
        cells_right: Cells of the truth that are right.
    """

    rows: int = 0
    rows_right: int = 0
    rows_extra: int = 0
    cells: int = 0
    cells_proposed: int = 0
    cells_right: int = 0

    def __add__(self, other: TableScore) -> TableScore:
        return TableScore(
            rows=self.rows + other.rows,
            rows_right=self.rows_right + other.rows_right,
            rows_extra=self.rows_extra + other.rows_extra,
            cells=self.cells + other.cells,
            cells_proposed=self.cells_proposed + other.cells_proposed,
            cells_right=self.cells_right + other.cells_right,
        )

    @property
    def row_share(self) -> float:
        """Return the share of the true rows that are right."""
        return self.rows_right / self.rows if self.rows else 1.0

    @property
    def precision(self) -> float:
        """Return the share of the proposed cells that are right; 0 where none is proposed."""
        return self.cells_right / self.cells_proposed if self.cells_proposed else 0.0

    @property
    def recall(self) -> float:
        """Return the share of the true cells that are right."""
        return self.cells_right / self.cells if self.cells else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(truth: Sequence[Row], proposed: Sequence[Row]) -> TableScore:
    """Return the counts of a table."""
    cleaned = [without_empty(row) for row in proposed]
    cleaned = [row for row in cleaned if row]
    wanted = [without_empty(row) for row in truth]
    partners = match_rows(wanted, cleaned)
    pairs = [
        (row, cleaned[partner] if partner is not None else {}) for row, partner in zip(wanted, partners, strict=True)
    ]
    return TableScore(
        rows=len(wanted),
        rows_right=sum(row == other for row, other in pairs),
        rows_extra=len(cleaned) - sum(partner is not None for partner in partners),
        cells=sum(map(len, wanted)),
        cells_proposed=sum(map(len, cleaned)),
        cells_right=sum(other.get(name) == cell for row, other in pairs for name, cell in row.items()),
    )


def without_empty(row: Row) -> dict[str, Cell]:
    """Return a row without its empty cells."""
    return {name: frozenset(cell) for name, cell in row.items() if cell}


def match_rows(truth: Sequence[Row], proposed: Sequence[Row]) -> list[int | None]:
    """Return for each row of the truth the proposed row that shares most words with it; None where none is left.

    Pairs with most words in common are made first; of equal ones, those that come first.
    """
    proposed_words = [frozenset().union(*row.values()) for row in proposed]
    shared = []
    for at, row in enumerate(truth):
        words = frozenset().union(*row.values())
        for other, others in enumerate(proposed_words):
            if common := len(words & others):
                shared.append((-common, at, other))
    partners: list[int | None] = [None] * len(truth)
    taken: set[int] = set()
    for _, at, other in sorted(shared):
        if partners[at] is None and other not in taken:
            partners[at] = other
            taken.add(other)
    return partners


def wrong_rows(truth: Sequence[Row], proposed: Sequence[Row]) -> list[int]:
    """Return which rows of the truth are not right, in reading order."""
    wanted, cleaned = [without_empty(row) for row in truth], [without_empty(row) for row in proposed]
    partners = match_rows(wanted, cleaned)
    return [
        at for at, (row, partner) in enumerate(zip(wanted, partners, strict=True))
        if partner is None or cleaned[partner] != row
    ]  # fmt: skip


def total(scores: Iterable[TableScore]) -> TableScore:
    """Return the counts of several tables together."""
    return sum(scores, TableScore())
