"""History of a project's stage: assisted, semi-automatic or automatic. The newest row is current.

engine.selection.stages holds the conditions of the stage automatic.
"""

from typing import Any, Literal, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import StageChange
from engine import audit
from engine.tasks.opening.open_tasks import lock_project

Stage = Literal["assisted", "semi_automatic", "automatic"]
STAGES: tuple[Stage, ...] = get_args(Stage)
NAMES: dict[str, str] = {"assisted": "assisted", "semi_automatic": "semi-automatic", "automatic": "automatic"}


def current(session: Session, project_id: str) -> StageChange | None:
    """Return the newest stage change of a project, or None."""
    return session.scalar(
        select(StageChange).where(StageChange.project_id == project_id).order_by(StageChange.sequence.desc()).limit(1)
    )


def stage_of(session: Session, project_id: str) -> str:
    """Return the stage of a project."""
    change = current(session, project_id)
    return change.stage if change is not None else "assisted"


def accepted_from(session: Session, project_id: str) -> float | None:
    """Return the confidence from which an automatic project accepts answers, as it became so; None in other stages."""
    change = current(session, project_id)
    return change.figures.get("threshold") if change is not None and change.stage == "automatic" else None


def sequence_of(session: Session, project_id: str) -> int:
    """Return the number of stage changes of a project."""
    return session.scalar(select(func.max(StageChange.sequence)).where(StageChange.project_id == project_id)) or 0


def fall_back(session: Session, project_id: str, version_id: str, reason: str) -> StageChange | None:
    """Set a project from automatic to semi-automatic inside the caller's unit of work.

    Args:
        session: an open session.
        project_id: project.
        version_id: model version in use.
        reason: reason for people.

    Returns:
        The change, or None when the project is not automatic.
    """
    lock_project(session, project_id)
    if stage_of(session, project_id) != "automatic":
        return None
    change = step(session, project_id, "semi_automatic", version_id, {}, reason, None)
    audit.record(session, None, "stage.fall_back", project_id, project_id, stage="semi_automatic", reason=reason)
    return change


def step(
    session: Session,
    project_id: str,
    stage: str,
    version_id: str | None,
    figures: dict[str, Any],
    reason: str,
    by: str | None,
) -> StageChange:
    """Add a stage change; the caller has locked the project.

    Args:
        session: an open session.
        project_id: project.
        stage: new stage.
        version_id: model version in use.
        figures: figures behind the change.
        reason: reason for people.
        by: id of the acting user; None: Glossator.
    """
    change = StageChange(
        project_id=project_id,
        sequence=sequence_of(session, project_id) + 1,
        stage=stage,
        model_version_id=version_id,
        figures=figures,
        reason=reason,
        changed_by=by,
    )
    session.add(change)
    session.flush()
    return change
