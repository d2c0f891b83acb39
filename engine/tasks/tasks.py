"""Tasks as a project admin sees them, and their gold answers.

Tasks are opened in engine.tasks.opening.open_tasks and leased in engine.tasks.queue.next_task.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from db import changes
from db.statuses import ACCEPTED
from db.tables import Annotation, Document, Question, Revision, Task, TaskCount, User
from engine import audit
from engine.accounts.visibility import check_standing, load_visible
from engine.errors import NotFound, Refused
from engine.paging import Order, Page
from engine.queries import existing, not_removed
from engine.workspace import Workspace

MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """Answer of a person to a task, in any status."""

    annotation_id: str
    person: str
    status: str
    revision: int


@dataclass(frozen=True, slots=True)
class TaskLine:
    """Task in a list; `gold` is the annotation whose accepted revision is the gold answer.

    `chosen_by`: how its document got its queue position: "model", "random", "age" or "hand"; None: by arrival.
    """

    id: str
    document_id: str
    document: str
    question_id: str
    question: str
    wanted: int
    closed: bool
    gold: str | None
    answers: list[GivenAnswer] = field(default_factory=list)
    chosen_by: str | None = None


@dataclass(frozen=True, slots=True)
class GoldState:
    """Gold answer of the task that an answer belongs to; `task_id` is None where no standard question is asked so.

    `annotation_id`, `revision`, `author`: the gold answer, which may be another person's; None without one.
    """

    task_id: str | None
    annotation_id: str | None = None
    revision: int | None = None
    author: str | None = None


def gold_state(workspace: Workspace, annotation_id: str) -> GoldState:
    """Return the gold answer of the task of an annotation, for reviewers.

    A closed task, of a question that is no longer a standard one, counts only while it has a gold answer. Raises
    NotFound for an unknown or removed annotation.
    """
    with workspace.database.read() as session:
        answer = load_visible(session, annotation_id, None)
        rows = (
            select(Task.id, Revision.annotation_id, Revision.number, User.name)
            .outerjoin(Revision, Revision.id == Task.gold_revision_id)
            .outerjoin(Annotation, Annotation.id == Revision.annotation_id)
            .outerjoin(User, User.id == Annotation.author_id)
            .where(Task.document_id == answer.document_id, Task.question_id == answer.question_id)
            .where(or_(Task.closed_at.is_(None), Task.gold_revision_id.is_not(None)))
        )
        row = session.execute(rows).tuples().one_or_none()
        return GoldState(None) if row is None else GoldState(*row)


def set_gold(workspace: Workspace, task_id: str, annotation_id: str | None, by: str) -> TaskLine:
    """Set the newest accepted revision of an annotation as gold answer of a task; None clears it. Audited.

    Raises NotFound for an unknown task, or an unknown or removed annotation; Refused when it answers something else or
    was never accepted.
    """
    with workspace.database.write() as session:
        task = existing(session, Task, task_id)
        task.gold_revision_id = None if annotation_id is None else _accepted_revision(session, task, annotation_id)
        session.flush()
        line = _lines(session, [task])[0]
        known = {"annotation_id": annotation_id, "question": line.question, "document": line.document}
        audit.record(session, by, "gold", f"task:{task_id}", task.project_id, **known)
        changes.publish(session, "documents", task.project_id, task.document_id)  # which of its answers counts
        return line


def list_tasks(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, offset: int = 0, cursor: str | None = None
) -> Page[TaskLine]:
    """Return a page of the tasks of a project, closed ones too, by document and question, with their answers.

    Args:
        workspace: Open workspace.
        project_id: Project of the tasks.
        limit: Maximum number, at most MOST_LISTED.
        offset: Number of tasks to skip behind the cursor.
        cursor: Of the page; None: the first page.

    Raises:
        Refused: The cursor is not one of this list.
    """
    order = Order(f"tasks {project_id}", (Task.document_id, Question.position, Task.id))
    chosen = select(Task).join(Question, Question.id == Task.question_id).where(Task.project_id == project_id)
    with workspace.database.read() as session:
        if offset and cursor is None:
            chosen, offset = _skip_documents(session, project_id, chosen, offset)
        rows, following = order.rows(session, chosen.offset(offset), min(limit, MOST_LISTED), cursor)
        return Page(_lines(session, [task for (task,) in rows]), following)


def _skip_documents(
    session: Session, project_id: str, chosen: Select[*tuple[Any, ...]], offset: int
) -> tuple[Select[*tuple[Any, ...]], int]:
    """Return the statement without the tasks of the documents that an offset skips, and what is left of the offset.

    The documents are counted in an index: tasks that are skipped one by one would each be read.
    """
    here = select(Task.document_id).where(Task.project_id == project_id)
    document = session.scalar(here.order_by(Task.document_id).offset(offset).limit(1))
    if document is None:
        return chosen, offset
    before = select(func.count()).where(Task.project_id == project_id, Task.document_id < document)
    return chosen.where(Task.document_id >= document), offset - (session.scalar(before) or 0)


def count_tasks(workspace: Workspace, project_id: str) -> int:
    """Return the number of the tasks of a project, closed ones too, as it is kept."""
    with workspace.database.read() as session:
        return session.scalar(select(func.sum(TaskCount.number)).where(TaskCount.project_id == project_id)) or 0


def _accepted_revision(session: Session, task: Task, annotation_id: str) -> str:
    # Row lock: on PostgreSQL, a removal waits, and then sees the gold answer (engine.annotation.removal).
    annotation = session.get(Annotation, annotation_id, with_for_update=True, populate_existing=True)
    if annotation is None or annotation.project_id != task.project_id:
        raise NotFound("There is no such annotation.")
    check_standing(annotation.status)
    if (annotation.document_id, annotation.question_id) != (task.document_id, task.question_id):
        raise Refused("That answer belongs to another document or question; choose an answer to this task.")
    revision_id = session.scalar(
        select(Revision.id)
        .where(Revision.annotation_id == annotation_id, Revision.status.in_(ACCEPTED))
        .order_by(Revision.number.desc())
        .limit(1)
    )
    if revision_id is None:
        raise Refused("That answer was never accepted: accept it first, then make it the gold answer.")
    return revision_id


def _lines(session: Session, tasks: Sequence[Task]) -> list[TaskLine]:
    documents = dict(_names(session, Document.id, Document.name, {task.document_id for task in tasks}))
    questions = dict(_names(session, Question.id, Question.text, {task.question_id for task in tasks}))
    golds = dict(
        _names(
            session,
            Revision.id,
            Revision.annotation_id,
            {task.gold_revision_id for task in tasks if task.gold_revision_id is not None},
        )
    )
    answers: dict[tuple[str, str], list[GivenAnswer]] = {}
    # Two lists of ids, and sorted here: pairs of ids, or an order, would let SQLite walk all answers of all projects.
    asked = list({task.question_id: None for task in tasks})
    there = list({task.document_id: None for task in tasks})
    for start in range(0, len(there), 400):
        here = Annotation.document_id.in_(there[start : start + 400])
        named = select(Annotation, User.name).join(User, User.id == Annotation.author_id)
        rows = session.execute(named.where(here, Annotation.question_id.in_(asked), not_removed()))
        for each, name in sorted(rows, key=lambda row: row[0].id):
            given = GivenAnswer(each.id, name, each.status, each.head)
            answers.setdefault((each.document_id, each.question_id), []).append(given)
    return [
        TaskLine(
            id=task.id,
            document_id=task.document_id,
            document=documents[task.document_id],
            question_id=task.question_id,
            question=questions[task.question_id],
            wanted=task.wanted,
            closed=task.closed_at is not None,
            gold=golds.get(task.gold_revision_id) if task.gold_revision_id else None,
            answers=answers.get((task.document_id, task.question_id), []),
            chosen_by=task.chosen_by,
        )
        for task in tasks
    ]


def _names(session: Session, key, name, ids: set[str]) -> list[tuple[str, str]]:  # type: ignore[no-untyped-def]
    return [(row[0], row[1]) for row in session.execute(select(key, name).where(key.in_(ids)))]
