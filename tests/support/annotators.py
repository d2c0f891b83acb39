"""People at work, for tests: members of a project who take tasks, answer and judge."""

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from db.tables import Annotation, Member, Question, Task, User
from engine.annotation.revisions import RevisionRequest, Saved, append_revision
from engine.queries import not_removed
from engine.tasks.review.verdicts import Judged, ReviewRequest, review
from engine.workspace import Workspace
from tests.support.factories import pages_of


def make_person(workspace: Workspace, name: str, project_id: str, role: str = "annotator") -> User:
    """A user who is a member of a project."""
    with workspace.database.write() as session:
        user = User(name=name, role="annotator")
        session.add(user)
        session.flush()
        session.add(Member(project_id=project_id, user_id=user.id, role=role))
        return user


def begin(workspace: Workspace, task_id: str, user: User) -> Annotation:
    """The person's answer to a task: the one that is there, else a new draft, as asking makes it."""
    with workspace.database.write() as session:
        task = session.get_one(Task, task_id)
        there = session.scalar(
            select(Annotation).where(
                Annotation.document_id == task.document_id,
                Annotation.question_id == task.question_id,
                Annotation.author_id == user.id,
                not_removed(),
            )
        )
        if there is not None:
            return there
        annotation = Annotation(
            project_id=task.project_id,
            document_id=task.document_id,
            question_id=task.question_id,
            author_id=user.id,
        )
        session.add(annotation)
        session.flush()
        return annotation


def save(
    workspace: Workspace,
    annotation_id: str,
    user: User,
    words: Sequence[int] = (),
    *,
    action: str = "accept",
    replace: bool = True,
    seconds: float = 2.0,
) -> Saved:
    """One revision on top of the newest: these words on the first page (none: the document does not answer)."""
    with workspace.database.read() as session:
        annotation = session.get_one(Annotation, annotation_id)
    request = RevisionRequest(
        idempotency_key=uuid.uuid4().hex,
        base=annotation.head,
        action=action,
        edits=edits(workspace, annotation.document_id, words) if replace else [],
        seconds=seconds,
    )
    return append_revision(workspace, annotation_id, request, user.id)


def edits(workspace: Workspace, document_id: str, words: Sequence[int]) -> list[dict[str, Any]]:
    """The edits that leave exactly these words of the first page."""
    page = pages_of(workspace, document_id)[0].id
    if not words:
        return [{"op": "clear", "page": page}, {"op": "no_answer", "value": True}]
    return [
        {"op": "no_answer", "value": False},
        {"op": "clear", "page": page},
        {"op": "words", "page": page, "add": list(words)},
    ]


def answer(workspace: Workspace, task_id: str, user: User, words: Sequence[int] = (4,)) -> Annotation:
    """A task answered by a person, and accepted as far as they may."""
    annotation = begin(workspace, task_id, user)
    save(workspace, annotation.id, user, words)
    return annotation


def judge(workspace: Workspace, annotation_id: str, reviewer: User, verdict: str = "accepted", **more: Any) -> Judged:
    """A verdict on the newest revision."""
    with workspace.database.read() as session:
        head = session.get_one(Annotation, annotation_id).head
    request = ReviewRequest(
        **{"idempotency_key": uuid.uuid4().hex, "base": head, "verdict": verdict, "reason": "Look again.", **more}
    )
    return review(workspace, annotation_id, request, reviewer.id)


def tasks_of(workspace: Workspace, project_id: str) -> list[Task]:
    """The tasks of a project by document and question."""
    with workspace.database.read() as session:
        return list(
            session.scalars(
                select(Task)
                .join(Question, Question.id == Task.question_id)
                .where(Task.project_id == project_id)
                .order_by(Task.document_id, Question.position)
            )
        )
