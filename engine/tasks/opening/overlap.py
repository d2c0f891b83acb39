"""Sampling of overlapping tasks and gold questions by hash.

The same ids give the same sample at any time and on any machine, so the queue can be explained afterwards. A larger
share includes the sample of a smaller one.
"""

import hashlib
from collections.abc import Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db import task_states
from db.tables import Annotation, Project, Task, TaskChange
from engine.projects.project_settings import settings_of

_AT_ONCE = 500  # tasks of one statement: databases limit its parameters


def compute_wanted(task_id: str, share: float, people: int) -> int:
    """Return the number of people who answer a task.

    Args:
        task_id: id of the task.
        share: share of overlapping tasks, 0..1.
        people: people for an overlapping task.

    Returns:
        `people` for that share of tasks, else 1.
    """
    return people if fraction(task_id) < share else 1


def is_unaided(task_id: str, people: int, share: float) -> bool:
    """Return whether a task is answered without the model's proposal: a share of those of several people.

    Args:
        task_id: id of the task.
        people: number of people who answer it.
        share: share of these tasks, 0..1.
    """
    return people > 1 and fraction(f"unaided:{task_id}") < share


def gold_is_due(user_id: str, answered: int, share: float) -> bool:
    """Return whether a user's next task is a gold question.

    Args:
        user_id: id of the user.
        answered: number of tasks the user has answered.
        share: share of gold questions, 0..1.
    """
    return fraction(f"{user_id}:{answered}") < share


def redraw(session: Session, project: Project, documents: Sequence[str], _change: TaskChange) -> None:
    """Draw the tasks of some documents without an answer anew, after a change of settings.

    Args:
        session: an open session.
        project: locked project, with the new settings.
        documents: ids of some of its documents.
    """
    chosen = settings_of(project)
    untouched = Task.document_id.in_(documents), Task.answered == 0
    becomes: dict[int, list[str]] = {}
    for task_id, before in session.execute(select(Task.id, Task.wanted).where(*untouched)).tuples():
        people_now = compute_wanted(task_id, chosen.overlap_share, chosen.overlap_people)
        if people_now != before:
            becomes.setdefault(people_now, []).append(task_id)
    for people_now, ids in becomes.items():
        for start in range(0, len(ids), _AT_ONCE):
            # A task that somebody answers at this moment keeps its number. Few states change (db.task_states): a task
            # without an answer is open, however many it needs, unless rejected answers reserve all its places.
            some = Task.id.in_(ids[start : start + _AT_ONCE]), Task.answered == 0
            redrawn = update(Task).where(*some).values(wanted=people_now)
            session.execute(redrawn.execution_options(synchronize_session=False))
            same = (Annotation.document_id == Task.document_id) & (Annotation.question_id == Task.question_id)
            reserved = select(Task.id).join(Annotation, same).where(*some, Annotation.status == "rejected")
            task_states.mark_tasks_dirty(session, session.scalars(reserved))


def fraction(text: str) -> float:
    """Return the hash of a text as a number in [0, 1)."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
