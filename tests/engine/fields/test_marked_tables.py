"""Tables that judge proposed ones: how they are counted, and the truth of generated ones."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from tests.benchmarks.tables.baselines import by_clusters, by_find_tables
from tests.benchmarks.tables.generated import generated_tables
from tests.benchmarks.tables.kinds import DEVELOPMENT, HELD_OUT, Kind
from tests.benchmarks.tables.score import score, wrong_rows
from tests.benchmarks.tables.simulation import simulate
from tests.benchmarks.tables.truth import Row, TrueTable, stored_tables, table_from_json, text_of


def row(**cells: set[int]) -> Row:
    return {name: frozenset((1, at) for at in words) for name, words in cells.items()}


TRUTH = [row(item={1, 2}, price={3}), row(item={5}, price={7, 8})]


def test_the_truth_itself_is_right() -> None:
    figures = score(TRUTH, [*TRUTH, row(item=set())])
    assert (figures.rows_right, figures.rows_extra, figures.row_share, figures.f1) == (2, 0, 1.0, 1.0)


def test_a_cell_with_a_word_too_many_or_too_few_is_wrong() -> None:
    figures = score(TRUTH, [row(item={1, 2, 4}, price={3}), row(item={5}, price={7})])
    assert (figures.rows_right, figures.cells_right, figures.cells_proposed) == (0, 2, 4)
    assert wrong_rows(TRUTH, [TRUTH[1]]) == [0]


def test_a_row_with_a_further_cell_is_wrong() -> None:
    figures = score(TRUTH, [row(item={1, 2}, price={3}, tax={9}), TRUTH[1]])
    assert (figures.rows_right, figures.recall, figures.precision) == (1, 1.0, 0.8)


def test_rows_without_a_partner_are_extra_and_merged_rows_hold_one() -> None:
    heading, merged = row(item={20}, price={21}), row(item={1, 2, 5}, price={3, 7, 8})
    figures = score(TRUTH, [heading, merged])
    assert (figures.rows_right, figures.rows_extra, figures.cells_right) == (0, 1, 0)


def test_a_row_belongs_to_the_one_that_shares_most_words() -> None:
    figures = score(TRUTH, [row(item={2}), row(item={1}, price={3}), TRUTH[1]])
    assert (figures.rows_right, figures.rows_extra, figures.cells_right) == (1, 1, 3)


def test_the_first_wrong_row_is_given_and_the_rest_is_proposed_again() -> None:
    rows = [*TRUTH, row(item={10}, price={11})]
    table = TrueTable("three rows", "made", (), (), tuple(rows), b"")
    asked: list[list[Row]] = []

    def learn_at_the_second(pages: object, columns: object, given: Sequence[Row]) -> list[Row]:
        asked.append(list(given))
        return rows if len(given) == 2 else [rows[1]]

    steps = simulate(table, learn_at_the_second, 3)
    assert asked == [[], [rows[0]], [rows[0], rows[2]]]
    assert [step.whole.rows_right for step in steps] == [1, 2, 3, 3]
    assert [(step.rest.rows, step.rest.rows_right) for step in steps] == [(3, 1), (2, 1), (1, 1), (1, 1)]


@pytest.mark.parametrize("baseline", [by_clusters, by_find_tables])
def test_a_baseline_reads_a_plain_grid(baseline: Callable[[TrueTable], list[Row]]) -> None:
    kind = Kind(paper="order", columns=("position", "description", "quantity", "amount"), rules="grid", wraps=0.0)
    for table in generated_tables({"plain grid": kind}, 2):
        assert score(table.rows, baseline(table)).row_share == 1.0


def test_marks_of_real_tables_are_whole() -> None:
    tables = stored_tables()
    assert len(tables) >= 30
    assert max(Counter(stored["file"] for stored in tables).values()) <= 3
    for stored in tables:
        table = table_from_json(stored)
        names = {column.name for column in table.columns}
        assert len(names) == len(table.columns)
        for cells in table.rows:
            assert cells and set(cells) <= names
            boxes = [mark.box for marks in cells.values() for mark in marks]
            assert all(0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1 for x0, y0, x1, y1 in boxes)


@pytest.mark.parametrize("name", ["order in a grid", "long order, one heading", "line of details", "wide delivery"])
def test_rows_of_a_generated_table_are_those_that_are_printed(name: str) -> None:
    kinds: dict[str, Kind] = {**DEVELOPMENT, **HELD_OUT}
    for table in generated_tables({name: kinds[name]}, 2):
        words = Counter(word for cells in table.rows for cell in cells.values() for word in cell)
        assert max(words.values()) == 1
        if "position" in {column.name for column in table.columns}:
            numbers = [text_of(cells["position"], table.pages) for cells in table.rows]
            assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


def test_a_seed_gives_the_same_tables_and_another_one_others() -> None:
    kinds = {name: DEVELOPMENT[name] for name in ("two tables", "bank statement")}
    tables, again, others = (list(generated_tables(kinds, 2, seed)) for seed in (3, 3, 4))
    assert [(t.pages, t.columns, t.rows) for t in tables] == [(t.pages, t.columns, t.rows) for t in again]
    assert tables[0].pages != others[0].pages


def test_no_kind_is_both_built_on_and_held_out() -> None:
    assert not set(DEVELOPMENT) & set(HELD_OUT)
    assert not [kind for kind in DEVELOPMENT.values() if kind in HELD_OUT.values()]
