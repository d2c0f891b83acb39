"""Pruning: the weights of versions that are no longer needed are deleted; their rows, figures and runs stay."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.blobs import BlobMissing
from db.tables import ModelVersion, Run, User
from engine import audit
from engine.accounts import permissions
from engine.errors import Conflict, Forbidden, Refused
from engine.models import promotions, registry
from engine.workspace import Workspace

KEPT = 3  # newest versions, besides the champion and the one before it


class PrunedVersion(BaseModel):
    """A version whose weights are deleted, or would be."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    files: int = Field(description="Number of its checkpoints on disk: the one in use, and those of folds.")
    bytes: int


def prune(
    workspace: Workspace, project_id: str, *, by: User, keep: int = KEPT, dry_run: bool = False
) -> list[PrunedVersion]:
    """Delete the weights of a project's versions, oldest first, and return what was deleted; audited.

    The champion, the version that a rollback would return to, the newest versions and the initial checkpoint stay. A
    file that a remaining version names, of any project, stays too. A version without weights can neither answer, nor
    be promoted, evaluated or trained from, and runs that began with it cannot be reproduced.

    Args:
        workspace: Open workspace.
        project_id: Project of the versions.
        by: Acting admin.
        keep: Number of newest versions that stay, at least 0.
        dry_run: Delete nothing.

    Raises:
        Conflict: A retraining of the project has not ended.
        Forbidden: The user is not an admin of the project.
        Refused: `keep` is below 0.
    """
    if keep < 0:
        raise Refused("The number of versions to keep must not be below 0.")
    with workspace.database.write() as session:
        registry.take_turn(session, project_id)  # as a promotion does, so none can choose a version meanwhile
        if permissions.role_in(session, by, project_id) != "admin":
            raise Forbidden("Only an admin of the project can delete weights; ask one.")
        if session.scalar(select(Run.id).where(Run.project_id == project_id, Run.status == "running").limit(1)):
            raise Conflict("A retraining of the project has not ended; wait for it, or stop it.")
        pruned = []
        candidates = _candidates(session, project_id, keep)
        named = _named(session, candidates)
        for version in candidates:
            own = [sha256 for sha256 in _weights(version) if sha256 not in named and sha256 in workspace.blobs]
            if not own:
                continue
            size = sum(_size(workspace, sha256) for sha256 in own)
            label = registry.label(version)
            pruned.append(PrunedVersion(id=version.id, label=label, files=len(own), bytes=size))
            if dry_run:
                continue
            audit.record(
                session, by.id, "models.prune", version.id, project_id, model=label, megabytes=round(size / 1e6)
            )
            for sha256 in own:
                workspace.blobs.remove(sha256)
        return pruned


def _candidates(session: Session, project_id: str, keep: int) -> Sequence[ModelVersion]:
    """Return the versions of a project whose weights are not needed, oldest first."""
    rows = session.scalars(
        select(ModelVersion).where(ModelVersion.project_id == project_id).order_by(ModelVersion.number)
    ).all()
    needed = {registry.champion(session, project_id).id, promotions.previous_champion(session, project_id)}
    return [version for version in rows[: max(0, len(rows) - keep)] if version.id not in needed]


def _named(session: Session, candidates: Iterable[ModelVersion]) -> set[str]:
    """Return the files that versions other than the candidates name."""
    gone = {version.id for version in candidates}
    rows = session.execute(select(ModelVersion.id, ModelVersion.checkpoint_sha256, ModelVersion.fold_sha256s))
    return {sha256 for id_, own, folds in rows if id_ not in gone for sha256 in (own, *folds)}


def _weights(version: ModelVersion) -> list[str]:
    return list(dict.fromkeys((version.checkpoint_sha256, *version.fold_sha256s)))


def _size(workspace: Workspace, sha256: str) -> int:
    with suppress(BlobMissing, FileNotFoundError):
        return workspace.blobs.path(sha256).stat().st_size
    return 0
