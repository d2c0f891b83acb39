"""Cost of a page of each list, the first one and one far down, with as many rows of each kind as there are documents.

`python -m tests.benchmarks.growth.tables [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from sqlalchemy import insert, select

from db import changes
from db.base import now
from db.dirty_documents import mark_dirty
from db.ids import new_id
from db.tables import (
    Annotation,
    AuditEntry,
    AutomaticAnswer,
    Document,
    Job,
    LabelReview,
    Page,
    Question,
    Revision,
    Task,
    User,
)
from db.tables.documents import search_key
from engine import audit
from engine.documents.lists.listing import document_page
from engine.followers import catch_up
from engine.jobs import job_list
from engine.models.registry import ensure_shipped
from engine.projects.projects import summaries
from engine.selection import auto_accept, label_review
from engine.tasks.asked_questions import asked_questions
from engine.tasks.standard_questions import suggestions
from engine.tasks.tasks import list_tasks
from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown, analyze

TIMES, WARM = 20, 2
BAR = 50.0
LINES = 100  # of a page
DEEP = 0.9  # of the list stands before the page far down
AT_ONCE = 1000  # rows of one transaction


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of pages of lists.

    Args:
        workspace: open workspace.
        grown: project in it; it gets further questions, jobs and entries, as many of each as it has documents.
    """
    fill(workspace, grown)
    project = grown.project
    lists: dict[str, Callable[[int, str | None], Any]] = {
        "documents": lambda limit, cursor: document_page(workspace, project, limit=limit, cursor=cursor),
        "tasks": lambda limit, cursor: list_tasks(workspace, project, limit=limit, cursor=cursor),
        "jobs": lambda limit, cursor: job_list.list_jobs(
            workspace, project, limit=limit, cursor=cursor, without_read=True
        ),
        "audit trail": lambda limit, cursor: audit.entries(workspace, project, limit=limit, cursor=cursor),
        "audit trail of all": lambda limit, cursor: audit.entries(workspace, limit=limit, cursor=cursor),
        "automatic answers": lambda limit, cursor: auto_accept.lines(workspace, project, limit, cursor),
        "label review": lambda limit, cursor: label_review.lines(workspace, project, limit, cursor),
        "questions by use": lambda limit, cursor: asked_questions(workspace, project, limit=limit, cursor=cursor),
        "questions by text": lambda limit, cursor: asked_questions(
            workspace, project, sort="text", limit=limit, cursor=cursor
        ),
    }
    acts: dict[str, Callable[[], object]] = {}
    for name, page in lists.items():
        deep = _deep(page, int(DEEP * grown.documents))
        acts[f"{name}, first page"] = lambda page=page: page(LINES, None)  # type: ignore[misc]
        acts[f"{name}, far down"] = lambda page=page, deep=deep: page(LINES, deep)  # type: ignore[misc]
    document = _newest_document(workspace, project)
    person = grown.people[0]
    acts["questions found by a word"] = lambda: asked_questions(workspace, project, query="17 pallet", limit=LINES)
    acts["suggestions"] = lambda: suggestions(workspace, project, person)
    acts["suggestions for a document"] = lambda: suggestions(workspace, project, person, document)
    acts["projects"] = lambda: summaries(workspace)
    return [row(what, [_times(act)], BAR) for what, act in acts.items()]


def _times(act: Callable[[], object]) -> list[float]:
    taken = []
    for _ in range(WARM + TIMES):
        begin = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - begin))
    return taken[WARM:]


def _deep(page: Callable[[int, str | None], Any], rows: int) -> str | None:
    """Return the cursor of the page behind some rows."""
    cursor = None
    while rows > 0:
        found = page(min(rows, 500), cursor)
        cursor, rows = found.next, rows - 500
        if cursor is None:
            return None
    return str(cursor)


def _newest_document(workspace: Workspace, project: str) -> str:
    with workspace.database.read() as session:
        newest = select(Document.id).where(Document.project_id == project).order_by(Document.id.desc()).limit(1)
        return session.execute(newest).scalar_one()


def fill(workspace: Workspace, grown: Grown) -> None:
    """Add free questions with an answer each, jobs, entries of the audit trail, automatic answers and label reviews."""
    version = ensure_shipped(workspace).id
    rng = random.Random(1)
    with workspace.database.read() as session:
        if session.scalar(select(Job.id).where(Job.project_id == grown.project).limit(1)) is not None:
            return
        pages = select(Page.document_id, Page.id).join(Document, Document.id == Page.document_id)
        page_of = dict(session.execute(pages.where(Document.project_id == grown.project)).tuples().all())
        labels = select(Annotation.id, Annotation.document_id, Revision.id).join(
            Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head)
        )
        accepted = labels.where(Annotation.project_id == grown.project, Annotation.status == "accepted")
        looked = session.execute(accepted.order_by(Annotation.id).limit(grown.documents)).tuples().all()
        tasks = select(Task.id, Task.document_id).where(Task.project_id == grown.project)
        closed = session.execute(tasks.order_by(Task.id).limit(grown.documents)).tuples().all()
        actor = session.execute(select(User.id).limit(1)).scalar_one()
    documents = list(page_of)
    begin = now() - timedelta(days=50)
    common = {"project_id": grown.project}
    score = {"score": 0.9, "answered": 0.9, "answer": {"text": "17"}, "model_version_id": version}
    rows: dict[type, Iterator[dict[str, Any]]] = {
        AuditEntry: (
            {"id": new_id(), "actor_id": actor, "action": "projects.create", "subject": "x", "details": {"name": "x"}}
            | {"created_at": begin + timedelta(seconds=at), **common}
            for at in range(grown.documents)
        ),
        Job: (
            {"id": new_id(), "kind": "read" if at > grown.documents // 2 else "survey", "status": "done"}
            | {"created_at": begin + timedelta(seconds=at), "finished_at": begin, **common}
            for at in range(grown.documents)
        ),
        # Each answer is withdrawn, and each review decided: the queue and its figures stay as they are.
        AutomaticAnswer: (
            {"id": new_id(), "task_id": task, "page_id": page_of[document], "confidence": 0.9, "threshold": 0.8}
            | {"withdrawn_at": begin, **score, **common}
            for task, document in closed
        ),
        LabelReview: (
            {"id": new_id(), "annotation_id": annotation, "revision_id": revision, "kind": "here", "iou": 0.1}
            | {"page_id": page_of[document], "verdict": None if at % 2 else "kept", **score, **common}
            for at, (annotation, document, revision) in enumerate(looked)
        ),
    }
    for table, several in rows.items():
        _insert(workspace, grown.project, table, several)
    asked = [(new_id(), f"What does pallet {at} of {rng.randrange(1000)} weigh?") for at in range(grown.documents)]
    questions = ({"id": key, "text": text, "text_key": search_key(text), **common} for key, text in asked)
    _insert(workspace, grown.project, Question, questions)
    answers = (
        {"id": new_id(), "document_id": rng.choice(documents), "question_id": key, "author_id": actor, **common}
        for key, _ in asked
    )
    _insert(workspace, grown.project, Annotation, answers)
    analyze(workspace)
    for start in range(0, len(documents), AT_ONCE):
        with workspace.database.write() as session:
            mark_dirty(session, grown.project, documents[start : start + AT_ONCE])
    catch_up(workspace)


def _insert(workspace: Workspace, project: str, table: type, rows: Iterator[dict[str, Any]]) -> None:
    several = list(rows)
    for start in range(0, len(several), AT_ONCE):
        with workspace.database.write() as session:
            session.execute(insert(table), several[start : start + AT_ONCE])
            for topic in ("answers", "tasks", "questions", "jobs"):
                changes.publish(session, topic, project)  # type: ignore[arg-type]


if __name__ == "__main__":
    command(measure)
