"""Stage of a project, as in SAM's data engine (Kirillov et al. 2023, section 4).

- Assisted: people ask, the model answers.
- Semi-automatic: the model has answered every task in advance, people confirm.
- Automatic: answers above a confidence are accepted without a person; precision there was measured on holdout
  documents, and people check a share.

A stage change is a new row with its reason; the newest counts.
"""

from dataclasses import asdict
from typing import Any

from db.tables import StageChange, User
from engine import audit
from engine.accounts import permissions
from engine.annotation import automatic_checks
from engine.errors import Conflict, Forbidden, Refused
from engine.models import registry
from engine.plurals import count
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.projects.project_stage import NAMES, STAGES, stage_of, step
from engine.selection.precision import Point, lowest
from engine.selection.survey_figures import Measured, measure
from engine.tasks.opening.open_tasks import lock_project
from engine.workspace import Workspace


def set_stage(workspace: Workspace, project_id: str, stage: str, *, by: User, reason: str = "") -> StageChange:
    """Move a project to a stage; return the change. Audited.

    Raises:
        Forbidden: The user is not an admin of the project.
        Conflict: The project is at that stage already.
        Refused: "automatic" without the measured precision, or after a failed audit.
    """
    if stage not in STAGES:
        raise Refused(f"There is no stage {stage!r}; choose one of {', '.join(STAGES)}.")
    if stage == "automatic":
        with workspace.database.read() as session:
            # Masks are compared here and the result cached, so the write transaction is short. Rights are checked
            # below.
            if permissions.role_in(session, by, project_id) == "admin":
                measure(session, project_id, registry.champion(session, project_id).id)
    with workspace.database.write() as session:
        project = lock_project(session, project_id)
        if permissions.role_in(session, by, project_id) != "admin":
            raise Forbidden("Only an admin of the project can change its stage; ask one.")
        if stage_of(session, project_id) == stage:
            raise Conflict(f"The project is {NAMES[stage]} already; choose another stage.")
        version = registry.champion(session, project_id)
        figures: dict[str, Any] = {}
        if stage == "automatic":
            chosen = settings_of(project)
            failed = automatic_checks.failed_audit_sentence(session, project_id, version.id, chosen.precision_target)
            if failed is not None:
                raise Refused(f"{failed} Use another model, or lower the target.")
            estimate = measure(session, project_id, version.id)
            point = lowest(estimate.points, chosen.precision_target, chosen.precision_answers)
            if point is None:
                raise Refused(shortfall(estimate, chosen, registry.label(version)))
            figures = asdict(point)
        change = step(session, project_id, stage, version.id, figures, reason, by.id)
        audit.record(
            session, by.id, "stage.change", project_id, project_id, stage=stage, reason=reason, figures=figures
        )
        return change


def shortfall(found: Measured, chosen: ProjectSettings, model: str) -> str:
    """Return why answers of this model cannot be accepted automatically yet, in one or two sentences."""
    target = f"{chosen.precision_target:.1%}"
    if found.answers == 0:
        return (
            f"The precision of {model} is not measured yet: run a survey, and accept answers to standard "
            "questions on held-out documents."
        )
    if found.answers < chosen.precision_answers:
        return (
            f"The precision of {model} was measured on {count(found.answers, 'reviewed answer')} of held-out "
            f"documents; {chosen.precision_answers} are needed."
        )
    enough = [point for point in found.points if point.answers >= chosen.precision_answers]
    if not enough:
        return (
            f"{model} had enough confidence in fewer than {chosen.precision_answers} of its "
            f"{count(found.answers, 'reviewed answer')} of held-out documents. Accept more answers there."
        )
    best: Point = max(enough, key=lambda point: (point.low, point.threshold))
    return (
        f"{model} has not reached the target of {target}: at confidence {best.threshold:.2f} and above, "
        f"{best.right} of {best.answers} reviewed answers of held-out documents were right "
        f"(lower bound {best.low:.1%})."
    )
