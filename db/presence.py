"""Presence: whether the author of a rejected answer is there to fix it, so that it reserves a place of its task.

An enabled member of the project is there, and an enabled admin of the installation. When somebody comes or goes, the
tasks of their rejected answers follow: at once where these are few, else document by document
(engine.tasks.opening.task_changes). Until a document's turn, the person counts as before. Who changes back meanwhile
does so again document by document, after all have followed: nobody makes one long unit of work of thousands of answers.

On PostgreSQL, who comes or goes locks the project, and so does a verdict that rejects an answer (db.task_states): each
sees what the other has stored.
"""

from typing import Any

from sqlalchemy import ColumnElement, case, delete, exists, func, insert, inspect, or_, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Annotation, Document, Member, Project, TaskChange, User

PEOPLE = "people"  # kind of a TaskChange: somebody came or went
FEW = 50  # rejected answers of a person whose tasks follow at once
Pairs = list[tuple[str, str]]  # document and question


def author_is_there() -> ColumnElement[bool]:
    """Return the condition that the author of an answer is there to fix it."""
    member = exists().where(Member.user_id == User.id, Member.project_id == Annotation.project_id)
    member = member.correlate(User, Annotation)  # of itself, only with the statement around it, which is of users
    is_active = User.disabled_at.is_(None), or_(User.role == "admin", member)
    now_there = exists().where(User.id == Annotation.author_id, *is_active)
    followed = (
        select(case((TaskChange.place < Annotation.document_id, TaskChange.was_there), else_=~TaskChange.was_there))
        .where(
            TaskChange.project_id == Annotation.project_id,
            TaskChange.kind == PEOPLE,
            TaskChange.person_id == Annotation.author_id,
            TaskChange.finished_at.is_(None),
        )
        .scalar_subquery()
    )
    return func.coalesce(followed, now_there)


def follow_again(session: Session, change: TaskChange) -> bool:
    """Begin anew where the person of a change that all documents have followed has changed back meanwhile.

    The project is locked. Returns whether there is more to follow.
    """
    member = exists().where(Member.user_id == User.id, Member.project_id == change.project_id)
    is_active = User.id == change.person_id, User.disabled_at.is_(None), or_(User.role == "admin", member)
    is_there = bool(session.connection().scalar(select(exists().where(*is_active))))
    if change.was_there is None or is_there != change.was_there:
        return False
    change.number += 1
    change.was_there, change.place, change.done = not is_there, "", 0
    return True


def of_member(session: Session, member: Member, *, comes: bool) -> Pairs:
    """Return the tasks that follow at once when a member comes or goes; store that the others are to follow."""
    user = session.get_one(User, member.user_id)
    if user.disabled_at is not None or user.role == "admin":  # absent, or there, either way
        return []
    _lock(session, member.project_id)
    return _came_or_went(session, member.project_id, user.id, was_there=not comes)


def of_user(session: Session, user: User) -> Pairs:
    """Return the tasks that follow at once when a user was disabled or enabled, or has another role."""
    _lock(session)
    connection = session.connection()
    member_of = set(connection.scalars(select(Member.project_id).where(Member.user_id == user.id)))
    enabled, was_enabled = user.disabled_at is None, _before(user, "disabled_at") is None
    pairs: Pairs = []
    for project_id in connection.scalars(select(Project.id).order_by(Project.id)).all():
        is_there = enabled and (user.role == "admin" or project_id in member_of)
        was_there = was_enabled and (_before(user, "role") == "admin" or project_id in member_of)
        if is_there != was_there:
            pairs += _came_or_went(session, project_id, user.id, was_there=was_there)
    return pairs


def _lock(session: Session, project_id: str | None = None) -> None:
    """Lock a project, or all in one order, on PostgreSQL: a verdict that is stored at this moment is then seen."""
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        chosen = select(Project.id).order_by(Project.id).with_for_update(key_share=True)
        connection.execute(chosen if project_id is None else chosen.where(Project.id == project_id)).all()


def _came_or_went(session: Session, project_id: str, person_id: str, *, was_there: bool) -> Pairs:
    connection = session.connection()
    table: Any = TaskChange.__table__
    of_person = TaskChange.project_id == project_id, TaskChange.kind == PEOPLE, TaskChange.person_id == person_id
    earlier = connection.execute(select(TaskChange.number, TaskChange.finished_at).where(*of_person)).first()
    mine = Annotation.project_id == project_id, Annotation.status == "rejected", Annotation.author_id == person_id
    some = select(Annotation.id).where(*mine).limit(FEW + 1).subquery()
    are_few = (connection.scalar(select(func.count()).select_from(some)) or 0) <= FEW
    if are_few:
        ended = update(table).where(*of_person, TaskChange.finished_at.is_(None))
        connection.execute(ended.values(finished_at=now()))
        pairs = connection.execute(select(Annotation.document_id, Annotation.question_id).where(*mine))
        return [(document_id, question_id) for document_id, question_id in pairs]
    if earlier is not None and earlier.finished_at is None:
        return []  # the change goes on, and begins anew where it is no longer right (`follow_again`)
    documents = connection.scalar(select(func.count()).where(Document.project_id == project_id))
    asked_at, number = now(), 1 if earlier is None else earlier.number + 1
    row = {"project_id": project_id, "kind": PEOPLE, "person_id": person_id, "number": number, "place": "", "done": 0}
    row |= {"total": documents, "was_there": was_there, "asked_at": asked_at, "moved_at": asked_at}
    connection.execute(delete(table).where(*of_person))
    connection.execute(insert(table), row)
    return []


def _before(row: Any, name: str) -> Any:
    """Return the value of an attribute before the flush."""
    history = inspect(row).attrs[name].history
    return history.deleted[0] if history.deleted else getattr(row, name)
