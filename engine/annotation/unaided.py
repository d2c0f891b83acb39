"""Tasks that are answered without the model: people who start from one proposal agree too easily."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Annotation, Prediction, Project, Task
from engine.errors import Refused
from engine.projects.project_settings import settings_of
from engine.tasks.opening.overlap import is_unaided

SENTENCE = "This question is answered without the model: agreement between people is measured on it. Mark the answer."


def is_asked_unaided(session: Session, project_id: str, document_id: str, question_id: str) -> bool:
    """Return whether people answer a question of a document without the model's proposal."""
    of_question = Task.document_id == document_id, Task.question_id == question_id
    task = session.execute(select(Task.id, Task.wanted).where(*of_question, Task.closed_at.is_(None))).one_or_none()
    if task is None or task.wanted < 2:
        return False
    return is_unaided(task.id, task.wanted, settings_of(session.get_one(Project, project_id)).unaided_share)


def unaided_questions(session: Session, project_id: str, document_id: str) -> set[str]:
    """Return the questions of a document that people answer without the model's proposal, as `is_asked_unaided`."""
    several = Task.document_id == document_id, Task.closed_at.is_(None), Task.wanted > 1
    tasks = session.execute(select(Task.id, Task.question_id, Task.wanted).where(*several)).all()
    if not tasks:
        return set()
    share = settings_of(session.get_one(Project, project_id)).unaided_share
    return {question_id for task_id, question_id, wanted in tasks if is_unaided(task_id, wanted, share)}


def is_without_model(session: Session, annotation: Annotation) -> bool:
    """Return whether an answer is in the making that the model has to leave alone."""
    if annotation.status not in ("draft", "rejected"):
        return False
    shown = session.scalar(select(Prediction.id).where(Prediction.annotation_id == annotation.id).limit(1))
    return shown is None and is_asked_unaided(
        session, annotation.project_id, annotation.document_id, annotation.question_id
    )


def check_aided(session: Session, annotation: Annotation) -> None:
    """Check that the model may help with an answer. Raises Refused."""
    if is_without_model(session, annotation):
        raise Refused(SENTENCE)
