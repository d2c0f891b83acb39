"""Rejected answers of somebody who came or went: their tasks follow document by document.

A rejected answer reserves a place of its task while its author is there to fix it (db.presence).
"""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db import presence, task_states
from db.tables import Annotation, Project, TaskChange

KIND = presence.PEOPLE
follow_again = presence.follow_again


def follow_person(session: Session, project: Project, documents: Sequence[str], change: TaskChange) -> None:
    """Note the tasks of a person's rejected answers to questions of some documents.

    Args:
        session: an open session.
        project: locked project.
        documents: ids of some of its documents.
        change: tells who came or went.
    """
    # By document alone: with the project, a database would rather read all rejected answers of the person.
    mine = (
        Annotation.document_id.in_(documents),
        Annotation.author_id == change.person_id,
        func.coalesce(Annotation.status, "") == "rejected",
    )
    rejected = select(Annotation.document_id, Annotation.question_id).where(*mine)
    for document_id, question_id in session.execute(rejected):
        task_states.mark_dirty(session, document_id, question_id)
