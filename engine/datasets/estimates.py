"""What the tab Export says before an export: how many answers a choice would take, and which questions are answered."""

from dataclasses import dataclass

from sqlalchemy import exists, func, select, union_all

from db.tables import Annotation, AutomaticAnswer, Question, Revision, Task
from engine.annotation.automatic_checks import in_force
from engine.datasets.automatic_labels import chosen_automatic, trusted
from engine.datasets.filters import Filters
from engine.datasets.snapshots import chosen_answers
from engine.queries import standing
from engine.statuses import ACCEPTED, AUTOMATIC
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated number of answers and documents of a choice; an upper bound unless `exact`."""

    answers: int
    documents: int
    exact: bool


def would_take(workspace: Workspace, project_id: str, filters: Filters) -> Estimate:
    """Return an estimate of the answers that `freeze_with` would take now.

    Counted by the database: weights and quality checks are not applied.
    """
    chosen = chosen_answers(Annotation.project_id == project_id, filters).order_by(None)
    accepted = chosen.where(Revision.status.in_(ACCEPTED)).with_only_columns(
        Annotation.document_id, Annotation.question_id
    )
    others = chosen.where(Revision.status.not_in(ACCEPTED)).with_only_columns(
        Annotation.document_id, Annotation.question_id
    )
    parts = [accepted.distinct(), others]
    with workspace.database.read() as session:
        versions = trusted(session, project_id) if AUTOMATIC in filters.statuses else []
        if versions:
            automatic = chosen_automatic(AutomaticAnswer.project_id == project_id, versions, filters)
            parts.append(automatic.with_only_columns(Task.document_id, Task.question_id))
        taken = union_all(*parts).subquery()
        answers, documents = session.execute(
            select(func.count(), func.count(taken.c.document_id.distinct())).select_from(taken)
        ).one()
    return Estimate(answers, documents, exact=filters.agreement is None and filters.unfit and not versions)


def questions_answered(workspace: Workspace, project_id: str) -> list[str]:
    """Return the answered questions of a project, automatically answered ones included, alphabetically."""
    with workspace.database.read() as session:
        asked = select(Question.text).where(Question.project_id == project_id)
        answered = exists().where(Annotation.question_id == Question.id, Annotation.head > 0, standing())
        of_question = AutomaticAnswer.task_id == Task.id, Task.question_id == Question.id
        by_trusted = AutomaticAnswer.model_version_id.in_(trusted(session, project_id))
        automatic = exists().where(*of_question, in_force(), by_trusted)
        return list(session.scalars(asked.where(answered | automatic).order_by(Question.text)))
