"""Untrained answers: accepted answers that are in no run's snapshot."""

from dataclasses import dataclass, field
from functools import lru_cache

from sqlalchemy import select

from db.statuses import SPLITS
from db.tables import Run, Snapshot
from engine.datasets.accepted_now import Remaining, accepted_now
from engine.datasets.manifest import revisions_of
from engine.errors import Refused
from engine.workspace import Workspace


def untrained_answers(workspace: Workspace, project_id: str) -> Remaining:
    """Return the number of accepted revisions that are not in the snapshot of the newest run, and the oldest's time.

    Runs that failed or were cancelled do not count: they have learned nothing.
    """
    accepted = accepted_now(workspace, project_id, SPLITS)
    if not accepted.count:
        return Remaining(0, None)
    with workspace.database.read() as session:
        used = session.scalar(
            select(Snapshot.sha256)
            .join(Run, Run.snapshot_id == Snapshot.id)
            .where(Run.project_id == project_id, Run.status.in_(["running", "judged"]))
            .order_by(Run.created_at.desc(), Run.id.desc())
            .limit(1)
        )
    return accepted.without(used or "", _trained_revisions(workspace, used) if used is not None else frozenset())


def _trained_revisions(workspace: Workspace, sha256: str) -> frozenset[str]:
    try:
        return _revisions(_Manifest(sha256, workspace))
    except Refused:  # the manifest is gone or changed on disk: no answer is known to have been used
        return frozenset()


@dataclass(frozen=True, slots=True)
class _Manifest:
    sha256: str  # of its content: equal manifests are equal keys
    workspace: Workspace = field(compare=False)


@lru_cache(16)  # triggers are checked every few seconds, and a manifest lists every answer
def _revisions(manifest: _Manifest) -> frozenset[str]:
    return frozenset(revisions_of(manifest.workspace, manifest.sha256))
