"""Registry of model versions: the shipped one, those of projects, and which one a project uses.

The champion of a project is the version of its newest promotion (engine.models.promotions). A project without
promotions uses the shipped version, which belongs to no project.
"""

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

import model
from db.blobs import BlobMissing
from db.startup_lock import wait_for_turn
from db.tables import ModelVersion, Project, Promotion, Run, Snapshot
from engine.errors import NotFound, Refused
from engine.paging import Order, Page, rows_of
from engine.queries import existing
from engine.settings import Settings
from engine.version import code_version
from engine.workspace import Workspace

SHIPPED_LABEL = "nano"
_NONE = "No model is registered yet; start the application or a worker once."
MOST_LISTED = 1000  # versions of one page


class VersionView(BaseModel):
    """A model version with its parent, figures and training data."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str = Field(description="Short name for people.")
    number: int = Field(description="Number within the project; 0: the version that it started with.")
    parent_id: str | None = Field(description="Version that its training began with; null for the first.")
    champion: bool = Field(description="Whether it is the model in use.")
    created_at: datetime
    figures: dict[str, Any] = Field(
        description="Figures of its verdict, by holdout; of a version that no run has made, those of the newest "
        "verdict against it."
    )
    snapshot_sha256: str | None = Field(description="Snapshot that it learned from; null for the first.")
    optimizer: dict[str, Any] = Field(description="Optimizer and settings of its training.")
    missing: bool = Field(
        description="Whether its checkpoint is missing from disk: it can neither answer nor be trained."
    )


def shipped_path(settings: Settings) -> Path:
    """Return the initial checkpoint of projects: from the settings, else the shipped one."""
    return settings.model_path or Path(str(model.__file__)).parent / "weights" / "nano.safetensors"


def ensure_shipped(workspace: Workspace) -> ModelVersion:
    """Register the initial checkpoint of projects, unless it is registered last; return its version.

    Called when a process starts. Raises Refused when the checkpoint is missing.
    """
    path = shipped_path(workspace.settings)
    if not path.is_file():
        raise Refused(f"There is no model at {path}; reinstall Glossator, or set GLOSSATOR_MODEL_PATH to a checkpoint.")
    sha256 = workspace.blobs.put_file(path)
    with workspace.database.write() as session:
        wait_for_turn(session.connection())  # NULL project ids never collide, so nothing else refuses a second one
        newest = _find_shipped(session)
        if newest is not None and newest.checkpoint_sha256 == sha256:
            return newest
        version = ModelVersion(
            project_id=None, number=0, checkpoint_sha256=sha256, code_version=code_version(), figures={}
        )
        session.add(version)
        session.flush()
        return version


def champion(session: Session, project_id: str) -> ModelVersion:
    """Return the champion of a project. Raises NotFound when no version is registered."""
    promoted = session.scalar(
        select(ModelVersion)
        .join(Promotion, Promotion.version_id == ModelVersion.id)
        .where(Promotion.project_id == project_id)
        .order_by(Promotion.sequence.desc())
        .limit(1)
    )
    version = promoted or _find_shipped(session)
    if version is None:
        raise NotFound(_NONE)
    return version


def champions(session: Session, projects: Collection[str]) -> dict[str, ModelVersion]:
    """Return the champions of projects in two statements; see `champion`. Raises NotFound as it does."""
    newest = (
        select(Promotion.project_id, func.max(Promotion.sequence).label("sequence"))
        .where(Promotion.project_id.in_(projects))
        .group_by(Promotion.project_id)
        .subquery()
    )
    of_newest = (Promotion.project_id == newest.c.project_id) & (Promotion.sequence == newest.c.sequence)
    chosen = (
        select(Promotion.project_id, ModelVersion)
        .join(newest, of_newest)
        .join(ModelVersion, ModelVersion.id == Promotion.version_id)
    )
    promoted = dict(session.execute(chosen).tuples().all())
    without = set(projects) - promoted.keys()
    if without:
        shipped = _find_shipped(session)
        if shipped is None:
            raise NotFound(_NONE)
        promoted |= dict.fromkeys(without, shipped)
    return promoted


def origin(session: Session, version: ModelVersion) -> ModelVersion:
    """Return the origin of a version and all its parents; the version itself when it has none."""
    while version.parent_id is not None:
        version = session.get_one(ModelVersion, version.parent_id)
    return version


def label(version: ModelVersion) -> str:
    """Return the display name: "nano" for the shipped version, "v1", "v2" and so on in a project."""
    return SHIPPED_LABEL if version.project_id is None else f"v{version.number}"


def named(session: Session, project_id: str, name: str) -> ModelVersion:
    """Return a version that a project may use, by its id or its name; of several shipped ones, the newest.

    Raises NotFound.
    """
    usable = or_(ModelVersion.project_id == project_id, ModelVersion.project_id.is_(None))
    called = ModelVersion.id == name
    if name == SHIPPED_LABEL:
        called = ModelVersion.project_id.is_(None)
    elif number := re.fullmatch(r"v([0-9]{1,9})", name):
        called = (ModelVersion.project_id == project_id) & (ModelVersion.number == int(number[1]))
    newest = ModelVersion.created_at.desc(), ModelVersion.id.desc()
    version = session.scalar(select(ModelVersion).where(usable, called).order_by(*newest).limit(1))
    if version is None:
        raise NotFound(f"The project has no model version {name!r}.")
    return version


def checkpoint_path(workspace: Workspace, version: ModelVersion) -> Path:
    """Return the path of a version's checkpoint: the weights in use. Raises Refused when it is missing on disk."""
    return _path(workspace, version, version.checkpoint_sha256)


def fold_paths(workspace: Workspace, version: ModelVersion) -> list[Path]:
    """Return the paths of the weights of a version's folds (retraining/folds.py); empty without folds.

    Raises Refused when one is missing on disk.
    """
    return [_path(workspace, version, sha256) for sha256 in version.fold_sha256s]


def _path(workspace: Workspace, version: ModelVersion, sha256: str) -> Path:
    try:
        return workspace.blobs.path(sha256)
    except BlobMissing:
        remedy = (
            "; start Glossator again, which puts it back"
            if version.project_id is None
            else ", lost or pruned; restore it from a backup, or use another model"
        )
        raise Refused(
            f"The model {label(version)} is missing from disk: its checkpoint {sha256[:12]} "
            f"is not in {workspace.blobs.address}{remedy}."
        ) from None


def versions(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> Page[VersionView]:
    """Return a page of a project's versions, newest first, and of the shipped ones behind them.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    chosen = select(ModelVersion, Snapshot.sha256).outerjoin(Snapshot, Snapshot.id == ModelVersion.snapshot_id)
    parts = [
        (
            Order(f"models {project_id}", (ModelVersion.number,), falls=True),
            chosen.where(ModelVersion.project_id == project_id),
        ),
        (Order("shipped models", (ModelVersion.id,), falls=True), chosen.where(ModelVersion.project_id.is_(None))),
    ]
    with workspace.database.read() as session:
        existing(session, Project, project_id)
        rows, following = rows_of(session, parts, min(limit, MOST_LISTED), cursor)
        reigning = champion(session, project_id).id if rows else None
        judged = {version.id: version.figures or _as_parent(session, project_id, version.id) for version, _ in rows}
    views = [
        VersionView(
            id=version.id,
            label=label(version),
            number=version.number,
            parent_id=version.parent_id,
            champion=version.id == reigning,
            created_at=version.created_at,
            figures=judged[version.id],
            snapshot_sha256=sha256,
            optimizer=version.optimizer,
            missing=version.checkpoint_sha256 not in workspace.blobs,
        )
        for version, sha256 in rows
    ]
    return Page(views, following)


def _as_parent(session: Session, project_id: str, version_id: str) -> dict[str, Any]:
    """Return the figures of a version in the newest verdict that compared another one with it; empty without any."""
    verdict = session.scalar(
        select(Run.verdict)
        .where(Run.project_id == project_id, Run.parent_id == version_id, Run.status == "judged")
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(1)
    )
    return {
        name: holdout["parent"] for name, holdout in (verdict or {}).get("holdouts", {}).items() if "parent" in holdout
    }


def register(
    session: Session,
    project_id: str,
    *,
    checkpoint_sha256: str,
    fold_sha256s: Sequence[str],
    parent_id: str,
    snapshot_id: str,
    seed: int,
    optimizer: dict[str, Any],
) -> ModelVersion:
    """Add a project's next version in the caller's transaction. Its checkpoints must be stored blobs."""
    take_turn(session, project_id)
    newest = session.scalar(select(func.max(ModelVersion.number)).where(ModelVersion.project_id == project_id))
    version = ModelVersion(
        project_id=project_id,
        number=(newest or 0) + 1,
        checkpoint_sha256=checkpoint_sha256,
        fold_sha256s=list(fold_sha256s),
        parent_id=parent_id,
        snapshot_id=snapshot_id,
        seed=seed,
        code_version=code_version(),
        optimizer=optimizer,
    )
    session.add(version)
    session.flush()
    return version


def take_turn(session: Session, project_id: str) -> None:
    """Lock the project: otherwise two transactions on PostgreSQL could read the same champion."""
    session.scalar(select(Project.id).where(Project.id == project_id).with_for_update())


def _find_shipped(session: Session) -> ModelVersion | None:
    return session.scalar(
        select(ModelVersion)
        .where(ModelVersion.project_id.is_(None))
        .order_by(ModelVersion.created_at.desc(), ModelVersion.id.desc())
        .limit(1)
    )
