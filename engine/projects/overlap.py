"""Which tasks go to several people, and when somebody gets one whose answer is known. Drawn by hashing, never by chance.

The same ids give the same draw at any time and on any machine, so a queue can be explained afterwards; a larger share keeps
what a smaller one had drawn.
"""

import hashlib

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Task
from engine.statuses import ANSWERED


def wanted(task_id: str, share: float, people: int) -> int:
    """Return by how many people a task is to be answered: `people` for a `share` (0..1) of all tasks, else one."""
    return people if fraction(task_id) < share else 1


def gold_is_due(user_id: str, answered: int, share: float) -> bool:
    """Return whether somebody who has answered so many tasks gets one with a known answer next, at this share (0..1)."""
    return fraction(f"{user_id}:{answered}") < share


def redraw(session: Session, project_id: str, share: float, people: int) -> None:
    """Draw anew for the tasks of a project that nobody has answered yet, after its settings changed."""
    for task in session.scalars(select(Task).where(Task.project_id == project_id, ~has_answer())):
        task.wanted = wanted(task.id, share, people)


def has_answer() -> ColumnElement[bool]:
    """Return the condition that somebody has answered the task of the row."""
    return exists().where(
        Annotation.document_id == Task.document_id,
        Annotation.question_id == Task.question_id,
        Annotation.status.in_(ANSWERED),
    )


def fraction(text: str) -> float:
    """Return a number in [0, 1) that follows from the text alone, evenly spread over texts."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
