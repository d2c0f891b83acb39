"""Pruning: the weights of versions that are no longer needed are deleted; their rows, figures and runs stay."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session, defer

from db import changes
from db.tables import Job, ModelVersion, Run, User
from engine import audit, blob_turns
from engine.accounts import permissions
from engine.errors import Conflict, Forbidden, Refused
from engine.jobs import queue
from engine.models import promotions, registry
from engine.workspace import Workspace

KEPT = 3  # newest versions
RETRAIN = "retrain"  # kind of the jobs that train versions (engine.training.retraining)
UNENDED = "A retraining of the project has not ended; wait for it, or stop it."
MEAN_OF_FOLDS = "mean_sha256"  # in the settings of a run: the weights that a refit of its challenger replaced


class PrunedVersion(BaseModel):
    """A version whose weights are deleted, or would be."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    files: int = Field(description="Number of its checkpoints on disk: the one in use, those of folds, and their mean.")
    bytes: int


def prunable(workspace: Workspace, project_id: str, *, by: User, keep: int = KEPT) -> list[PrunedVersion]:
    """Return the versions of a project whose weights `prune` would delete, oldest first. Raises as it does."""
    with workspace.database.read() as session:
        return [version for version, _ in _prunable(workspace, session, project_id, by, keep)]


def prune(workspace: Workspace, project_id: str, *, by: User, keep: int = KEPT) -> Iterator[PrunedVersion]:
    """Delete the weights of a project's versions, oldest first; yield each version once its weights are deleted.

    The champion, the version that a rollback would return to, versions that passed against the champion, the newest
    versions and the initial checkpoint stay. A file that a remaining version names, of any project, stays too. A
    version without weights can neither answer, nor be promoted, evaluated or trained from, and runs that made it or
    began with it cannot be reproduced. Each deletion is audited.

    Args:
        workspace: Open workspace.
        project_id: Project of the versions.
        by: Acting admin.
        keep: Number of newest versions that stay, at least 0.

    Raises:
        Conflict: A retraining of the project has not ended, or a backup copies the files.
        Forbidden: The user is not an admin of the project.
        Refused: `keep` is below 0.
        OSError: A file cannot be deleted.
    """
    holder = blob_turns.holder_of("pruning of models")
    while True:
        with workspace.database.write() as session:  # of each version, so that what is gone is audited
            blob_turns.take(session, holder)
            registry.take_turn(session, project_id)  # as a promotion does, so none can choose a version meanwhile
            pruned, files = next(_prunable(workspace, session, project_id, by, keep), (None, ()))
            if pruned is None:
                blob_turns.give_back(session, holder)
                return
            delete_weights(workspace, session, project_id, pruned, files, by)
            blob_turns.give_back(session, holder)
        yield pruned


def delete_weights(
    workspace: Workspace, session: Session, project_id: str, version: PrunedVersion, files: Iterable[str], by: User
) -> None:
    """Delete the files of a version in a unit of work that has the turns on blobs and models. Audited."""
    megabytes = round(version.bytes / 1e6)
    audit.record(session, by.id, "models.prune", version.id, project_id, model=version.label, megabytes=megabytes)
    changes.publish(session, "models", project_id, version.id)
    session.flush()
    for sha256 in files:
        workspace.blobs.remove(sha256)


def _prunable(
    workspace: Workspace, session: Session, project_id: str, by: User, keep: int
) -> Iterator[tuple[PrunedVersion, Sequence[str]]]:
    """Yield versions that can be pruned, with their files; a file of two of them comes with the first."""
    if keep < 0:
        raise Refused("The number of versions to keep must not be below 0.")
    check_allowed(session, project_id, by)
    candidates = _candidates(session, project_id, keep)
    needed = _named_by_others(session, candidates)
    means = _means(session, project_id)
    seen: set[str] = set()
    for version in candidates:
        own = dict.fromkeys((version.checkpoint_sha256, *version.fold_sha256s))
        if needed.keys() & own.keys():  # all of its files or none
            continue
        own |= dict.fromkeys(means.get(version.id, set()) - needed.keys())
        files = _sizes(workspace, (sha256 for sha256 in own if sha256 not in seen))
        seen |= own.keys()
        if files:
            yield _as_pruned(version, files), list(files)


def check_allowed(session: Session, project_id: str, by: User) -> None:
    """Raise Forbidden for a user who is not an admin of the project, Conflict while a retraining goes on."""
    if permissions.role_in(session, by, project_id) != "admin":
        raise Forbidden("Only an admin of the project can delete weights; ask one.")
    running = select(Run.id).where(Run.project_id == project_id, Run.status == "running")
    # A job that begins later trains from the model in use then. One that has begun may name its version only later.
    opened = select(Job.id).where(Job.project_id == project_id, Job.kind == RETRAIN, Job.status.in_(queue.OPEN))
    if any(session.scalar(chosen.limit(1)) is not None for chosen in (running, opened)):
        raise Conflict(UNENDED)


def weights_of(
    workspace: Workspace, session: Session, project_id: str, version: ModelVersion
) -> tuple[PrunedVersion, Sequence[str]]:
    """Return what the deletion of a version's weights would delete, and the files; no file when none is left.

    Raises Conflict where another version, of any project, has one of them in use.
    """
    others = _named_by_others(session, [version])
    own = dict.fromkeys((version.checkpoint_sha256, *version.fold_sha256s))
    sharing = next((others[sha256] for sha256 in own if sha256 in others), None)
    if sharing is not None:
        own_label = sharing.project_id in (None, project_id)
        whose = registry.label(sharing) if own_label else "a model of another project"
        raise Conflict(f"{registry.label(version)} has weights in common with {whose}, so they stay.")
    own |= dict.fromkeys(_means(session, project_id).get(version.id, set()) - others.keys())
    files = _sizes(workspace, own)
    return _as_pruned(version, files), list(files)


def _sizes(workspace: Workspace, files: Iterable[str]) -> dict[str, int]:
    """Return the bytes of the files that are on disk, by name."""
    sizes = {sha256: workspace.blobs.size(sha256) for sha256 in files}
    return {sha256: size for sha256, size in sizes.items() if size is not None}


def _as_pruned(version: ModelVersion, files: Mapping[str, int]) -> PrunedVersion:
    return PrunedVersion(id=version.id, label=registry.label(version), files=len(files), bytes=sum(files.values()))


def _candidates(session: Session, project_id: str, keep: int) -> list[ModelVersion]:
    """Return the versions of a project whose weights are not needed, oldest first."""
    rows = session.scalars(
        select(ModelVersion).where(ModelVersion.project_id == project_id).order_by(ModelVersion.number)
    ).all()
    champion = registry.champion(session, project_id).id
    judged = session.execute(
        select(Run.challenger_id, Run.verdict).where(
            Run.project_id == project_id, Run.parent_id == champion, Run.status == "judged"
        )
    )
    needed = {champion, promotions.previous_champion(session, project_id)}
    needed |= {challenger for challenger, verdict in judged if verdict.get("passed")}
    return [version for version in rows[: max(0, len(rows) - keep)] if version.id not in needed]


def _named_by_others(session: Session, candidates: Iterable[ModelVersion]) -> dict[str, ModelVersion]:
    """Return the files that versions other than the candidates name, of any project, each with such a version."""
    gone = {version.id for version in candidates}
    versions = session.scalars(select(ModelVersion).options(defer(ModelVersion.figures), defer(ModelVersion.optimizer)))
    return {
        sha256: version
        for version in versions
        if version.id not in gone
        for sha256 in (version.checkpoint_sha256, *version.fold_sha256s)
    }


def _means(session: Session, project_id: str) -> dict[str, set[str]]:
    """Return by version the weights that a refit replaced; they are of no use."""
    means: dict[str, set[str]] = {}
    rows = session.execute(select(Run.challenger_id, Run.settings).where(Run.project_id == project_id))
    for challenger, settings in rows:
        if challenger is not None and MEAN_OF_FOLDS in settings:
            means.setdefault(challenger, set()).add(settings[MEAN_OF_FOLDS])
    return means
