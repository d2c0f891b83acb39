"""Snapshots that hold documents: what was frozen stays as it is, so such a document cannot be deleted for good."""

from collections import defaultdict
from collections.abc import Collection

from sqlalchemy import select

from db.tables import Snapshot
from engine.datasets.manifest import left_out_of, parts_of
from engine.errors import NotFound
from engine.workspace import Workspace


def find_holders(workspace: Workspace, project_id: str, ids: Collection[str]) -> dict[str, list[Snapshot]]:
    """Return the snapshots of a project that hold some documents, by document, oldest first.

    Reads the manifests of the project: seconds in a large one.
    """
    wanted = set(ids)
    holders: dict[str, list[Snapshot]] = defaultdict(list)
    if not wanted:
        return holders
    with workspace.database.read() as session:
        chosen = select(Snapshot).where(Snapshot.project_id == project_id)
        snapshots = session.scalars(chosen.order_by(Snapshot.created_at, Snapshot.id)).all()
    for snapshot in snapshots:
        for document_id in sorted(_documents_of(workspace, snapshot.sha256) & wanted):
            holders[document_id].append(snapshot)
    return holders


def _documents_of(workspace: Workspace, sha256: str) -> set[str]:
    """Return the ids of the documents that a manifest names, those of answers left out among them."""
    try:
        ids = {str(row["id"]) for part in parts_of(workspace, sha256) for row in part["documents"]}
        return ids | {row.document_id for row in left_out_of(workspace, sha256)}
    except NotFound:  # a file of it is missing: it holds nothing that could be read
        return set()
