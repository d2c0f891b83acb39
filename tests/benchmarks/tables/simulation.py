"""What a correction does: a person corrects the first wrong row, and the rest is proposed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.benchmarks.tables.score import TableScore, match_rows, score, without_empty, wrong_rows
from tests.benchmarks.tables.truth import Row, TableColumn, TablePage, TrueTable

Propose = Callable[[Sequence[TablePage], Sequence[TableColumn], Sequence[Row]], list[Row]]


@dataclass(frozen=True, slots=True)
class Step:
    """A table after some corrections: the score of all its rows, and of those that nobody has corrected."""

    whole: TableScore
    rest: TableScore


def simulate(table: TrueTable, propose: Propose, corrections: int) -> list[Step]:
    """Return the scores before a correction, after one, and so on; corrections of the wrong row that comes first.

    A row that was corrected is right from then on.
    """
    given: list[int] = []
    steps: list[Step] = []
    for number in range(corrections + 1):
        rows = propose(table.pages, table.columns, [table.rows[at] for at in given])
        rest = without_given(rows, [table.rows[at] for at in given])
        rows = [*(table.rows[at] for at in given), *rest]
        others = [row for at, row in enumerate(table.rows) if at not in given]
        steps.append(Step(score(table.rows, rows), score(others, rest)))
        wrong = [at for at in wrong_rows(table.rows, rows) if at not in given]
        if not wrong:
            return [*steps, *[steps[-1]] * (corrections - number)]
        given.append(wrong[0])
    return steps


def without_given(proposed: Sequence[Row], given: Sequence[Row]) -> list[Row]:
    """Return the proposed rows without the counterparts of those that a person has given."""
    rows = [row for row in map(without_empty, proposed) if row]
    taken = {partner for partner in match_rows(given, rows) if partner is not None}
    return [row for at, row in enumerate(rows) if at not in taken]
