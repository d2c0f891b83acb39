"""View of a project's stage: reason, measured precision, expected automatic answers, and audit."""

from datetime import datetime

from pydantic import BaseModel, Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.statuses import CLOSED
from db.tables import AutomaticAnswer, Project, TaskCount, User
from engine.annotation import automatic_checks
from engine.models import registry
from engine.projects import project_stage
from engine.projects.project_settings import settings_of
from engine.queries import existing, in_force
from engine.selection import stages
from engine.selection.precision import lowest
from engine.selection.survey_figures import survey_figures
from engine.statistics.intervals import share_interval
from engine.workspace import Workspace


class PrecisionPoint(BaseModel):
    """Precision of answers at or above a confidence; `low` is the simultaneous 95 % lower bound."""

    threshold: float = Field(description="The confidence, 0..1.")
    answers: int = Field(description="Reviewed answers at or above it.")
    right: int = Field(description="Right answers among them.")
    documents: int = Field(description="Documents of these answers.")
    precision: float | None = Field(description="Share of right answers; null without answers.")
    low: float = Field(description="Lower bound of the precision at 95 %, valid for all points at once.")


class AuditView(BaseModel):
    """Audit of the champion's automatic answers, with the 95 % interval of the share that is right."""

    drawn: int = Field(description="Automatic answers drawn for a check.")
    checked: int = Field(description="Those that a person has answered.")
    right: int = Field(description="Those that the person confirmed.")
    low: float = Field(description="Lower end of the 95 % interval.")
    high: float = Field(description="Upper end of the 95 % interval.")


class StageView(BaseModel):
    """Stage of a project. `since`, `reason`, `changed_by`: of its latest change, None if automatic."""

    stage: str = Field(description="assisted, semi-automatic or automatic.")
    since: datetime | None = Field(description="Time of the latest change; null without one.")
    reason: str = Field(description="Reason of the latest change.")
    changed_by: str | None = Field(description="User who made it; null for an automatic change.")
    model: str = Field(description="Label of the model in use.")
    target: float = Field(description="Precision that automatic answers must reach.")
    least_answers: int = Field(description="Reviewed answers needed to measure the precision.")
    measured_answers: int = Field(description="Reviewed answers of holdout documents behind the measured precision.")
    measured_documents: int = Field(description="Documents of these answers.")
    points: list[PrecisionPoint] = Field(description="Precision by confidence.")
    threshold: float | None = Field(description="Lowest confidence that reaches the target; null when none does.")
    blocked: str | None = Field(description="Reason why no answer can be accepted automatically, as a sentence.")
    would_accept: int = Field(description="Open tasks that would be answered automatically now.")
    automatic: int = Field(description="Automatic answers in force: neither withdrawn nor answered by a person.")
    confirmed: int = Field(description="Automatic answers that a person confirmed.")
    corrected: int = Field(description="Automatic answers that a person fixed.")
    audit: AuditView
    surveyed: int = Field(description="Tasks that the survey has answered.")
    tasks: int = Field(description="Tasks of the project.")


def stage_view(workspace: Workspace, project_id: str) -> StageView:
    """Return a project's stage. Raises NotFound when there is no such project."""
    with workspace.database.read() as session:
        project = existing(session, Project, project_id)
        chosen, version = settings_of(project), registry.champion(session, project_id)
        change = project_stage.current(session, project_id)
        figures = survey_figures(session, project_id, version.id)
        measured = figures.measured
        point = lowest(measured.points, chosen.precision_target, chosen.precision_answers)
        audit = automatic_checks.audit_of(session, project_id, version.id)
        failed = automatic_checks.missed_target_sentence(audit, chosen.precision_target)
        low, high = share_interval(audit.right, audit.checked)
        standing, confirmed, corrected, tasks = _counts(session, project_id)
        blocked = failed or (None if point else stages.shortfall(measured, chosen, registry.label(version)))
        by = session.get(User, change.changed_by) if change is not None and change.changed_by else None
        return StageView(
            stage=change.stage if change is not None else "assisted",
            since=change.created_at if change is not None else None,
            reason=change.reason if change is not None else "",
            changed_by=by.name if by is not None else None,
            model=registry.label(version),
            target=chosen.precision_target,
            least_answers=chosen.precision_answers,
            measured_answers=measured.answers,
            measured_documents=measured.documents,
            points=[PrecisionPoint.model_validate(each, from_attributes=True) for each in measured.points],
            threshold=point.threshold if point is not None else None,
            blocked=blocked,
            would_accept=0 if point is None else figures.acceptable[point.threshold],
            automatic=standing,
            confirmed=confirmed,
            corrected=corrected,
            audit=AuditView(drawn=audit.drawn, checked=audit.checked, right=audit.right, low=low, high=high),
            surveyed=figures.surveyed,
            tasks=tasks,
        )


def _counts(session: Session, project_id: str) -> tuple[int, int, int, int]:
    """Return the numbers of automatic answers in force, confirmed by a person, and corrected by one; and of tasks."""
    opened = TaskCount.project_id == project_id, TaskCount.state != CLOSED
    row = session.execute(
        select(
            func.count().filter(in_force()),
            func.count().filter(AutomaticAnswer.verdict == "right"),
            func.count().filter(AutomaticAnswer.verdict == "wrong"),
            select(func.coalesce(func.sum(TaskCount.number), 0)).where(*opened).scalar_subquery(),
        ).where(AutomaticAnswer.project_id == project_id)
    ).one()
    return int(row[0]), int(row[1]), int(row[2]), int(row[3])
