"""The values of a table have a place: a row and a column, and are read as their column."""

import pytest

from engine.annotation.change import apply
from engine.annotation.edits import Edit, EditAddValue, EditCell, EditRemoveValue, EditWords
from engine.annotation.state import MOST_VALUES, AnnotationState, Cell, PageGeometry
from engine.annotation.texts import shown_texts
from engine.annotation.values import view_values
from engine.errors import Refused
from engine.fields.definition import ColumnDefinition, FieldDefinition
from engine.fields.normalisation import LocaleContext
from engine.fields.types import FieldType
from engine.workspace import Workspace

PAGES = {"p": PageGeometry((40, 60), {0: (2, 2, 12, 8), 1: (20, 2, 32, 8), 2: (2, 20, 12, 26)})}
COLUMNS = (
    ColumnDefinition(name="item", question="Item"),
    ColumnDefinition(name="amount", question="Amount", type=FieldType.NUMBER),
)
TABLE = FieldDefinition(name="lines", question="What was bought?", type=FieldType.TABLE, columns=COLUMNS)


def cell(row: int, column: str, place: int) -> EditAddValue:
    return EditAddValue(op="add_value", place=place, cell=Cell(row=row, column=column))


def words(number: int, place: int) -> EditWords:
    return EditWords(op="words", page="p", add=[number], place=place)


def become(*edits: Edit, state: AnnotationState | None = None) -> AnnotationState:
    return apply(state or AnnotationState(), edits, PAGES)


def row() -> AnnotationState:
    first = EditCell(op="cell", cell=Cell(row=0, column="item"))
    return become(words(0, 0), first, cell(0, "amount", 1), words(1, 1))


def test_a_cell_keeps_its_place_when_it_is_marked_moved_and_stored() -> None:
    state = AnnotationState.model_validate(row().model_dump(mode="json"))
    assert [part.cell for part in state.single_values()] == [Cell(row=0, column="item"), Cell(row=0, column="amount")]
    moved = become(EditCell(op="cell", place=1, cell=Cell(row=3, column="amount")), state=state)
    assert moved.values[1].cell == Cell(row=3, column="amount")
    assert moved.values[1].pages == state.values[1].pages


def test_a_table_with_a_single_cell_knows_its_place() -> None:
    state = become(EditRemoveValue(op="remove_value", place=0), state=row())
    assert not state.values and state.cell == Cell(row=0, column="amount")
    again = become(cell(1, "item", 1), words(2, 1), state=state)
    assert [part.cell for part in again.single_values()] == [Cell(row=0, column="amount"), Cell(row=1, column="item")]


def test_a_table_has_more_cells_than_an_answer_has_values() -> None:
    many = become(*(cell(at, "item", at) for at in range(MOST_VALUES + 5)))
    assert len(many.values) == MOST_VALUES + 6
    with pytest.raises(Refused, match="at most 200 values"):
        become(EditAddValue(op="add_value", place=0), state=many)


def test_a_cell_is_read_as_its_column() -> None:
    item, amount = view_values(TABLE, row(), ["1.250,00", "1.250,00"], LocaleContext(locale="de-DE"))
    assert item.value == "1.250,00" and item.cell == Cell(row=0, column="item")
    assert amount.value == "1250" and amount.cell == Cell(row=0, column="amount")


def test_a_cell_of_a_column_that_is_no_more_has_no_value() -> None:
    fewer = TABLE.model_copy(update={"columns": COLUMNS[:1]})
    assert [view.value for view in view_values(fewer, row(), ["Pen", "5"], LocaleContext())] == ["Pen", None]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ([{"name": "a", "question": "A", "type": "table"}], "a table itself"),
        ([{"name": "a", "question": "A"}, {"name": "a", "question": "B"}], "given twice"),
        (
            [{"name": "a", "question": "A", "type": "number", "rules": [{"rule": "sum", "of": ["b"]}]}],
            "no other column",
        ),
    ],
)
def test_columns_that_cannot_be_are_refused(columns: list[dict[str, object]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        FieldDefinition.model_validate({"name": "t", "question": "T", "type": "table", "columns": columns})


def test_a_table_is_listed_by_the_number_of_its_rows(sqlite_workspace: Workspace) -> None:
    two = become(
        EditAddValue(op="add_value", place=2, cell=Cell(row=4, column="item")),
        EditWords(op="words", page="p", add=[2], place=2),
        state=row(),
    )
    with sqlite_workspace.database.read() as session:
        assert shown_texts(session, [row(), two, AnnotationState()]) == ["1 row", "2 rows", ""]
