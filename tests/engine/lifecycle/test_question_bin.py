"""Removed questions take exactly their answers along and come back with these, on both databases."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select

from db.tables import Annotation, FieldValue, Question, Task
from engine import audit
from engine.annotation import removal
from engine.datasets.filters import Filters
from engine.errors import Conflict, NotFound, Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import WantedField, project_fields, replace_fields
from engine.interchange.exports import export
from engine.lifecycle import bin as document_bin
from engine.lifecycle import question_bin, question_erasing
from engine.queries import lock_question
from engine.tasks.asked_questions import asked_questions
from engine.tasks.opening import task_changes
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, judge, save
from tests.support.drift import find_drift
from tests.support.exported_project import hashes
from tests.support.factories import accept
from tests.support.mistakes import EVERY, Mistakes
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.two_at_once import POSTGRESQL, overlapping

pytestmark = pytest.mark.usefixtures("figures_at_once")


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def statuses(office: Office, question_id: str) -> dict[str, str]:
    """Return the statuses of the answers to a question, by answer."""
    with office.workspace.database.read() as session:
        chosen = select(Annotation.id, Annotation.status).where(Annotation.question_id == question_id)
        return dict(session.execute(chosen).tuples().all())


def test_a_question_comes_back_with_everything_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    mistakes = Mistakes(workspace)
    mistakes.make()
    project = mistakes.project.id

    def read(name: str) -> tuple[dict[str, object], dict[str, str]]:
        chosen = Filters(statuses=EVERY, unfit=True)
        export(workspace, project, "grounded", tmp_path / name, filters=chosen)
        return dict(mistakes.readings()), hashes(tmp_path / name)

    with workspace.database.read() as session:
        asked = select(Question.id, Question.text).where(Question.project_id == project).order_by(Question.id)
        questions = dict(session.execute(asked).tuples().all())
    before = read("before")
    assert question_bin.remove_questions(workspace, project, list(questions), mistakes.rita.id) == list(questions)
    assert find_drift(workspace) == []
    assert (asked_questions(workspace, project), project_fields(workspace, project)) == ([], [])
    with workspace.database.read() as session:
        assert set(session.scalars(select(Annotation.status))) == {"removed"}
        assert set(session.scalars(select(Task.state))) == {"closed"}
        assert session.scalar(select(func.count()).select_from(FieldValue)) == 0
    assert question_bin.restore_questions(workspace, project, list(questions), mistakes.rita.id) == list(questions)
    assert find_drift(workspace) == []
    readings, exported = read("after")
    assert [name for name, reading in readings.items() if reading != before[0][name]] == []
    assert exported == before[1]


def test_answers_that_were_removed_before_stay_removed(office: Office) -> None:
    workspace, project, question = office.workspace, office.project.id, office.question(NUMBER)
    first, second = (task.id for task in office.tasks() if task.question_id == question)
    kept, mistaken = answer(workspace, first, office.ann), answer(workspace, second, office.ann)
    removal.remove(workspace, mistaken.id, None, office.ann.id)
    assert question_bin.question_holdings(workspace, project, question) == question_bin.QuestionHoldings(
        question, NUMBER, answers=1, people=1, values=1, tasks=2
    )
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    with pytest.raises(Conflict, match="lies in the bin"):
        removal.restore(workspace, mistaken.id, office.ann.id)
    question_bin.restore_questions(workspace, project, [question], office.rita.id)
    assert statuses(office, question) == {kept.id: "accepted", mistaken.id: "removed"}
    removal.restore(workspace, mistaken.id, office.ann.id)
    assert statuses(office, question)[mistaken.id] == "accepted"


def test_a_question_in_the_bin_is_not_asked(office: Office) -> None:
    workspace, project, question = office.workspace, office.project.id, office.question(NUMBER)
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    with (
        workspace.database.write() as session,
        pytest.raises(Conflict, match='"What is the bill number\\?" was removed'),
    ):
        lock_question(session, session.get_one(Question, question))
    with pytest.raises(Refused, match=r"lies in the bin with its answers. Restore it there"):
        office.ask(NUMBER, TOTAL)


def test_who_saves_during_a_removal_finds_the_answer_in_the_bin(office: Office) -> None:
    workspace, project, question = office.workspace, office.project.id, office.question(NUMBER)
    first, second = (task.id for task in office.tasks() if task.question_id == question)
    drafts = [begin(workspace, task, office.ann) for task in (first, second)]
    outcomes: list[str] = []

    def work() -> None:
        for _ in range(20):
            for draft in drafts:
                try:
                    save(workspace, draft.id, office.ann, action="edit")
                    outcomes.append("saved")
                except NotFound:
                    outcomes.append("gone")

    working = threading.Thread(target=work)
    working.start()
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    working.join(60)
    saved = outcomes.count("saved")
    assert len(outcomes) == 40 and "gone" in outcomes[-2:]
    question_bin.restore_questions(workspace, project, [question], office.rita.id)
    with workspace.database.read() as session:
        heads = session.scalars(select(Annotation.head).where(Annotation.question_id == question)).all()
    assert (sum(heads), set(statuses(office, question).values())) == (saved, {"draft"})


def test_who_asks_during_a_removal_is_removed_with_it_or_refused(office: Office) -> None:
    workspace, project, question = office.workspace, office.project.id, office.question(NUMBER)
    asking, removed = threading.Event(), threading.Event()
    refused: list[str] = []

    def ask() -> None:
        with workspace.database.write() as session:
            lock_question(session, session.get_one(Question, question))
            asking.set()
            session.add(
                Annotation(
                    project_id=project,
                    document_id=office.documents[0].id,
                    question_id=question,
                    author_id=office.ann.id,
                )
            )
        removed.wait(20)
        with workspace.database.write() as session:
            try:
                lock_question(session, session.get_one(Question, question))
            except Conflict as conflict:
                refused.append(str(conflict))

    person = threading.Thread(target=ask)
    person.start()
    asking.wait(20)
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    removed.set()
    person.join(20)
    assert (list(statuses(office, question).values()), len(refused)) == (["removed"], 1)


@pytest.mark.usefixtures("one_document_a_batch")
def test_in_a_large_project_answers_follow_in_batches_and_an_undo_meanwhile_wins(workspace: Workspace) -> None:
    office = Office(workspace, bills=4)
    project = office.project.id
    task_changes.work_off(workspace, project)
    question = office.question(NUMBER)
    given = [answer(workspace, task.id, office.ann) for task in office.tasks() if task.question_id == question]
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    assert sorted(statuses(office, question).values()) == ["accepted"] * 3 + ["removed"]
    assert [line.id for line in asked_questions(workspace, project)] == []
    [line] = question_bin.list_removed_questions(workspace, project)
    assert (line.answers, line.tasks) == (4, 4)
    question_bin.restore_questions(workspace, project, [question], office.rita.id)
    assert not task_changes.work_off(workspace, project)
    assert statuses(office, question) == {each.id: "accepted" for each in given}
    assert find_drift(workspace) == []


@pytest.mark.usefixtures("one_document_a_batch")
def test_of_two_answers_that_went_with_a_question_the_newest_comes_back(office: Office) -> None:
    workspace, project, question = office.workspace, office.project.id, office.question(NUMBER)
    task_changes.work_off(workspace, project)
    task = [task.id for task in office.tasks() if task.question_id == question][-1]  # of the last document
    old = answer(workspace, task, office.ann)
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    task_changes.work_off(workspace, project)
    question_bin.restore_questions(workspace, project, [question], office.rita.id)
    new = begin(workspace, task, office.ann)  # before the answers of the document are back
    assert statuses(office, question) == {old.id: "removed", new.id: "draft"}
    for change in (question_bin.remove_questions, question_bin.restore_questions):
        change(workspace, project, [question], office.rita.id)
        assert not task_changes.work_off(workspace, project)
    assert statuses(office, question) == {old.id: "removed", new.id: "draft"}
    removal.remove(workspace, new.id, None, office.ann.id)
    removal.restore(workspace, old.id, office.ann.id)
    assert statuses(office, question) == {old.id: "accepted", new.id: "removed"}
    assert find_drift(workspace) == []


@POSTGRESQL
def test_a_question_that_is_being_restored_is_not_deleted(workspace: Workspace) -> None:
    office = Office(workspace)
    project, question = office.project.id, office.question(NUMBER)
    given = answer(workspace, next(task.id for task in office.tasks() if task.question_id == question), office.ann)
    question_bin.remove_questions(workspace, project, [question], office.rita.id)

    def delete() -> int:
        question_erasing.mark_questions(workspace, project, None, office.rita.id)
        return question_erasing.erase_marked_questions(workspace)

    assert overlapping(
        workspace,
        lambda: question_bin.restore_questions(workspace, project, [question], office.rita.id),
        delete,
        at="before_flush",
    ) == ([question], 0)
    assert statuses(office, question) == {given.id: "accepted"}


def test_answers_of_documents_in_their_bin_follow_when_these_come_back(office: Office) -> None:
    workspace, project, question = office.workspace, office.project.id, office.question(NUMBER)
    first, second = (task for task in office.tasks() if task.question_id == question)
    early, late = (answer(workspace, task.id, office.ann).id for task in (first, second))
    document_bin.remove(workspace, project, [first.document_id], None)
    question_bin.remove_questions(workspace, project, [question], office.rita.id)
    assert statuses(office, question) == {early: "accepted", late: "removed"}
    document_bin.remove(workspace, project, [second.document_id], None)
    document_bin.restore(workspace, project, [first.document_id], None)
    assert statuses(office, question)[early] == "removed"
    question_bin.restore_questions(workspace, project, [question], office.rita.id)
    assert statuses(office, question) == {early: "accepted", late: "removed"}
    document_bin.restore(workspace, project, [second.document_id], None)
    assert statuses(office, question) == {early: "accepted", late: "accepted"}
    assert find_drift(workspace) == []


def test_a_field_keeps_its_name_and_place_unless_another_one_took_the_name(office: Office) -> None:
    workspace, project, rita = office.workspace, office.project.id, office.rita.id
    office.ask(NUMBER, TOTAL, CUSTOMER)
    before = project_fields(workspace, project)
    total = before[1]
    question_bin.remove_questions(workspace, project, [total.id], rita)
    question_bin.restore_questions(workspace, project, [total.id], rita)
    assert project_fields(workspace, project) == before
    question_bin.remove_questions(workspace, project, [total.id], rita)
    other = FieldDefinition(name=total.name, question="Which sum?")
    kept = [WantedField(**each.definition.model_dump(), id=each.id) for each in (before[0], before[2])]
    replace_fields(workspace, project, [*kept, other], rita)
    with pytest.raises(Conflict, match=f"Another field is named {total.name} by now"):
        question_bin.restore_questions(workspace, project, [total.id], rita)


def test_a_field_that_a_rule_names_stays(office: Office) -> None:
    workspace, project, rita = office.workspace, office.project.id, office.rita.id
    fields = [
        FieldDefinition(name="net", question="What is net?", type="number"),
        FieldDefinition(name="vat", question="What is the tax?", type="number"),
        FieldDefinition(name="gross", question=TOTAL, type="number", rules=[{"rule": "sum", "of": ["net", "vat"]}]),
    ]
    net, _, gross = replace_fields(workspace, project, fields, rita)
    with pytest.raises(Refused, match="A rule of gross names the field net"):
        question_bin.remove_questions(workspace, project, [net.id], rita)
    assert question_bin.remove_questions(workspace, project, [net.id, gross.id], rita)


def test_the_bin_is_audited_and_lists_the_last_first_in_pages(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    judge(workspace, accept(workspace, office.documents[0], "Which words?", [2], author="Ann").id, office.rita)
    free = office.question("Which words?")
    number = office.question(NUMBER)
    assert question_bin.remove_questions(workspace, project, [number, number], office.rita.id) == [number]
    assert question_bin.remove_questions(workspace, project, [number, free], None) == [free]
    page = question_bin.list_removed_questions(workspace, project, limit=1)
    rest = question_bin.list_removed_questions(workspace, project, limit=1, cursor=page.next)
    assert [(line.text, line.standard, line.answers, line.tasks, line.removed_by) for line in (*page, *rest)] == [
        ("Which words?", False, 1, 0, None),
        (NUMBER, True, 0, 2, "Rita"),
    ]
    assert (rest[0].deleted_at - rest[0].removed_at).days == workspace.settings.bin_days
    assert question_bin.restore_questions(workspace, project, [number], office.rita.id) == [number]
    assert question_bin.restore_questions(workspace, project, [number], office.rita.id) == []
    assert question_bin.count_removed_questions(workspace, project) == 1
    assert [entry.what for entry in audit.entries(workspace, project)][:3] == [
        f"restored the question {NUMBER} with its answers from the bin",
        "removed the question Which words? with its answers into the bin",
        f"removed the question {NUMBER} with its answers into the bin",
    ]
    with pytest.raises(NotFound, match="1 question of the request"):
        question_bin.remove_questions(workspace, project, [number, "0" * 32], None)
