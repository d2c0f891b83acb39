"""Promotion and rollback: which version is the champion of a project.

Rows are never updated: a change of champion adds a row.
"""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import ModelVersion, Promotion, Run, User
from engine import audit
from engine.accounts import permissions
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.models import registry
from engine.workspace import Workspace


def promote(
    workspace: Workspace, project_id: str, version_id: str, *, by: User | None, force: bool = False, reason: str = ""
) -> Promotion:
    """Make a version the champion of a project. Audited when a person does it.

    Args:
        workspace: Open workspace.
        project_id: Project of the champion.
        version_id: Version to promote.
        by: Acting admin; None for the gate.
        force: Promote without a passed verdict of the gate.
        reason: Reason for the audit trail.

    Raises:
        Conflict: The version is the champion already, or the champion changed since the verdict.
        Forbidden: The user is not an admin of the project.
        Refused: The verdict failed or is missing, or the checkpoint is missing on disk.
    """
    with workspace.database.write() as session:
        registry.take_turn(session, project_id)
        version = _version_of(session, project_id, version_id)
        if by is not None and permissions.role_in(session, by, project_id) != "admin":
            raise Forbidden("Only an admin of the project can promote a model; ask one.")
        if force and by is None:
            raise Forbidden("Only an admin can promote a model that has not passed the gate; ask one.")
        before = registry.champion(session, project_id)
        if before.id == version.id:
            raise Conflict(f"{registry.label(version)} is already the model in use; choose another one.")
        registry.checkpoint_path(workspace, version)
        run = session.scalar(select(Run).where(Run.challenger_id == version.id, Run.project_id == project_id).limit(1))
        objection = _objection(session, version, before, run)
        if objection is not None and not force:
            raise objection
        forced = objection is not None
        promotion = _append(
            session,
            project_id,
            version,
            before,
            run_id=run.id if run else None,
            kind="forced" if forced else "gate" if by is None else "by_hand",
            reason=reason,
            by=by,
        )
        if forced:
            _audit(session, "models.promote.forced", promotion, version, by, {"objection": str(objection)})
        elif by is not None:
            _audit(session, "models.promote", promotion, version, by, {})
        return promotion


def rollback(workspace: Workspace, project_id: str, *, by: User | None, reason: str = "") -> Promotion:
    """Roll back to the previous champion; a second rollback goes one version further back.

    Raises Refused without an earlier champion or without its checkpoint, Forbidden for a user who is not an admin.
    """
    with workspace.database.write() as session:
        registry.take_turn(session, project_id)
        if by is not None and permissions.role_in(session, by, project_id) != "admin":
            raise Forbidden("Only an admin of the project can roll back a model; ask one.")
        previous = previous_champion(session, project_id)
        if previous is None:
            raise Refused("There is no previous model to roll back to.")
        version = _version_of(session, project_id, previous)
        registry.checkpoint_path(workspace, version)
        promotion = _append(
            session,
            project_id,
            version,
            registry.champion(session, project_id),
            run_id=None,
            kind="rollback",
            reason=reason,
            by=by,
        )
        _audit(session, "models.rollback", promotion, version, by, {})
        return promotion


def previous_champion(session: Session, project_id: str) -> str | None:
    """Return the version that a rollback would return to; None without one."""
    line = _succession(session, project_id)
    return line[-2] if len(line) > 1 else None


def was_promoted(session: Session, version: ModelVersion) -> bool:
    """Return whether a version was ever promoted: its weights must not change any more."""
    return session.scalar(select(Promotion.id).where(Promotion.version_id == version.id).limit(1)) is not None


def _version_of(session: Session, project_id: str, version_id: str) -> ModelVersion:
    version = session.get(ModelVersion, version_id)
    if version is None or version.project_id not in (None, project_id):
        raise NotFound("There is no such model in this project.")
    return version


def _objection(session: Session, version: ModelVersion, before: ModelVersion, run: Run | None) -> Refused | None:
    """Return the objection to promoting `version` over `before`; None when the gate passed this pair."""
    if run is None or not run.verdict:
        return Refused(f"The gate has not judged {registry.label(version)} yet; an admin can promote it nevertheless.")
    if run.status == "running":
        return Conflict(f"The run of {registry.label(version)} has not ended yet; wait for it.")
    if not run.verdict.get("passed"):
        return Refused(
            f"{registry.label(version)} did not pass the gate: {run.verdict.get('sentence', '')} "
            "An admin can promote it nevertheless."
        )
    if run.parent_id != before.id:
        parent = session.get(ModelVersion, run.parent_id)
        return Conflict(
            f"{registry.label(version)} was judged against {registry.label(parent) if parent else 'another model'}, "
            f"but the model in use is now {registry.label(before)}; retrain, or let an admin promote it nevertheless."
        )
    return None


def _succession(session: Session, project_id: str) -> list[str]:
    """Return the stack of champions, oldest first: promotions push, rollbacks pop."""
    rows = session.scalars(
        select(Promotion).where(Promotion.project_id == project_id).order_by(Promotion.sequence)
    ).all()
    line: list[str] = []
    for row in rows:
        if not line and row.previous_id is not None:
            line.append(row.previous_id)
        if row.kind == "rollback":
            line.pop()
        else:
            line.append(row.version_id)
    return line


def _append(
    session: Session,
    project_id: str,
    version: ModelVersion,
    before: ModelVersion,
    *,
    run_id: str | None,
    kind: str,
    reason: str,
    by: User | None,
) -> Promotion:
    newest = session.scalar(select(func.max(Promotion.sequence)).where(Promotion.project_id == project_id))
    promotion = Promotion(
        project_id=project_id,
        sequence=(newest or 0) + 1,
        version_id=version.id,
        previous_id=before.id,
        run_id=run_id,
        kind=kind,
        reason=reason,
        promoted_by=by.id if by else None,
    )
    session.add(promotion)
    session.flush()
    return promotion


def _audit(
    session: Session, action: str, promotion: Promotion, version: ModelVersion, by: User | None, details: dict[str, Any]
) -> None:
    audit.record(
        session,
        by.id if by else None,
        action,
        promotion.version_id,
        promotion.project_id,
        promotion=promotion.id,
        previous=promotion.previous_id,
        model=registry.label(version),
        reason=promotion.reason,
        **details,
    )
