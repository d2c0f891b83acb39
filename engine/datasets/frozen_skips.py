"""Skipped tasks of a snapshot: what people could not answer, and why, with what a reviewer decided.

A snapshot freezes the skips that stand: those that wait for a reviewer, and those that a reviewer has confirmed. A task
that was sent back or answered is none of them. The manifest names their files only where there are any, so a project
without skips has the snapshots that it had before.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from db.statuses import DISMISSED, SKIPPED
from db.tables import Document, DocumentGroup, Question, Skip, Task, User
from engine.datasets.async_blob_writer import AsyncBlobWriter
from engine.datasets.filters import Filters
from engine.datasets.manifest import canonical, read_head, whole
from engine.workspace import Workspace

MOST_ROWS = 2000  # skips of a file
HEAD = "skips"  # in the head of a manifest


@dataclass(frozen=True, slots=True)
class FrozenSkip:
    """Skip of a task.

    - `reason`: "unreadable", "not_sure", "wrong_document" or "other"; `note`: the person's words.
    - `verdict`: "dismissed" where a reviewer confirmed that it cannot be answered, else None: it waits.
    - `remark`, `decided_by`: the reviewer's, empty while it waits.
    """

    task_id: str
    document_id: str
    document_sha256: str
    document: str
    question: str
    person: str
    reason: str
    note: str
    verdict: str | None
    remark: str
    decided_by: str


def freeze_skips(
    session: Session, blob_writer: AsyncBlobWriter, project_id: str, filters: Filters
) -> list[dict[str, Any]]:
    """Store the skips of a project that stand, by id, and return their files for the head of a manifest.

    `filters`: splits, quarantine and questions choose among them; the others speak of answers.
    """
    files = []
    standing = _standing(session, project_id, filters)
    while rows := list(islice(standing, MOST_ROWS)):
        sha256 = blob_writer.put(canonical([asdict(row) for row in rows]))
        files.append({"sha256": sha256, "skips": len(rows)})
    return files


def skips_of(workspace: Workspace, sha256: str) -> Iterator[FrozenSkip]:
    """Yield the skips of a manifest, oldest first. Raises Refused for changed bytes."""
    for file in read_head(workspace, sha256).get(HEAD, []):
        for row in json.loads(whole(workspace, file["sha256"])):
            yield FrozenSkip(**row)


def _standing(session: Session, project_id: str, filters: Filters) -> Iterator[FrozenSkip]:
    judge = aliased(User)
    waits = (Task.state == SKIPPED) & Skip.verdict.is_(None)
    confirmed = (Task.state == DISMISSED) & (Skip.verdict == "dismissed")
    chosen = (
        select(Skip, Document.id, Document.sha256, Document.name, Question.text, User.name, judge.name)
        .join(Task, Task.id == Skip.task_id)
        .join(Document, Document.id == Task.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .join(Question, Question.id == Task.question_id)
        .join(User, User.id == Skip.person_id)
        .outerjoin(judge, judge.id == Skip.decided_by)
        .where(Skip.project_id == project_id, waits | confirmed, *filters.of_groups())
        .order_by(Skip.id)
        .execution_options(yield_per=MOST_ROWS)
    )
    if filters.questions is not None:
        chosen = chosen.where(Question.text.in_(filters.questions))
    for row, document_id, document_sha256, document, question, person, judged in session.execute(chosen):
        yield FrozenSkip(
            task_id=row.task_id,
            document_id=document_id,
            document_sha256=document_sha256,
            document=document,
            question=question,
            person=person,
            reason=row.reason,
            note=row.note,
            verdict=row.verdict,
            remark=row.remark,
            decided_by=judged or "",
        )
