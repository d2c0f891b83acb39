"""Of a question that is deleted for good nothing is left, and nothing else is touched, on both databases."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from db.base import Base, now
from db.tables import Annotation, Question, RemovedQuestion, Revision, Task, WebhookDelivery
from engine import audit
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.datasets.freezes import freezing
from engine.datasets.manifest import items_of
from engine.errors import Conflict, NotFound
from engine.fields.project_fields import WantedField, project_fields, replace_fields
from engine.interchange import export_jobs
from engine.jobs import queue
from engine.lifecycle import bin as document_bin
from engine.lifecycle import question_bin, question_erasing, traces
from engine.lifecycle.bins import _looked_at
from engine.lifecycle.snapshot_removal import remove_snapshot
from engine.tasks.tasks import set_gold
from engine.workspace import Workspace
from tests.support.annotators import answer, judge
from tests.support.drift import find_drift
from tests.support.factories import accept
from tests.support.left_behind import columns_with, files_with
from tests.support.mistakes import Mistakes
from tests.support.office import NUMBER, TOTAL, Office

pytestmark = pytest.mark.usefixtures("figures_at_once")

SECRET, REASON, SAID = "Which Zebrafink owes it?", "Ocelotish mark", "Quokkaworth"
EARLIER = "Whom does the Okapibird owe?"
SIGNS = (SECRET, EARLIER, REASON, SAID)


def say(workspace: Workspace, annotation_id: str) -> None:
    """Let the newest revision hold a text that stands nowhere else."""
    with workspace.database.write() as session:
        head = select(Revision).where(Revision.annotation_id == annotation_id).order_by(Revision.number.desc())
        revision = session.scalars(head.limit(1)).one()
        revision.edits = [*revision.edits, {"op": "text", "value": SAID}]


def reword(office: Office, before: str, after: str) -> None:
    """Let a standard question have another text."""
    wanted = []
    for field in project_fields(office.workspace, office.project.id):
        definition = field.definition.model_dump()
        if definition["question"] == before:
            definition["question"] = after
        wanted.append(WantedField(**definition, id=field.id))
    replace_fields(office.workspace, office.project.id, wanted, office.rita.id)


def erase(office: Office, *questions: str) -> list[str]:
    workspace, project = office.workspace, office.project.id
    question_bin.remove_questions(workspace, project, list(questions), office.rita.id)
    stays = question_erasing.mark_questions(workspace, project, list(questions), office.rita.id).stays
    assert question_erasing.erase_marked_questions(workspace) == len(questions)
    assert traces.wipe(workspace.database)
    return stays


def test_nothing_of_a_question_is_left_in_any_column_or_file(workspace: Workspace) -> None:
    office = Office(workspace, questions=(EARLIER, TOTAL))
    reword(office, EARLIER, SECRET)
    project, question = office.project.id, office.question(SECRET)
    first, second = (task for task in office.tasks() if task.question_id == question)
    judge(workspace, answer(workspace, first.id, office.ann).id, office.rita, "rejected", reason=REASON)
    right = answer(workspace, second.id, office.ann, [3])
    judge(workspace, right.id, office.rita, reason=REASON)
    set_gold(workspace, second.id, right.id, office.rita.id)
    say(workspace, right.id)
    kept = answer(workspace, next(task.id for task in office.tasks() if task.question_id != question), office.ann)
    with workspace.database.write() as session:
        body = f'{{"question": {{"id": "{question}", "text": "{SECRET}"}}}}'
        delivery = {"url": "https://webhooks.invalid/", "event": "answer.accepted", "key": right.id, "body": body}
        session.add(WebhookDelivery(project_id=project, forgets=False, **delivery))
    some = Filters(questions=(SECRET, TOTAL))
    asked = export_jobs.request(workspace, project, form="csv", filters=some, snapshot=None, user_id=office.ann.id)
    document_bin.remove(workspace, project, [first.document_id], None)
    columns = set(columns_with(workspace, SIGNS))
    assert {"questions.text", "field_versions.definition", "jobs.payload", "reviews.reason"} <= columns
    assert {"revisions.edits", "audit_entries.details"} <= columns
    assert files_with(workspace, [sign.encode() for sign in SIGNS]) or workspace.database.dialect != "sqlite"
    assert erase(office, question) == []
    assert columns_with(workspace, SIGNS) == []
    assert files_with(workspace, [sign.encode() for sign in SIGNS]) == []
    assert find_drift(workspace) == []
    with workspace.database.read() as session:
        assert session.get_one(Annotation, kept.id).status == "accepted"
        assert session.scalar(select(Task.id).where(Task.question_id == question)) is None
    filters = export_jobs.filters_of(queue.job_by_id(workspace, asked.id))
    assert filters.questions == (question_erasing.DELETED, TOTAL)
    document_bin.restore(workspace, project, [first.document_id], None)
    assert find_drift(workspace) == []
    assert [entry.what for entry in audit.entries(workspace, project)][1:3] == [
        "deleted 1 question from the bin for good, with all answers",
        f"removed the question {question_erasing.DELETED} with its answers into the bin",
    ]


def test_an_earlier_text_that_another_question_has_stays_in_the_audit_trail(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(EARLIER,))
    reword(office, EARLIER, SECRET)
    office.ask(EARLIER)
    erase(office, office.question(SECRET))
    said = "".join(entry.what for entry in audit.entries(workspace, office.project.id))
    assert EARLIER in said and SECRET not in said


def test_a_project_at_work_loses_its_questions_and_keeps_its_sums(workspace: Workspace) -> None:
    mistakes = Mistakes(workspace)
    mistakes.make()
    project = mistakes.project.id
    with workspace.database.read() as session:
        asked = select(Question.id, Question.standard).where(Question.project_id == project).order_by(Question.id)
        questions = session.execute(asked).tuples().all()
    gone = [next(key for key, standard in questions if standard is which) for which in (True, False)]
    question_bin.remove_questions(workspace, project, gone, mistakes.rita.id)
    before = mistakes.readings()
    question_erasing.mark_questions(workspace, project, None, mistakes.rita.id)
    assert question_erasing.erase_marked_questions(workspace) == 2
    assert find_drift(workspace) == []
    after = mistakes.readings()
    # Tasks that were closed are gone; how right the model was no longer knows its answers to these questions.
    assert {name for name in before if before[name] != after[name]} <= {"tasks", "stage"}


def test_snapshots_keep_answers_and_a_sentence_says_so(workspace: Workspace) -> None:
    office = Office(workspace, bills=1)
    project = office.project.id
    accept(workspace, office.documents[0], SECRET, [4])
    snapshot = snapshots.freeze(workspace, project)
    question = office.question(SECRET)
    assert erase(office, question) == [
        f'Answers to the question "{SECRET}" stay in the snapshot {snapshot.sha256[:12]} of '
        f"{snapshot.created_at:%Y-%m-%d}, until that is removed."
    ]
    assert [item.question for item in items_of(workspace, snapshot.sha256)] == [SECRET]
    remove_snapshot(workspace, project, snapshot.sha256, None)
    assert columns_with(workspace, [SECRET]) == []


def test_a_chosen_question_is_not_restored_and_waits_for_a_freeze(workspace: Workspace) -> None:
    office = Office(workspace)
    project, question = office.project.id, office.question(TOTAL)
    question_bin.remove_questions(workspace, project, [question], None)
    assert question_erasing.mark_questions(workspace, project, None, None).questions == [question]
    with pytest.raises(Conflict, match="is being deleted"):
        question_bin.restore_questions(workspace, project, [question], None)
    with freezing(workspace.database, project):
        assert question_erasing.erase_marked_questions(workspace) == 0
    assert question_erasing.erase_marked_questions(workspace) == 1
    with pytest.raises(NotFound):
        question_bin.restore_questions(workspace, project, [question], None)


def test_a_worker_deletes_what_has_been_in_the_bin_for_its_days(workspace: Workspace) -> None:
    office = Office(workspace, bills=1)
    project, old, new = office.project.id, *(office.question(text) for text in (TOTAL, NUMBER))
    question_bin.remove_questions(workspace, project, [old, new], None)
    days = timedelta(days=workspace.settings.bin_days, hours=1)
    with workspace.database.write() as session:
        aged = update(RemovedQuestion).where(RemovedQuestion.question_id == old).values(removed_at=now() - days)
        session.execute(aged)
    _looked_at.clear()
    question_erasing.look_after(workspace)
    assert [line.id for line in question_bin.list_removed_questions(workspace, project)] == [new]
    with workspace.database.read() as session:
        assert session.get(Question, old) is None


def test_each_table_with_rows_of_a_question_is_emptied() -> None:
    of_questions = {
        table.name
        for table in Base.metadata.sorted_tables
        if any(key.column.table.name in ("questions", "tasks", "annotations", "fields") for key in table.foreign_keys)
    }
    assert of_questions <= question_erasing.TABLES
    named = {table.name for table in Base.metadata.sorted_tables if "question_id" in table.columns}
    assert named - question_erasing.TABLES == {"changes"}
