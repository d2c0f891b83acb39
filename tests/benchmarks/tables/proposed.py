"""The proposer of tables, as the benchmark calls it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.fields.kinds import kind_of_type
from model.examples import Word
from model.tables.parts import AskedColumn
from model.tables.propose import propose_table
from tests.benchmarks.tables.truth import Row, TableColumn, TablePage


def propose(pages: Sequence[TablePage], columns: Sequence[TableColumn], given_rows: Sequence[Row]) -> list[Row]:
    """Return the proposed rows of a table, in reading order.

    Args:
        pages: All pages of the document, with their words in reading order and boxes in pixels.
        columns: The columns that are asked for; nobody knows where they stand.
        given_rows: Rows that a person has corrected, complete and right; none at first. A cell that is left out of
            them is empty.

    Returns:
        Name of the column -> its words as (number of the page, index of the word). Empty cells are left out. The rows
        given may be among them or not.
    """
    words = [[Word(word.text, word.box) for word in page.words] for page in pages]
    asked = [AskedColumn(column.name, column.question, kind_of_type(column.type)) for column in columns]
    place = {page.number: at for at, page in enumerate(pages)}
    given = [
        {name: sorted((place[number], at) for number, at in cell) for name, cell in row.items()} for row in given_rows
    ]
    return [
        {name: frozenset((pages[page].number, at) for page, at in cell) for name, cell in row.items()}
        for row in propose_table(words, asked, given).rows
    ]
