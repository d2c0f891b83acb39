"""Sums over all documents of a project, of which only changed documents are counted again."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import case, exists, func, literal, select, union_all
from sqlalchemy.orm import Session

from db.changes import Topic
from db.tables import Annotation, Document, Page, Task, TaskCount
from db.task_states import CLOSED
from engine import changes
from engine.accounts import visibility
from engine.queries import standing
from engine.statuses import ACCEPTED
from engine.workspace import Workspace

_PROJECTS = 20  # kept in memory; one with 20,000 documents takes about 5 MB
_AT_ONCE = 500  # documents of one statement: databases limit its parameters
_WHOLE: tuple[Topic, ...] = ("questions",)


class _Counts(NamedTuple):
    """Numbers of a document, or of all."""

    pages: int
    questions: int
    accepted: int
    tasks: int  # open ones


@dataclass(frozen=True, slots=True)
class DocumentTotals:
    """Numbers of a project's documents, of their pages, of their questions, and of those with an accepted answer."""

    documents: int
    pages: int
    questions: int
    accepted: int


def document_totals(workspace: Workspace, project_id: str, viewer_id: str | None = None) -> DocumentTotals:
    """Return the sums of what `document_lines` tells of each document.

    Args:
        workspace: open workspace.
        project_id: the project.
        viewer_id: the user; None sees all answers. Answers hidden from the user are not counted.
    """
    key = (str(workspace.database.url), project_id)
    with _lock:
        known = _remembered.get(key)
    with workspace.database.read() as session:
        known = _followed(session, project_id, known)
        sees_all = viewer_id is None or visibility.sees_all(session, project_id, viewer_id)
        hidden = 0 if sees_all else _hidden(session, project_id, viewer_id or "")
    with _lock:
        _remembered[key] = known
        _remembered.move_to_end(key)
        while len(_remembered) > _PROJECTS:
            _remembered.popitem(last=False)
    total = known.total
    return DocumentTotals(len(known.by_document), total.pages, total.questions, total.accepted - hidden)


@dataclass(frozen=True, slots=True)
class _Known:
    """Numbers of each document, as they were after a change."""

    cursor: int
    by_document: Mapping[str, _Counts]
    total: _Counts


_remembered: OrderedDict[tuple[str, str], _Known] = OrderedDict()
_lock = threading.Lock()


def _followed(session: Session, project_id: str, known: _Known | None) -> _Known:
    """Return the numbers as they are now: those of changed documents counted again, or all."""
    # The place among the changes is read first: what is committed after it only makes the numbers newer.
    if known is None:
        return _all(session, project_id, changes.newest(session))
    cursor, touched = changes.touched_documents(session, project_id, known.cursor, whole=_WHOLE)
    if touched is None or len(touched) > _AT_ONCE:
        return _all(session, project_id, cursor)
    by_document, total = known.by_document, known.total
    if touched:
        kept = {each: counts for each, counts in by_document.items() if each not in touched}
        by_document = kept | _by_document(session, project_id, touched)
        total = _sum(by_document)
    # Tasks of a standard question come and go without a change of their documents.
    opened = TaskCount.project_id == project_id, TaskCount.state != CLOSED
    tasks = session.scalar(select(func.coalesce(func.sum(TaskCount.number), 0)).where(*opened))
    return _Known(cursor, by_document, total) if tasks == total.tasks else _all(session, project_id, cursor)


def _all(session: Session, project_id: str, cursor: int) -> _Known:
    by_document = _by_document(session, project_id, None)
    return _Known(cursor, by_document, _sum(by_document))


def _hidden(session: Session, project_id: str, viewer_id: str) -> int:
    """Return how many questions have an accepted answer that is hidden from the user."""
    accepted = exists().where(
        Annotation.document_id == Task.document_id,
        Annotation.question_id == Task.question_id,
        Annotation.status.in_(ACCEPTED),
    )
    hidden = select(func.count()).where(Task.project_id == project_id, visibility.compared(viewer_id), accepted)
    return session.scalar(hidden) or 0


def _by_document(session: Session, project_id: str, documents: Collection[str] | None) -> dict[str, _Counts]:
    """Return the numbers of documents; `documents`: the only ones, or None."""
    pages = select(Document.id, func.count(Page.id)).outerjoin(Page, Page.document_id == Document.id)
    pages = pages.where(Document.project_id == project_id).group_by(Document.id)
    accepted = case((Annotation.status.in_(ACCEPTED), 1), else_=0)
    answers = select(
        Annotation.document_id, Annotation.question_id, accepted.label("accepted"), literal(0).label("tasks")
    )
    answers = answers.where(standing())
    tasks = select(Task.document_id, Task.question_id, literal(0), literal(1)).where(Task.closed_at.is_(None))
    if documents is None:
        answers = answers.where(Annotation.project_id == project_id)
        tasks = tasks.where(Task.project_id == project_id)
    else:  # not by their project too: SQLite would take its index, and read all of it
        pages = pages.where(Document.id.in_(documents))
        answers = answers.where(Annotation.document_id.in_(documents))
        tasks = tasks.where(Task.document_id.in_(documents))
    every = union_all(answers, tasks).subquery()
    each = select(
        every.c.document_id, func.max(every.c.accepted).label("accepted"), func.max(every.c.tasks).label("tasks")
    )
    asked = each.group_by(every.c.document_id, every.c.question_id).subquery()
    sums = select(asked.c.document_id, func.count(), func.sum(asked.c.accepted), func.sum(asked.c.tasks))
    found = session.execute(sums.group_by(asked.c.document_id)).tuples()
    of_questions = {document_id: (number, int(some), int(opened)) for document_id, number, some, opened in found}
    return {
        document_id: _Counts(number, *of_questions.get(document_id, (0, 0, 0)))
        for document_id, number in session.execute(pages).tuples()
    }


def _sum(by_document: Mapping[str, _Counts]) -> _Counts:
    columns = zip(*by_document.values(), strict=True) if by_document else ((0,),) * len(_Counts._fields)
    return _Counts(*map(sum, columns))
