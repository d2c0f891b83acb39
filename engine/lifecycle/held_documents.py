"""Documents of the bin that nothing frozen holds, so they can be deleted; and those that something still holds.

A freeze that begins after a document was removed does not hold it, and a snapshot never changes. So a document that
nothing held at a moment without a freeze is free for good. The snapshots of a project are read once for all its chosen
documents, and a process remembers what it found.
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db import changes
from db.dirty_documents import mark_dirty
from db.tables import Document, Job, RemovedDocument, Run, Snapshot
from engine.datasets.freezes import is_freezing
from engine.documents.reading.reading_state import key_of, key_of_another
from engine.errors import Refused
from engine.lifecycle.holders import find_holders
from engine.workspace import Workspace

_AT_ONCE = 100  # documents of one statement
_CLOCKS = timedelta(minutes=10)  # by which those of several machines may differ
_log = logging.getLogger(__name__)
_choosing = threading.Lock()  # the first look reads files
_lock = threading.Lock()
_free: dict[str, list[tuple[str, str]]] = {}  # by database: chosen documents that are free, and their projects
_held: dict[str, "_Held"] = {}  # by project


@dataclass(slots=True)
class _Held:
    """Documents that something held, and all that was frozen of the project then: only its removal frees them."""

    documents: set[str]
    frozen: set[str]


def next_free(workspace: Workspace) -> tuple[str, str] | None:
    """Return a document that was chosen to be deleted and that nothing holds, and its project; None: there is none.

    The next call returns another one once its row is gone. A document that a freeze held which ended after it was
    chosen stays in the bin. While a freeze goes on, the documents of its project wait, and so does one that is read.
    """
    with _choosing:
        free = _free.setdefault(str(workspace.database.url), [])
        while free and not _is_chosen(workspace, free[-1][0]):  # deleted
            free.pop()
        if not free:
            free += _choose(workspace)
        return free[-1] if free else None


def _is_chosen(workspace: Workspace, document_id: str) -> bool:
    with workspace.database.autocommit_read() as session:
        chosen = RemovedDocument.document_id == document_id, RemovedDocument.erasing
        return session.scalar(select(RemovedDocument.document_id).where(*chosen)) is not None


def _choose(workspace: Workspace) -> list[tuple[str, str]]:
    columns = RemovedDocument.project_id, RemovedDocument.document_id, RemovedDocument.removed_at
    chosen = select(*columns).where(RemovedDocument.erasing).order_by(RemovedDocument.document_id.desc())
    by_project: dict[str, dict[str, datetime]] = {}
    with workspace.database.autocommit_read() as session:
        for project_id, document_id, removed_at in session.execute(chosen).tuples():
            by_project.setdefault(project_id, {})[document_id] = removed_at
    free = []
    for project_id, documents in by_project.items():
        with workspace.database.autocommit_read() as session:
            if is_freezing(session, project_id):  # it may have begun before a document was removed
                continue
            for document_id in _being_read(session, documents):
                del documents[document_id]
        if not documents:
            continue
        try:
            held = find_holders(workspace, project_id, documents, since=min(documents.values()) - _CLOCKS)
        except Refused as refusal:  # a file was changed on disk; the bins of other projects are emptied
            _log.warning("the bin of the project %s waits: %s", project_id, refusal)
            continue
        if held:
            _leave(workspace, project_id, held)
        free += [(document_id, project_id) for document_id in documents if document_id not in held]
    return free


def _being_read(session: Session, documents: Collection[str]) -> set[str]:
    """Return documents that a job still reads, which was stopped when they were chosen."""
    keys = {key(document_id): document_id for document_id in documents for key in (key_of, key_of_another)}
    ordered, reading = sorted(keys), set[str]()
    for start in range(0, len(ordered), _AT_ONCE):
        some = Job.key.in_(ordered[start : start + _AT_ONCE])
        reading.update(keys[key] for key in session.scalars(select(Job.key).where(some)) if key is not None)
    return reading


def _leave(workspace: Workspace, project_id: str, held: Collection[str]) -> None:
    """Leave documents in the bin, from where they can be restored."""
    _log.info("%d documents stay in the bin: something holds them that was frozen meanwhile", len(held))
    ids = sorted(held)
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        with workspace.database.write() as session:
            stay = update(RemovedDocument).where(RemovedDocument.document_id.in_(some)).values(erasing=False)
            session.execute(stay.execution_options(synchronize_session=False))
            count_anew(session, some)
            changes.publish(session, "documents", project_id)


def count_anew(session: Session, ids: Sequence[str]) -> None:
    """Let the sums follow: a document that is being deleted is in none, and frees the quota of its uploader."""
    bins: dict[str, list[str]] = defaultdict(list)
    for bin_id, document_id in session.execute(select(Document.project_id, Document.id).where(Document.id.in_(ids))):
        bins[bin_id].append(document_id)
    for bin_id, documents in bins.items():
        mark_dirty(session, bin_id, documents)


def find_held(workspace: Workspace, project_id: str, ids: Collection[str]) -> dict[str, list[str]]:
    """Return what `find_holders` does, and remember it for `without_held`."""
    frozen = _frozen(workspace, project_id)  # before the files are read
    holders = find_holders(workspace, project_id, ids)
    with _lock:
        known = _held.setdefault(project_id, _Held(set(), set()))
        if not known.frozen <= frozen:
            known.documents.clear()
            known.frozen.clear()
        known.documents |= holders.keys()
        known.frozen |= frozen
    return holders


def without_held(workspace: Workspace, project_id: str, ids: Collection[str]) -> set[str]:
    """Return documents of the bin without those that this process knows to be held: no file is read."""
    frozen = _frozen(workspace, project_id)
    with _lock:
        known = _held.get(project_id)
        return set(ids) - known.documents if known is not None and known.frozen <= frozen else set(ids)


def _frozen(workspace: Workspace, project_id: str) -> set[str]:
    """Return the ids of what may hold documents of a project."""
    with workspace.database.read() as session:
        chosen = [select(table.id).where(table.project_id == project_id) for table in (Snapshot, Run)]
        return {key for each in chosen for key in session.scalars(each)}
