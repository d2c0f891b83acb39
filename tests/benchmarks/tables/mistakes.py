"""What a proposer has wrong, in words: for whoever improves it on the kinds for development."""

from __future__ import annotations

from tests.benchmarks.tables.score import match_rows, without_empty, wrong_rows
from tests.benchmarks.tables.simulation import Propose
from tests.benchmarks.tables.truth import Row, TrueTable, text_of


def describe_mistakes(table: TrueTable, propose: Propose, most: int = 2) -> list[str]:
    """Return lines about the first wrong rows of a table, each true row beside the proposed one; none if all is right."""
    rows = [row for row in map(without_empty, propose(table.pages, table.columns, [])) if row]
    wrong = wrong_rows(table.rows, rows)
    partners = match_rows(table.rows, rows)
    extra = len(rows) - sum(partner is not None for partner in partners)
    if not wrong and not extra:
        return []
    asked = ", ".join(f"{column.name} ({column.question})" for column in table.columns)
    lines = [f"{table.name}: {len(wrong)} of {len(table.rows)} rows wrong, {extra} too many; asked: {asked}"]
    for at in wrong[:most]:
        partner = partners[at]
        lines.append(f"  row {at + 1}")
        lines += _compared(table, table.rows[at], rows[partner] if partner is not None else {})
    return lines


def _compared(table: TrueTable, true: Row, proposed: Row) -> list[str]:
    lines = []
    for name in dict.fromkeys([*true, *proposed]):
        if true.get(name) != proposed.get(name):
            texts = (text_of(row.get(name, frozenset()), table.pages) or "-" for row in (true, proposed))
            lines.append(f"    {name}: {next(texts)} | proposed: {next(texts)}")
    return lines
