"""Deleting the questions of the bin for good: their answers with all revisions, values, proposals, tasks, and texts.

A question is marked first, and can no longer be restored. Its rows go in short units of work, so that others write in
between; whoever is interrupted goes on at the next poll. Snapshots keep what they hold, and a sentence says so.
"""

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update
from sqlalchemy.orm import Session

from db import changes, task_states
from db.dirty_documents import mark_dirty
from db.tables import (
    Annotation,
    AskedDocument,
    AuditEntry,
    AutomaticAnswer,
    FieldValue,
    FieldVersion,
    FinishedMask,
    Job,
    LabelReview,
    LeftTask,
    OutsideAnswer,
    PartAnswer,
    Prediction,
    ProjectField,
    Question,
    RemovedQuestion,
    Review,
    Revision,
    Skip,
    SurveyAnswer,
    Task,
    ValueCount,
    ValueFlag,
    WaitingReview,
    WebhookDelivery,
)
from engine import audit
from engine.batches import in_batches
from engine.datasets.freezes import is_freezing
from engine.interchange.export_files import EXPORT
from engine.lifecycle import bins, traces
from engine.lifecycle.holders import find_answers_kept
from engine.lifecycle.table_statements import delete_where, table_of
from engine.plurals import count, word
from engine.queries import not_removed
from engine.tasks.opening.removed_questions import remove_answers
from engine.text import join_names, quote_file_name
from engine.workspace import Workspace

DELETED = "a deleted question"  # in place of its text
_AT_ONCE = 500  # rows between two looks at the time
_SOME: Any = bindparam("some", expanding=True)
_QUESTION: Any = bindparam("question")


@dataclass(slots=True)
class EmptiedQuestions:
    """Ids of questions that will be deleted, or were, and a sentence for each whose answers a snapshot keeps."""

    questions: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)


def mark_questions(
    workspace: Workspace, project_id: str, ids: Collection[str] | None, by: str | None
) -> EmptiedQuestions:
    """Choose questions of the bin to be deleted for good. Audited. They cannot be restored from now on.

    Args:
        workspace: Open workspace.
        project_id: Project from which they were removed.
        ids: Ids of questions in its bin; others are left out. None: the whole bin.
        by: Id of the acting user; None: their days are over.
    """
    chosen = RemovedQuestion.project_id == project_id, ~RemovedQuestion.erasing
    with workspace.database.write() as session:
        in_bin = select(RemovedQuestion, Question.text).join(Question, Question.id == RemovedQuestion.question_id)
        rows = session.execute(in_bin.where(*chosen).order_by(Question.id).with_for_update(of=RemovedQuestion)).tuples()
        texts = {}
        for removed, text in rows:
            if ids is None or removed.question_id in ids:
                removed.erasing = True
                texts[removed.question_id] = text
        if texts:
            changes.publish(session, "questions", project_id)
            number = count(len(texts), "question")
            audit.record(session, by, "questions.delete", project_id, project_id, number=number)
    kept = find_answers_kept(workspace, project_id, texts)
    stays = [
        f"Answers to the question {quote_file_name(texts[key])} stay in {join_names(snapshots)}, until "
        f"{word(len(snapshots), 'that is', 'those are')} removed."
        for key, snapshots in kept.items()
    ]
    return EmptiedQuestions(list(texts), stays)


def erase_marked_questions(workspace: Workspace, seconds: float | None = None) -> int:
    """Delete the chosen questions; return how many are deleted now. What their rows leave is to be wiped then.

    Args:
        workspace: Open workspace.
        seconds: Time after which the rest is left for later; None: until all are deleted.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    with workspace.database.autocommit_read() as session:
        marked = session.scalars(select(RemovedQuestion).where(RemovedQuestion.erasing)).all()
    erased = 0
    for removed in marked:
        with workspace.database.autocommit_read() as session:
            waits = is_freezing(session, removed.project_id)
        if not waits:
            erased += _erase(workspace, removed.question_id, removed.project_id, ends)
    return erased


def look_after(workspace: Workspace) -> None:
    """Delete what is chosen, and choose what has been in the bin for `bin_days`; a chore of the worker."""

    def mark(project_id: str, ids: set[str]) -> None:
        mark_questions(workspace, project_id, ids, None)

    bins.look_after(workspace, RemovedQuestion, mark, erase_marked_questions)


def _erase(workspace: Workspace, question_id: str, project_id: str, ends: float | None) -> bool:
    """Delete a question; return whether all of it is gone, and was not gone before."""
    with workspace.database.write() as session:
        removed = session.get(RemovedQuestion, question_id, with_for_update=True)
        if removed is None or not removed.erasing:  # another process was faster
            return False
    _remove_rest(workspace, question_id)
    bins.await_figures(workspace, f"question {question_id}")
    with workspace.database.write() as session:
        session.connection().execute(_FORGET_GOLD, {"question": question_id})
    answers, tasks = Annotation.question_id == question_id, Task.question_id == question_id
    proposals = Prediction.question_id == question_id, Prediction.annotation_id.is_(None)
    for ids, act in (
        (select(Annotation.id).where(answers), partial(_delete, _ANSWERS)),
        (select(Prediction.id).where(*proposals), partial(_delete, _PROPOSALS)),
        (select(Task.id).where(tasks), _delete_tasks),
    ):
        if not _in_time(workspace, ids, act, ends):
            return False
    for table in _BY_DOCUMENT:
        columns = table_of(table).c
        documents = select(columns.document_id).where(columns.question_id == question_id)
        rows = delete_where(table, "question_id", _QUESTION).where(columns.document_id.in_(_SOME))

        def act(session: Session, some: Sequence[str], rows: Any = rows) -> None:
            session.connection().execute(rows, {"some": some, "question": question_id})

        if not _in_time(workspace, documents.distinct(), act, ends):
            return False
    traces.delete_exports(workspace, project_id)
    _forget_texts(workspace, question_id, project_id)
    with workspace.database.write() as session:
        for statement in _LAST:
            session.connection().execute(statement, {"question": question_id})
        session.connection().execute(_MESSAGES, {"project": project_id, "question": question_id})
        changes.publish(session, "questions", project_id)
        changes.publish(session, "tasks", project_id)
        traces.note_wipe(session)
    return True


def _remove_rest(workspace: Workspace, question_id: str) -> None:
    """Remove the answers that have not followed their question, as those of documents in the bin."""
    standing = select(Annotation.id, Annotation.project_id).where(Annotation.question_id == question_id, not_removed())
    with workspace.database.read() as session:
        rows = session.execute(standing).all()

    def act(session: Session, some: Sequence[Any]) -> None:
        for project_id in sorted({row.project_id for row in some}):
            ids = [row.id for row in some if row.project_id == project_id]
            remove_answers(session, project_id, Annotation.id.in_(ids))

    in_batches(workspace, rows, act)


def _in_time(workspace: Workspace, ids: Any, act: Any, ends: float | None) -> bool:
    """Do something with rows in batches; return whether the time was enough for all."""
    while True:
        with workspace.database.autocommit_read() as session:
            some = session.scalars(ids.limit(_AT_ONCE)).all()
        if not some:
            return True
        in_batches(workspace, some, act)
        if ends is not None and time.monotonic() >= ends:
            return False


def _delete(statements: Sequence[Any], session: Session, some: Sequence[str]) -> None:
    for statement in statements:
        session.connection().execute(statement, {"some": some})


def _delete_tasks(session: Session, some: Sequence[str]) -> None:
    _delete(_OF_TASKS, session, some)
    gone = session.connection().execute(_TASKS, {"some": some}).all()
    numbers = Counter((row.project_id, row.state) for row in gone)
    task_states.count(session, {key: -number for key, number in numbers.items()})
    for row in gone:
        mark_dirty(session, row.project_id, [row.document_id])


def _forget_texts(workspace: Workspace, question_id: str, project_id: str) -> None:
    """Replace the texts of a question, earlier ones too, in the audit trail and in the filters of exports."""
    details, chosen = AuditEntry.details, Job.payload["filters", "questions"].as_string()
    with workspace.database.read() as session:
        texts = _load_texts(session, question_id, project_id)
        named = or_(details["question"].as_string().in_(texts), details["questions"].as_string().is_not(None))
        entries = session.scalars(select(AuditEntry.id).where(AuditEntry.project_id == project_id, named)).all()
        of_exports = Job.project_id == project_id, Job.kind == EXPORT, chosen.is_not(None)
        exports = session.scalars(select(Job.id).where(*of_exports)).all()

    def in_entries(session: Session, some: Sequence[str]) -> None:
        for entry in session.scalars(select(AuditEntry).where(AuditEntry.id.in_(some))):
            entry.details = _without(entry.details, texts)

    def in_exports(session: Session, some: Sequence[str]) -> None:
        for job in session.scalars(select(Job).where(Job.id.in_(some))):
            job.payload = _without(job.payload, texts)

    in_batches(workspace, entries, in_entries)
    in_batches(workspace, exports, in_exports)


def _load_texts(session: Session, question_id: str, project_id: str) -> set[str]:
    """Return all texts that a question has had, without those of other questions of today."""
    versions = select(FieldVersion.definition).where(FieldVersion.question_id == question_id)
    texts = {str(definition["question"]) for definition in session.scalars(versions)}
    texts.update(session.scalars(select(Question.text).where(Question.id == question_id)))
    others = Question.project_id == project_id, Question.id != question_id, Question.text.in_(texts)
    return texts - set(session.scalars(select(Question.text).where(*others)))


def _without(value: Any, texts: Collection[str]) -> Any:
    """Return JSON in which another text stands in place of some."""
    if isinstance(value, dict):
        return {name: _without(part, texts) for name, part in value.items()}
    if isinstance(value, list):
        return [_without(part, texts) for part in value]
    return DELETED if isinstance(value, str) and value in texts else value


_FORGET_GOLD = update(table_of(Task)).where(table_of(Task).c.question_id == _QUESTION).values(gold_revision_id=None)
_ANSWERS = [
    *(
        delete_where(table, "annotation_id", _SOME)
        for table in (WaitingReview, FinishedMask, LabelReview, Review, Revision, Prediction)
    ),
    delete_where(Annotation, "id", _SOME),
]
_PROPOSALS = [delete_where(Prediction, "id", _SOME)]
_OF_TASKS = [delete_where(table, "task_id", _SOME) for table in (AutomaticAnswer, PartAnswer, LeftTask, Skip)]
_TASKS = delete_where(Task, "id", _SOME).returning(Task.project_id, Task.state, Task.document_id)
_BY_DOCUMENT: tuple[Any, ...] = (OutsideAnswer, SurveyAnswer, FieldValue, ValueFlag, AskedDocument)
_LAST = [
    *(
        delete_where(rows, "question_id", _QUESTION)
        for rows in (ValueCount, FieldVersion, ProjectField, RemovedQuestion)
    ),
    delete_where(Question, "id", _QUESTION),
]
_MESSAGES = delete(table_of(WebhookDelivery)).where(
    table_of(WebhookDelivery).c.project_id == bindparam("project"),
    table_of(WebhookDelivery).c.body.contains(_QUESTION),  # hexadecimal digits
)
TABLES: frozenset[str] = frozenset(
    {statement.table.name for statement in (*_ANSWERS, *_OF_TASKS, _TASKS, *_LAST)}
    | {table_of(table).name for table in _BY_DOCUMENT}
)
