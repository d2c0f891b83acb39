"""Removing a snapshot with its files, so that the documents that it holds can be deleted."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import changes
from db.tables import Job, Snapshot
from engine import audit, blob_turns
from engine.datasets.freezes import is_freezing
from engine.datasets.manifest import files_of
from engine.datasets.snapshot_views import needs_of, snapshot_named
from engine.errors import Conflict, NotFound
from engine.interchange.export_files import EXPORT
from engine.jobs import queue
from engine.lifecycle import traces
from engine.queries import existing
from engine.training.retraining.trigger import RETRAIN
from engine.workspace import Workspace


def remove_snapshot(workspace: Workspace, project_id: str, begins: str, by: str | None) -> Snapshot:
    """Remove a snapshot that no run and no model version names, with its files; return what it was. Audited.

    Files that another snapshot has too stay, and so do documents, page images and weights.

    Args:
        workspace: Open workspace.
        project_id: Project of the snapshot.
        begins: Beginning of its SHA-256.
        by: Id of the acting user.

    Raises:
        NotFound: There is no such snapshot.
        Refused: Several begin so.
        Conflict: A run or a model version learned from it, or a job that has not ended may; or a backup copies the
            files, or somebody deletes others.
    """
    snapshot = snapshot_named(workspace, project_id, begins)
    files = {name for name in _files_of(workspace, snapshot.sha256) if name in workspace.blobs}
    with blob_turns.turn(workspace.database, "removal of a snapshot"):
        of_others = _files_of_others(workspace, snapshot.id)
        with workspace.database.write() as session:
            row = existing(session, Snapshot, snapshot.id, with_for_update=True)
            _check_unneeded(session, row)
            session.delete(row)
            changes.publish(session, "runs", project_id)
            traces.note_wipe(session)  # its filters may name questions
            audit.record(session, by, "snapshots.remove", row.id, project_id, snapshot=row.sha256[:12])
        contents = {name: workspace.blobs.read(name) for name in files - of_others}
        for name in contents:
            workspace.blobs.remove(name)
        # A snapshot that was frozen meanwhile may have found a file there, and have stored none.
        for name in contents.keys() & _files_of_others(workspace, snapshot.id):
            workspace.blobs.put(contents[name])
    return snapshot


def _check_unneeded(session: Session, snapshot: Snapshot) -> None:
    needed = needs_of(session, snapshot.project_id, [snapshot]).get(snapshot.id)
    if needed is not None:
        raise Conflict(needed)
    opened = select(Job.kind).where(
        Job.project_id == snapshot.project_id, Job.kind.in_((RETRAIN, EXPORT)), Job.status.in_(queue.OPEN)
    )
    kind = session.scalar(opened.limit(1))
    if kind is not None:
        what = "A retraining" if kind == RETRAIN else "An export"
        raise Conflict(f"{what} of the project has not ended, and may need the snapshot; wait for it, or stop it.")
    if is_freezing(session, snapshot.project_id):
        raise Conflict("A snapshot of the project is being frozen, and may be this one; wait for its end.")


def _files_of_others(workspace: Workspace, snapshot_id: str) -> set[str]:
    """Return the files of all other snapshots, those of other projects too: equal pages have equal words."""
    with workspace.database.read() as session:
        heads = session.scalars(select(Snapshot.sha256).where(Snapshot.id != snapshot_id)).all()
    return {name for head in heads for name in _files_of(workspace, head)}


def _files_of(workspace: Workspace, sha256: str) -> set[str]:
    try:
        return files_of(workspace, sha256)
    except NotFound:
        return set()
