"""Fields of a project: what becomes of standard questions; changes keep answers, and say what they touch."""

from typing import Any

import pytest
from sqlalchemy import select

from db.tables import Question, Revision, SurveyAnswer, Task
from engine.errors import Conflict, Refused
from engine.fields.definition import FieldDefinition
from engine.fields.kinds import kind_of_type, load_kinds
from engine.fields.names import name_of_question
from engine.fields.project_fields import (
    WantedField,
    field_versions,
    preview_changes,
    project_fields,
    replace_fields,
)
from engine.fields.ready_sets import READY_SETS, add_ready_set
from engine.fields.types import FieldType
from engine.followers import catch_up
from engine.projects.projects import change_settings
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer
from tests.support.factories import accept
from tests.support.office import NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version, say


def field(name: str, question: str, **parts: Any) -> FieldDefinition:
    return FieldDefinition(name=name, question=question, **parts)


def wanted(stored: Any, **changed: Any) -> WantedField:
    return WantedField(**(stored.definition.model_dump() | changed), id=stored.id)


def answer_task(office: Office, bill: int, question: str) -> None:
    with office.workspace.database.read() as session:
        chosen = select(Task.id).join(Question, Question.id == Task.question_id).where(Question.text == question)
        task = session.scalars(chosen.where(Task.document_id == office.documents[bill].id)).one()
    answer(office.workspace, task, office.ann)
    catch_up(office.workspace)


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def test_standard_questions_are_fields_of_type_string_with_names(office: Office) -> None:
    fields = project_fields(office.workspace, office.project.id)
    assert [(each.question, each.type, each.version) for each in fields] == [
        (text, FieldType.STRING, 1) for text in (NUMBER, TOTAL)
    ]
    assert all(each.name == name_of_question(each.question, ()) for each in fields)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is the invoice number?", "invoice_number"),
        ("Who is the supplier?", "supplier"),
        ("Total", "total"),
        ("Welches Datum trägt die Rechnung?", "welches_datum_tragt_die_rechnung"),
        ("請求書番号は？", "field_1"),
        ("2024 budget", "field_2024_budget"),
        ("What is the invoice no.?", "invoice_no"),
    ],
)
def test_names_are_made_of_questions(question: str, name: str) -> None:
    assert name_of_question(question, ()) == name
    assert name_of_question(question, {name}) not in ("", name)


def test_a_reworded_and_renamed_field_keeps_its_answers_and_is_asked_anew(office: Office) -> None:
    workspace, project_id = office.workspace, office.project.id
    answer_task(office, 0, TOTAL)
    before = project_fields(workspace, project_id)
    total = next(each for each in before if each.question == TOTAL)
    listed = [
        wanted(each, name="amount", question="How much is due?", type=FieldType.CURRENCY)
        if each.id == total.id
        else each
        for each in before
    ]
    changes = preview_changes(workspace, project_id, listed)
    assert [(each.name, each.kind, each.documents) for each in changes] == [("amount", "changed", 1)]
    assert "under the name amount" in changes[0].sentence and "made anew" in changes[0].sentence
    assert project_fields(workspace, project_id) == before  # nothing is saved by a look
    after = replace_fields(workspace, project_id, listed, office.rita.id)
    changed = next(each for each in after if each.id == total.id)
    assert (changed.name, changed.question, changed.version) == ("amount", "How much is due?", 2)
    with workspace.database.read() as session:
        question = session.get_one(Question, total.id)
        assert (question.text, question.documents) == ("How much is due?", 1)
        revision = session.scalars(select(Revision).order_by(Revision.number)).first()
        assert revision is not None and revision.field_version == 1
        assert session.scalar(select(SurveyAnswer).where(SurveyAnswer.question_id == total.id)) is None
    answer_task(office, 1, "How much is due?")
    with workspace.database.read() as session:
        assert max(row.field_version or 0 for row in session.scalars(select(Revision))) == 2
    versions = field_versions(workspace, project_id, total.id)
    assert [(each.number, each.definition["name"]) for each in versions] == [(2, "amount"), (1, total.name)]


@pytest.mark.parametrize(
    ("before", "after", "asked_anew"),
    [
        (FieldType.STRING, FieldType.CURRENCY, True),
        (FieldType.CURRENCY, FieldType.STRING, True),
        (FieldType.NUMBER, FieldType.DATE, True),
        (FieldType.NUMBER, FieldType.INTEGER, False),
        (FieldType.STRING, FieldType.SIGNATURE, False),
    ],
)
def test_a_type_of_another_kind_has_the_model_asked_anew(
    office: Office, before: FieldType, after: FieldType, asked_anew: bool
) -> None:
    workspace, project_id, by = office.workspace, office.project.id, office.rita.id
    total = next(each for each in project_fields(workspace, project_id) if each.question == TOTAL)
    [stored] = replace_fields(workspace, project_id, [wanted(total, type=before)], by)
    say(workspace, make_version(workspace, project_id), office.documents[0], TOTAL)
    [change] = preview_changes(workspace, project_id, [wanted(stored, type=after)])
    assert ("asked everywhere again" in change.sentence) is asked_anew
    replace_fields(workspace, project_id, [wanted(stored, type=after)], by)
    with workspace.database.read() as session:
        left = session.scalars(select(SurveyAnswer).where(SurveyAnswer.question_id == total.id)).all()
        kinds = load_kinds(session, [total.id])
    assert len(left) == (0 if asked_anew else 1)
    assert kinds.get(total.id) is kind_of_type(after)


def test_a_question_that_is_no_field_any_more_wants_no_kind(office: Office) -> None:
    workspace, project_id, by = office.workspace, office.project.id, office.rita.id
    total = next(each for each in project_fields(workspace, project_id) if each.question == TOTAL)
    replace_fields(workspace, project_id, [wanted(total, type=FieldType.DATE)], by)
    replace_fields(workspace, project_id, [], by)
    with workspace.database.read() as session:
        assert load_kinds(session, [total.id]) == {}


def test_a_field_that_comes_back_has_its_type_and_its_answers(office: Office) -> None:
    workspace, project_id, by = office.workspace, office.project.id, office.rita.id
    fields = project_fields(workspace, project_id)
    total = next(each for each in fields if each.question == TOTAL)
    replace_fields(workspace, project_id, [wanted(total, type=FieldType.CURRENCY, currency="EUR")], by)
    answer_task(office, 0, TOTAL)
    [removal] = preview_changes(workspace, project_id, [])
    assert (removal.kind, removal.documents) == ("removed", 1) and "come back" in removal.sentence
    replace_fields(workspace, project_id, [], by)
    with workspace.database.read() as session:
        assert all(task.closed_at is not None for task in session.scalars(select(Task)))
    replace_standard_questions(workspace, project_id, ["Who wrote the total?", TOTAL], by)
    back = project_fields(workspace, project_id)[1]
    assert (back.id, back.type, back.currency, back.version) == (total.id, FieldType.CURRENCY, "EUR", 2)


def test_names_change_places(office: Office) -> None:
    fields = project_fields(office.workspace, office.project.id)
    first, second, *others = fields
    listed = [wanted(first, name=second.name), wanted(second, name=first.name), *others]
    after = replace_fields(office.workspace, office.project.id, listed, office.rita.id)
    assert [(each.id, each.name) for each in after[:2]] == [(first.id, second.name), (second.id, first.name)]


def test_a_list_of_somebody_else_is_not_overwritten(office: Office) -> None:
    workspace, project_id, by = office.workspace, office.project.id, office.rita.id
    seen = project_fields(workspace, project_id)
    replace_fields(workspace, project_id, [wanted(seen[0], required=True), *seen[1:]], by)
    with pytest.raises(Conflict, match=f"changed {seen[0].name} meanwhile"):
        replace_fields(workspace, project_id, [], by, before={each.id: each.version for each in seen})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([field("a", "One?"), field("a", "Two?")], "name a is given twice"),
        ([field("a", "One?"), field("b", "One?")], "listed twice"),
        ([field("a", " ")], "is empty"),
        (
            [field("a", "One?", type="currency", rules=[{"rule": "sum", "of": ["b"]}])],
            "names the field b, which the list does not have",
        ),
        ([field("a", "Left to right \u202e?")], "invisible character"),
    ],
)
def test_a_bad_list_is_refused_in_a_sentence(workspace: Workspace, fields: list[FieldDefinition], why: str) -> None:
    office = Office(workspace)
    before = project_fields(workspace, office.project.id)
    with pytest.raises(Refused, match=why):
        replace_fields(workspace, office.project.id, fields, office.rita.id)
    assert project_fields(workspace, office.project.id) == before


def test_the_wording_of_another_question_is_refused(office: Office) -> None:
    workspace, project_id, by = office.workspace, office.project.id, office.rita.id
    accept(workspace, office.documents[0], "Who signed it?", [1])  # a free question
    first, *others = project_fields(workspace, project_id)
    with pytest.raises(Refused, match="already, with answers of its own"):
        replace_fields(workspace, project_id, [wanted(first, question="Who signed it?"), *others], by)


@pytest.mark.parametrize("name", READY_SETS)
def test_a_ready_set_opens_its_tasks(sqlite_workspace: Workspace, name: str) -> None:
    office = Office(sqlite_workspace)
    listed = replace_fields(sqlite_workspace, office.project.id, READY_SETS[name].fields, office.rita.id)
    assert [each.definition for each in listed] == list(READY_SETS[name].fields)
    with sqlite_workspace.database.read() as session:
        tasks = session.scalars(select(Task).where(Task.closed_at.is_(None))).all()
    assert len(tasks) == len(listed) * len(office.documents)


def test_a_ready_set_is_added_without_what_the_list_has() -> None:
    own = [field("invoice_date", "Which day?"), field("sum", "What is the total amount?")]
    joined = add_ready_set(own, READY_SETS["invoice"])
    assert joined[:2] == own and len(joined) == 2 + len(READY_SETS["invoice"].fields) - 2
    assert next(each for each in joined if each.name == "due_date").rules  # its rule names a field that is there
    contract = add_ready_set([field("begin", "What is the start date?")], READY_SETS["contract"])
    assert next(each for each in contract if each.name == "end_date").rules == ()


def test_a_changed_line_of_the_plain_list_is_another_question(office: Office) -> None:
    workspace, project_id = office.workspace, office.project.id
    answer_task(office, 0, TOTAL)
    before = next(each for each in project_fields(workspace, project_id) if each.question == TOTAL)
    replace_standard_questions(workspace, project_id, [NUMBER, "What's the total due?"], office.rita.id)
    after = project_fields(workspace, project_id)[1]
    assert after.id != before.id and after.name != before.name
    with workspace.database.read() as session:
        assert session.get_one(Question, before.id).text == TOTAL


def test_texts_that_no_database_stores_are_cleaned(office: Office) -> None:
    choices = [{"value": "a\0b", "names": ["c\0"]}]
    kind = FieldDefinition(name="kind", question="Which\0 kind?", type="choice", choices=choices, examples=["\0x"])
    [stored] = replace_fields(office.workspace, office.project.id, [kind], office.rita.id)
    assert "\0" not in stored.model_dump_json().replace("\\u0000", "\0")
    with pytest.raises(Refused, match="conventions"):
        change_settings(office.workspace, office.project.id, conventions={"decimal": "\0"})
