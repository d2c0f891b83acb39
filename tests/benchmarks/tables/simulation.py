"""What a correction does: a person corrects the first wrong row, and the rest is proposed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.benchmarks.tables.score import TableScore, match_rows, score, without_empty, wrong_rows
from tests.benchmarks.tables.truth import Row, TableColumn, TablePage, TrueTable

Propose = Callable[[Sequence[TablePage], Sequence[TableColumn], Sequence[Row]], list[Row]]


def simulate(table: TrueTable, propose: Propose, corrections: int) -> list[TableScore]:
    """Return the scores before a correction, after one, and so on; corrections of the wrong row that comes first.

    A row that was corrected is right from then on, and is counted.
    """
    given: list[int] = []
    scores = []
    for number in range(corrections + 1):
        rows = propose(table.pages, table.columns, [table.rows[at] for at in given])
        rows = with_given(rows, [table.rows[at] for at in given])
        scores.append(score(table.rows, rows))
        wrong = [at for at in wrong_rows(table.rows, rows) if at not in given]
        if not wrong:
            return [*scores, *[scores[-1]] * (corrections - number)]
        given.append(wrong[0])
    return scores


def with_given(proposed: Sequence[Row], given: Sequence[Row]) -> list[Row]:
    """Return the proposed rows, with those that a person has given in the place of their counterparts."""
    rows = [row for row in map(without_empty, proposed) if row]
    taken = {partner for partner in match_rows(given, rows) if partner is not None}
    return [*given, *(row for at, row in enumerate(rows) if at not in taken)]
