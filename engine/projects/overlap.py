"""Sampling of overlapping tasks and gold questions by hash.

The same ids give the same sample at any time and on any machine, so the queue can be explained afterwards. A larger
share includes the sample of a smaller one.
"""

import hashlib

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Task
from engine.statuses import ANSWERED


def wanted(task_id: str, share: float, people: int) -> int:
    """Return the number of people who answer a task.

    Args:
        task_id: id of the task.
        share: share of overlapping tasks, 0..1.
        people: people for an overlapping task.

    Returns:
        `people` for that share of tasks, else 1.
    """
    return people if fraction(task_id) < share else 1


def gold_is_due(user_id: str, answered: int, share: float) -> bool:
    """Return whether a user's next task is a gold question.

    Args:
        user_id: id of the user.
        answered: number of tasks the user has answered.
        share: share of gold questions, 0..1.
    """
    return fraction(f"{user_id}:{answered}") < share


def redraw(session: Session, project_id: str, share: float, people: int) -> None:
    """Resample the tasks without an answer after a change of settings.

    Args:
        session: an open session.
        project_id: project.
        share: share of overlapping tasks, 0..1.
        people: people for an overlapping task.
    """
    for task in session.scalars(select(Task).where(Task.project_id == project_id, ~has_answer())):
        task.wanted = wanted(task.id, share, people)


def has_answer() -> ColumnElement[bool]:
    """Return the condition that a task has an answer."""
    return exists().where(
        Annotation.document_id == Task.document_id,
        Annotation.question_id == Task.question_id,
        Annotation.status.in_(ANSWERED),
    )


def fraction(text: str) -> float:
    """Return the hash of a text as a number in [0, 1)."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
