"""Answers to fields have typed values, which follow what people say of the text."""

from collections.abc import Callable

import pytest

from db.tables import Document, User
from engine.annotation.conventions import remember_convention
from engine.annotation.edits import EditReading, EditText, EditWords
from engine.annotation.revisions import RevisionRequest, Saved, append_revision
from engine.annotation.state import PickedReading
from engine.annotation.views import annotation_lines, annotation_view
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.projects.projects import project_named
from engine.workspace import Workspace
from tests.support.annotators import make_person
from tests.support.factories import accept, line, make_document, make_project, pages_of

DATE = FieldDefinition(name="issued", question="What is the date?", type="date")
Save = Callable[..., Saved]


@pytest.fixture
def rita(workspace: Workspace) -> User:
    project = make_project(workspace)
    person = make_person(workspace, "Rita", project.id, "reviewer")
    replace_fields(workspace, project.id, [DATE], person.id)
    return person


@pytest.fixture
def paper(workspace: Workspace, rita: User) -> Document:
    project = project_named(workspace, "bills")
    return make_document(workspace, project.id, [line("03/04/26 Berlin", y=20)], name="paper.png")


@pytest.fixture
def save(workspace: Workspace, rita: User, paper: Document) -> tuple[str, Save]:
    answer = accept(workspace, paper, DATE.question, [1], author="Rita")
    base = 1

    def append(*edits: object) -> Saved:
        nonlocal base
        request = RevisionRequest(idempotency_key=f"key-{base:08}", base=base, edits=list(edits))  # type: ignore[arg-type]
        saved = append_revision(workspace, answer.id, request, rita.id)
        base = saved.revision
        return saved

    return answer.id, append


def test_a_save_returns_the_value_or_its_readings(
    workspace: Workspace, paper: Document, save: tuple[str, Save]
) -> None:
    answer, append = save
    [page] = pages_of(workspace, paper.id)
    [value] = append(EditWords(op="words", page=page.id, add=[0], remove=[1])).values
    assert (value.printed, value.value, value.corrected) == ("03/04/26", None, False)
    assert [reading.value for reading in value.readings] == ["2026-04-03", "2026-03-04", "2003-04-26"]
    [value] = append(EditReading(op="reading", reading=PickedReading(value="2026-03-04"))).values
    assert (value.value, value.rule, value.corrected, value.readings) == ("2026-03-04", "person", True, [])
    assert annotation_view(workspace, answer).values == [value]


def test_a_corrected_text_is_read_and_the_printed_one_stays(
    workspace: Workspace, paper: Document, save: tuple[str, Save]
) -> None:
    _, append = save
    [value] = append(EditText(op="text", text="4 March 2026")).values
    assert (value.printed, value.text, value.value) == ("Berlin", "4 March 2026", "2026-03-04")
    [row] = annotation_lines(workspace, paper.id)
    assert row.text == "4 March 2026"
    [value] = append(EditText(op="text", text=None)).values
    assert value.value is None and value.reason


def test_a_pick_that_does_not_fit_the_type_is_passed_over(save: tuple[str, Save]) -> None:
    _, append = save
    append(EditText(op="text", text="4 March 2026"))
    [value] = append(EditReading(op="reading", reading=PickedReading(value="tomorrow"))).values
    assert (value.value, value.rule == "person") == ("2026-03-04", False)


def test_a_remembered_convention_decides_and_can_be_forgotten(
    workspace: Workspace, rita: User, paper: Document, save: tuple[str, Save]
) -> None:
    answer, append = save
    append(EditText(op="text", text="03/04/26"))
    assert remember_convention(workspace, paper.project_id, {"date_order": "DMY"}, rita.id).conventions == {
        "date_order": "DMY"
    }
    assert [value.value for value in annotation_view(workspace, answer).values] == ["2026-04-03"]
    assert remember_convention(workspace, paper.project_id, {"date_order": None}, rita.id).conventions == {}
    assert [value.value for value in annotation_view(workspace, answer).values] == [None]


def test_characters_that_no_database_stores_are_left_out(save: tuple[str, Save]) -> None:
    _, append = save
    saved = append(EditText(op="text", text="4 March\0 2026"))
    assert saved.values[0].text == "4 March 2026"
    picked = PickedReading(value="2026-\ud80003-04", convention={"date\0_order": "DMY"})
    assert (picked.value, picked.convention) == ("2026-?03-04", {"date_order": "DMY"})
    with pytest.raises(ValueError, match="at most"):
        PickedReading(value="1" * 3000)
