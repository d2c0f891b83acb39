"""Rules over tables: a total is the sum of a column, and the rules of columns are about the cells of one row."""

import pytest

from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.fields.rules import broken_rules, fields_named, proven_fields
from engine.fields.table_rows import RowValues
from engine.workspace import Workspace
from tests.support.annotators import make_person
from tests.support.factories import make_project

TABLE = {
    "name": "lines",
    "question": "Lines?",
    "type": "table",
    "columns": [
        {"name": "item", "question": "Item", "required": True},
        {"name": "net", "question": "Net", "type": "number"},
        {"name": "gross", "question": "Gross", "type": "number", "rules": [{"rule": "sum", "of": ["net", "tax"]}]},
        {"name": "tax", "question": "Tax", "type": "number"},
    ],
}
TOTAL = {"name": "total", "question": "T?", "type": "number", "rules": [{"rule": "sum", "of": ["lines.gross"]}]}
FIELDS = [FieldDefinition.model_validate(TABLE), FieldDefinition.model_validate(TOTAL)]
ROWS: list[RowValues] = [
    {"item": "Pen", "net": "10", "tax": "2", "gross": "12"},
    {"item": "Ink", "net": "5", "tax": "1", "gross": "6"},
]


def test_a_total_is_the_sum_of_a_column() -> None:
    assert broken_rules(FIELDS, {"total": ["18"]}, tables={"lines": ROWS}) == {}
    assert proven_fields(FIELDS, {"total": ["18"]}, {"lines": ROWS}) == {"total"}
    assert broken_rules(FIELDS, {"total": ["19"]}, tables={"lines": ROWS}) == {
        "total": ["total (19) is not the sum of lines.gross (18)."]
    }
    assert fields_named(FIELDS, "total") == {"lines"}


def test_a_column_with_a_cell_that_nobody_can_read_is_not_summed() -> None:
    unread: list[RowValues] = [*ROWS, {"item": "Nib", "gross": None}]
    assert broken_rules(FIELDS, {"total": ["1"]}, tables={"lines": unread}) == {}
    assert proven_fields(FIELDS, {"total": ["18"]}, {"lines": unread}) == set()


def test_rules_of_columns_are_about_each_row() -> None:
    rows: list[RowValues] = [ROWS[0], {"net": "5", "tax": "1", "gross": "7"}, {"item": None, "net": "1"}]
    assert broken_rules(FIELDS, {}, tables={"lines": rows}) == {
        "lines": ["Row 2: item is required, and has no value.", "Row 2: gross (7) is not the sum of net and tax (6)."]
    }


def test_a_rule_names_columns_that_are_there(sqlite_workspace: Workspace) -> None:
    project = make_project(sqlite_workspace)
    rita = make_person(sqlite_workspace, "Rita", project.id, "reviewer")
    replace_fields(sqlite_workspace, project.id, FIELDS, rita.id)
    other = FieldDefinition.model_validate({**TOTAL, "rules": [{"rule": "sum", "of": ["lines.colour"]}]})
    with pytest.raises(Refused, match=r"names the field lines\.colour"):
        replace_fields(sqlite_workspace, project.id, [FIELDS[0], other], rita.id)
