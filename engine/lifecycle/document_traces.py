"""What holds a document, or has learned from it: snapshots, exports, lists of pages, runs, and versions of the model.

Read before a document is deleted for good, and after somebody asks to be forgotten. The files of the snapshots are
read: seconds in a large project.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from db.tables import AuditEntry, Document, ModelVersion, RemovedDocument, Run, Snapshot, TransferredDocument, User
from engine.datasets.manifest import left_out_of, parts_of
from engine.datasets.manifest_rows import QUARANTINED
from engine.errors import NotFound
from engine.lifecycle.holders import documents_listed_by
from engine.models import registry
from engine.training.retraining.run_settings import UNLABELLED_LIST
from engine.workspace import Workspace

TraceKind = Literal["snapshot", "export", "run", "model", "copy"]
MOST_LISTED = 1000
KEEPS = (
    "The weights of a model that learned from a document keep what they learned, also after the document is deleted. "
    "Retrain without it, promote that model, and delete the weights of the others."
)
_GONE = "The document is neither in this project nor in its bin. Reload the list."


@dataclass(frozen=True, slots=True)
class DocumentTrace:
    """What holds a document, or has learned from it.

    Attributes:
        kind: Kind of the holder.
        id: Its id; of an export, that of its entry in the audit trail.
        sentence: What it holds, or how it learned.
        learned: Whether it has learned from the document, itself or the version that it is built on.
        at: When it was made.
    """

    kind: TraceKind
    id: str
    sentence: str
    learned: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class DocumentTraces:
    """Some traces of a document, the newest first; `total`: number of all of them."""

    document_id: str
    name: str
    total: int
    traces: list[DocumentTrace]


def document_traces(
    workspace: Workspace, project_id: str, document_id: str, *, limit: int = MOST_LISTED, offset: int = 0
) -> DocumentTraces:
    """Return what holds a document of a project, or of its bin, or has learned from it.

    Args:
        workspace: Open workspace.
        project_id: The project.
        document_id: The document.
        limit: Maximum number, at most MOST_LISTED.
        offset: Number of newer traces to leave out.

    Raises:
        NotFound: The document is not there.
    """
    with workspace.database.read() as session:
        document = session.get(Document, document_id)
        removed = session.get(RemovedDocument, document_id)
        if document is None or project_id not in (document.project_id, removed.project_id if removed else None):
            raise NotFound(_GONE)
        chosen = select(Snapshot).where(Snapshot.project_id == project_id).order_by(Snapshot.id)
        snapshots = session.scalars(chosen).all()
        runs = session.scalars(select(Run).where(Run.project_id == project_id).order_by(Run.id)).all()
    splits = {
        snapshot.id: split for snapshot in snapshots if (split := _split_in(workspace, snapshot.sha256, document_id))
    }
    holding = [snapshot for snapshot in snapshots if snapshot.id in splits]
    taught = {snapshot.id: _name(snapshot) for snapshot in holding if splits[snapshot.id] not in ("", QUARANTINED)}
    lists = {run.id: run.settings.get(UNLABELLED_LIST) for run in runs}
    listed = {key for key, sha256 in lists.items() if document_id in documents_listed_by(workspace, sha256)}
    with workspace.database.read() as session:
        traces = [
            *(_of_snapshot(snapshot, splits[snapshot.id]) for snapshot in holding),
            *_exports(session, project_id, holding),
            *_runs(runs, taught, listed),
            *_models(workspace, session, project_id, taught, {run.challenger_id for run in runs if run.id in listed}),
            *_copies(session, document_id),
        ]
    traces.sort(key=lambda trace: (trace.at, trace.id), reverse=True)
    some = traces[offset : offset + min(limit, MOST_LISTED)]
    return DocumentTraces(document_id, document.name, len(traces), some)


def _split_in(workspace: Workspace, sha256: str, document_id: str) -> str | None:
    """Return the split of a document in a snapshot; "" where it holds answers that were left out alone."""
    try:
        for part in parts_of(workspace, sha256):
            for row in part["documents"]:
                if row["id"] == document_id:
                    return str(row["split"])
        return "" if any(row.document_id == document_id for row in left_out_of(workspace, sha256)) else None
    except NotFound:  # a file of it is missing: it holds nothing that could be read
        return None


def _of_snapshot(snapshot: Snapshot, split: str) -> DocumentTrace:
    name = _name(snapshot)
    holds = f"The {name} holds the document, in the split {split}."
    left_out = f"The {name} names the document: its answers were left out."
    return DocumentTrace("snapshot", snapshot.id, holds if split else left_out, False, snapshot.created_at)


def _name(snapshot: Snapshot) -> str:
    return f"snapshot {snapshot.sha256[:12]} of {snapshot.created_at:%Y-%m-%d}"


def _exports(session: Session, project_id: str, holding: Sequence[Snapshot]) -> Iterator[DocumentTrace]:
    """Yield the exports of snapshots: their files may be wherever somebody has put them."""
    by_hash = {snapshot.sha256: snapshot for snapshot in holding}
    made = AuditEntry.project_id == project_id, AuditEntry.action == "exports.make"
    chosen = select(AuditEntry, User.name).outerjoin(User, User.id == AuditEntry.actor_id).where(*made)
    for entry, by in session.execute(chosen.order_by(AuditEntry.id)).tuples():
        if entry.subject in by_hash:
            exported = f"exported the {_name(by_hash[entry.subject])} as {entry.details.get('format')}"
            sentence = f"{by or 'Somebody'} {exported}. Copies of these files are not known here."
            yield DocumentTrace("export", entry.id, sentence, False, entry.created_at)


def _runs(runs: Sequence[Run], taught: Mapping[str, str], listed: Collection[str]) -> Iterator[DocumentTrace]:
    for run in runs:
        name = f"The run of {run.created_at:%Y-%m-%d %H:%M} UTC"
        if run.snapshot_id in taught:
            sentence = f"{name} learned from the {taught[run.snapshot_id]}."
        elif run.id in listed:
            sentence = f"{name} learned from its pages, without answers."
        else:
            continue
        yield DocumentTrace("run", run.id, sentence, True, run.created_at)


def _models(
    workspace: Workspace,
    session: Session,
    project_id: str,
    taught: Collection[str],
    challengers: Collection[str | None],
) -> Iterator[DocumentTrace]:
    """Yield the versions that learned from the document, and those that are built on one that did."""
    in_use = registry.champion(session, project_id).id
    versions = select(ModelVersion).where(
        or_(ModelVersion.project_id == project_id, ModelVersion.id.in_([key for key in challengers if key]))
    )
    learned: dict[str, str] = {}  # names by id
    for version in session.scalars(versions.order_by(ModelVersion.created_at, ModelVersion.id)):
        name = registry.label(version)
        if version.snapshot_id in taught or version.id in challengers:
            sentence = f"The model {name} learned from it."
        elif version.parent_id in learned:
            sentence = f"The model {name} is built on {learned[version.parent_id]}, which learned from it."
        else:
            continue
        learned[version.id] = name
        if version.id == in_use:
            sentence += " It is the one in use."
        elif workspace.blobs.size(version.checkpoint_sha256) is None:
            sentence += " Its weights are deleted."
        yield DocumentTrace("model", version.id, sentence, True, version.created_at)


def _copies(session: Session, document_id: str) -> Iterator[DocumentTrace]:
    copies = select(TransferredDocument).where(TransferredDocument.origin_id == document_id)
    for copy in session.scalars(copies.order_by(TransferredDocument.document_id)):
        came = "was moved" if copy.moved else "was copied"
        sentence = f"It {came} to another project, where the copy has traces of its own."
        yield DocumentTrace("copy", copy.document_id, sentence, False, copy.created_at)
