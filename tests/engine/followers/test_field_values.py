"""Values of documents follow answers, words, proposals, fields and conventions; they equal computing from nothing."""

import random
import uuid
from typing import Any

import pytest
from sqlalchemy import select

from db.tables import Annotation, BrokenRules, FieldValue, ValueCount
from engine.annotation.change import state_of
from engine.annotation.conventions import remember_convention
from engine.annotation.removal import remove, restore
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import AnswerValue, Cell, PageMark, Patch
from engine.annotation.word_list import WordText
from engine.annotation.words import WordEditsRequest, edit_words
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext
from engine.fields.project_fields import replace_fields
from engine.followers import FollowerRunner, catch_up, checks
from engine.followers.counting_answers import CountingAnswer, FieldsOf
from engine.followers.value_cells import FLAGS, ValueRow, make_row, sort_key
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, judge, save
from tests.support.drift import find_drift
from tests.support.factories import pages_of
from tests.support.office import NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version, say

FIELDS = (
    FieldDefinition(name="number", question=NUMBER, required=True),
    FieldDefinition.model_validate(
        {
            "name": "total", "question": TOTAL, "type": "number", "rules": [{"rule": "range", "most": "11"}],
        }
    ),
)  # fmt: skip


def test_a_table_is_shown_and_sorted_by_the_number_of_its_rows() -> None:
    columns = [{"name": "item", "question": "Item"}, {"name": "amount", "question": "Amount", "type": "number"}]
    lines = FieldDefinition.model_validate(
        {"name": "lines", "question": "Which lines?", "type": "table", "columns": columns, "required": True}
    )

    def row(rows: int) -> ValueRow:
        mark = {"p": PageMark(words=[7], mask=Patch(box=(0, 0, 1, 1), counts=[0, 1]))}
        places = [Cell(row=at, column=name) for at in range(rows) for name in ("item", "amount")]
        cells = [AnswerValue(pages=mark, cell=place) for place in places]
        of_project = FieldsOf("p", {"q": lines}, LocaleContext())
        return make_row(of_project, {"q": CountingAnswer("draft", state_of(cells))}, {"q": ["7"] * len(cells)})

    nine, twelve, none = (row(number) for number in (9, 12, 0))
    assert (nine.cells["q"].shown, twelve.cells["q"].text, twelve.cells["q"].content) == ("9 rows", "12 rows", [12])
    assert nine.cells["q"].sort_key < twelve.cells["q"].sort_key and not twelve.broken
    assert none.cells["q"].state == "absent" and none.broken


@pytest.fixture
def office(workspace: Workspace) -> Office:
    office = Office(workspace)
    replace_fields(workspace, office.project.id, FIELDS, office.rita.id)
    office.set(review_required=True)
    catch_up(workspace)
    return office


def cell(workspace: Workspace, office: Office, name: str, document: int = 0) -> FieldValue:
    catch_up(workspace)
    question = next(field.question for field in FIELDS if field.name == name)
    with workspace.database.read() as session:
        return session.get_one(FieldValue, (office.documents[document].id, office.question(question)))


def found(workspace: Workspace, office: Office, name: str, flag: str) -> int:
    """How many documents a filter finds; name "": in any field."""
    catch_up(workspace)
    question = office.question(next(field.question for field in FIELDS if field.name == name)) if name else ""
    with workspace.database.read() as session:
        counted = session.get(ValueCount, (office.project.id, question, flag))
        return counted.documents if counted is not None else 0


def edit(workspace: Workspace, annotation: Annotation, person: str, action: str = "edit", **one: Any) -> None:
    with workspace.database.read() as session:
        head = session.get_one(Annotation, annotation.id).head
    edits = [one] if one else []
    request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=head, action=action, edits=edits)  # type: ignore[arg-type]
    append_revision(workspace, annotation.id, request, person)


def task_of(office: Office, name: str, document: int = 0) -> str:
    question = office.question(next(field.question for field in FIELDS if field.name == name))
    here = office.documents[document].id
    return next(each.id for each in office.tasks() if (each.document_id, each.question_id) == (here, question))


def test_a_document_without_answers_has_an_empty_cell_for_each_field(workspace: Workspace, office: Office) -> None:
    assert cell(workspace, office, "total").state == "empty"
    assert found(workspace, office, "total", "empty") == found(workspace, office, "", "empty") == 2
    assert found(workspace, office, "", "broken") == 0  # a required field that nobody has answered yet


def test_an_accepted_answer_counts_over_a_submitted_one(workspace: Workspace, office: Office) -> None:
    office.set(overlap_share=1.0, overlap_people=2)
    first = answer(workspace, task_of(office, "total"), office.ann, (4,))
    answer(workspace, task_of(office, "total"), office.ben, (1,))
    judge(workspace, first.id, office.rita, becomes_label=True)
    total = cell(workspace, office, "total")
    assert (total.annotation_id, total.status, total.state) == (first.id, "accepted", "value")
    assert (total.printed, total.shown, total.content, total.validated_by) == ("10.50", "10.5", ["10.5"], "person")


def test_a_stroke_of_a_draft_is_followed_without_marking_it_dirty(workspace: Workspace, office: Office) -> None:
    draft = begin(workspace, task_of(office, "total"), office.ann)
    assert cell(workspace, office, "total").state == "empty"  # only opened
    page = pages_of(workspace, office.documents[0].id)[0].id
    edit(workspace, draft, office.ann.id, op="words", page=page, add=[4])
    edit(workspace, draft, office.ann.id, op="text", text="10.90")
    total = cell(workspace, office, "total")
    assert (total.status, total.printed, total.text, total.content) == ("draft", "10.50", "10.90", ["10.9"])
    assert total.changed and total.validated_by == "rule"
    assert found(workspace, office, "total", "changed") == found(workspace, office, "", "changed") == 1


def test_a_cleared_answer_is_empty_and_says_nothing_of_the_document(workspace: Workspace, office: Office) -> None:
    draft = begin(workspace, task_of(office, "total"), office.ann)
    page = pages_of(workspace, office.documents[0].id)[0].id
    edit(workspace, draft, office.ann.id, op="words", page=page, add=[4])
    edit(workspace, draft, office.ann.id, op="clear", page=page)
    assert cell(workspace, office, "total").state == "empty"
    edit(workspace, draft, office.ann.id, op="no_answer", value=True)
    assert cell(workspace, office, "total").state == "absent"


def test_a_broken_rule_is_named_and_counted(workspace: Workspace, office: Office) -> None:
    for number in (0, 1):
        answer(workspace, task_of(office, "total", number), office.ann)
    assert not cell(workspace, office, "total", 0).broken
    assert cell(workspace, office, "total", 1).broken
    assert found(workspace, office, "total", "broken") == found(workspace, office, "", "broken") == 1
    with workspace.database.read() as session:
        [broken] = session.scalars(select(BrokenRules)).all()
    assert (broken.document_id, broken.number) == (office.documents[1].id, 1)
    assert broken.sentences == [{"field": "total", "sentence": "total (11.5) is above 11."}]


def test_corrected_words_change_the_value_of_an_answer_on_them(workspace: Workspace, office: Office) -> None:
    answer(workspace, task_of(office, "total"), office.ann)
    page = pages_of(workspace, office.documents[0].id)[0].id
    fix = WordEditsRequest(
        idempotency_key=uuid.uuid4().hex, base=0, edits=[WordText(op="text", number=4, text="10.70")]
    )
    edit_words(workspace, page, fix, office.ann.id)
    assert cell(workspace, office, "total").content == ["10.7"]


def test_a_proposal_counts_until_a_person_answers_and_after_a_removal(workspace: Workspace, office: Office) -> None:
    version = make_version(workspace, office.project.id)
    say(workspace, version, office.documents[0], TOTAL, (4,), score=0.5)
    total = cell(workspace, office, "total")
    assert total.status == "proposal" and total.confidence == pytest.approx(0.495)
    assert found(workspace, office, "total", "unsure") == found(workspace, office, "total", "proposed") == 1
    said = answer(workspace, task_of(office, "total"), office.ann, (1,))
    assert cell(workspace, office, "total").status == "submitted"
    remove(workspace, said.id, None, office.rita.id)
    assert cell(workspace, office, "total").status == "proposal"
    restore(workspace, said.id, office.rita.id)
    assert cell(workspace, office, "total").status == "submitted"


def test_another_type_of_a_field_reads_all_answers_again(workspace: Workspace, office: Office) -> None:
    answer(workspace, task_of(office, "number"), office.ann, (1,))
    assert cell(workspace, office, "number").state == "value"
    dated = FieldDefinition.model_validate({**FIELDS[0].model_dump(), "type": "date"})
    replace_fields(workspace, office.project.id, [dated, FIELDS[1]], office.rita.id)
    assert cell(workspace, office, "number").state == "unreadable"


def test_a_convention_decides_what_was_ambiguous(workspace: Workspace, office: Office) -> None:
    draft = begin(workspace, task_of(office, "total"), office.ann)
    page = pages_of(workspace, office.documents[0].id)[0].id
    edit(workspace, draft, office.ann.id, op="words", page=page, add=[4])
    edit(workspace, draft, office.ann.id, op="text", text="1.250")
    assert cell(workspace, office, "total").state == "ambiguous"
    remember_convention(workspace, office.project.id, {"decimal": "."}, office.rita.id)
    assert cell(workspace, office, "total").content == ["1.25"]
    remember_convention(workspace, office.project.id, {"decimal": None}, office.rita.id)
    assert cell(workspace, office, "total").state == "ambiguous"
    change_settings(workspace, office.project.id, locale="en-US")
    assert cell(workspace, office, "total").state != "ambiguous"


def test_numbers_sort_by_amount_and_dates_by_day() -> None:
    amounts = ["10", "-2", "0.001", "9", "0", "-1000.5", "1e30"]
    assert sorted(amounts, key=lambda one: sort_key(FIELDS[1], one)) == sorted(amounts, key=float)
    day = FieldDefinition.model_validate({"name": "day", "question": "When?", "type": "date"})
    mixed = ["2026-11-02", "1999-12-31", "2026-04-03"]
    assert sorted(mixed, key=lambda one: sort_key(day, one)) == sorted(mixed)


def test_a_server_gathers_strokes_in_a_pause_and_loses_none(workspace: Workspace, office: Office) -> None:
    runner = FollowerRunner(workspace)
    draft = begin(workspace, task_of(office, "total"), office.ann)
    page = pages_of(workspace, office.documents[0].id)[0].id
    while runner.look():
        pass
    for add in ([3], [4], [5]):
        edit(workspace, draft, office.ann.id, op="words", page=page, add=add)
        runner.look()
    assert not find_drift(workspace)
    assert cell(workspace, office, "total").printed == "due: 10.50 Customer:"
    runner.release()


@pytest.mark.parametrize("seed", (1, 2))
def test_values_equal_computing_from_nothing_after_a_mixed_history(
    workspace: Workspace, office: Office, seed: int
) -> None:
    rng = random.Random(seed)
    version = make_version(workspace, office.project.id)
    people = (office.ann, office.ben, office.rita)
    tasks, answers = office.tasks(), []
    for step in range(40):
        kind = rng.choice(("save", "save", "judge", "say", "remove", "words", "convention", "fields"))
        if kind == "save":
            person, task = rng.choice(people), rng.choice(tasks)
            given = begin(workspace, task.id, person)
            words = rng.choice(((4,), (1,), (), (3, 4)))
            save(workspace, given.id, person, words, action=rng.choice(("edit", "accept")))
            answers.append(given.id)
        elif kind == "judge" and answers:
            with workspace.database.read() as session:
                waiting = select(Annotation.id).where(Annotation.status == "submitted").order_by(Annotation.id)
                submitted = session.scalars(waiting).first()
            if submitted is not None:
                judge(workspace, submitted, office.rita, rng.choice(("accepted", "rejected")))
        elif kind == "say":
            words = rng.choice(((4,), (1,)))
            say(workspace, version, rng.choice(office.documents), rng.choice((NUMBER, TOTAL)), words)
        elif kind == "remove" and answers:
            with workspace.database.read() as session:
                standing = select(Annotation.id).where(Annotation.status != "removed").order_by(Annotation.id)
                there = session.scalars(standing).first()
            if there is not None:
                remove(workspace, there, None, office.rita.id)
                if rng.random() < 0.5:
                    restore(workspace, there, office.rita.id)
        elif kind == "convention":
            value = rng.choice((".", ",", None))
            remember_convention(workspace, office.project.id, {"decimal": value}, office.rita.id)
        elif kind == "fields":
            kept = FIELDS if step % 2 else FIELDS[:1]
            replace_fields(workspace, office.project.id, kept, office.rita.id)
        if step % 7 == 0:
            catch_up(workspace)
    assert not find_drift(workspace)
    with workspace.database.read() as session:
        rows = session.scalars(select(FieldValue)).all()
        assert len(rows) in (2, 4) and {row.state for row in rows} <= {"value", *FLAGS}
        before = sorted((row.document_id, row.question_id, row.state, row.shown) for row in rows)
    with workspace.database.write() as session:
        session.execute(FieldValue.__table__.delete())  # type: ignore[attr-defined]
    assert checks.find_mismatches(workspace, office.project.id)
    checks.rebuild(workspace, office.project.id)
    assert not find_drift(workspace)
    with workspace.database.read() as session:
        rows = session.scalars(select(FieldValue)).all()
        assert sorted((row.document_id, row.question_id, row.state, row.shown) for row in rows) == before
