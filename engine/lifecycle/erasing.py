"""Deleting the documents of the bin for good: rows, files, and what else has their words.

A document is marked first, and can no longer be restored. Its rows go in short units of work, so that others write in
between; whoever is interrupted goes on at the next poll. What was frozen is kept: a document that a snapshot holds
stays in the bin, and a sentence says so. Page images and files that another document shares stay.
"""

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db import changes
from db.blobs import PUT_SECONDS
from db.dirty_documents import mark_dirty
from db.tables import Document, Page, RemovedDocument, ReplacedImage, TransferredDocument
from engine import audit, blob_turns, left_files
from engine.batches import Throttle
from engine.documents.duplicates import groups
from engine.documents.lists.thumbnails import KEPT_WIDTHS, Thumbnail
from engine.documents.reading.reading_state import key_of, key_of_another
from engine.followers.document_figures import is_counted
from engine.jobs import queue
from engine.lifecycle import bins, traces
from engine.lifecycle.held_documents import count_anew, find_held, next_free, without_held
from engine.lifecycle.row_deletion import PAGES_AT_ONCE, delete_document, delete_words
from engine.plurals import count
from engine.workspace import Workspace

_AT_ONCE = 100  # documents of one statement
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Emptied:
    """Documents that will be deleted, or were, and a sentence for each that stays."""

    documents: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)


def mark(workspace: Workspace, project_id: str, ids: Collection[str] | None, by: str | None) -> Emptied:
    """Choose documents of a bin to be deleted for good. Audited. They cannot be restored from now on.

    Args:
        workspace: Open workspace.
        project_id: Project from which they were removed.
        ids: Ids of documents in its bin; others are left out. None: the whole bin.
        by: Id of the acting user; None: their days are over.
    """
    chosen = (
        select(Document.id, Document.name)
        .join(RemovedDocument, RemovedDocument.document_id == Document.id)
        .where(RemovedDocument.project_id == project_id, ~RemovedDocument.erasing)
        .order_by(Document.id)
    )
    with workspace.database.read() as session:
        names = dict(session.execute(chosen).tuples().all())
    wanted = [document_id for document_id in names if ids is None or document_id in ids]
    holders = find_held(workspace, project_id, wanted)
    emptied = Emptied()
    for document_id in sorted(holders):
        held = holders[document_id]
        holds = "holds" if len(held) == 1 else "hold"
        emptied.stays.append(f"{names[document_id]} stays in the bin: {' and '.join(held)} still {holds} it.")
    free = [document_id for document_id in wanted if document_id not in holders]
    for start in range(0, len(free), _AT_ONCE):
        some = free[start : start + _AT_ONCE]
        with workspace.database.write() as session:
            marked = (
                update(RemovedDocument)
                .where(RemovedDocument.document_id.in_(some), RemovedDocument.project_id == project_id)
                .values(erasing=True)
                .returning(RemovedDocument.document_id)
            )
            chosen_now = session.scalars(marked.execution_options(synchronize_session=False)).all()
            queue.cancel_with(session, [key(each) for each in chosen_now for key in (key_of, key_of_another)])
            emptied.documents += chosen_now
            count_anew(session, chosen_now)
            changes.publish(session, "documents", project_id)
    if emptied.documents:
        number = count(len(emptied.documents), "document")
        audit.note(workspace, by, "documents.delete", project_id, project_id, number=number)
    return emptied


def erase_marked(workspace: Workspace, seconds: float | None = None) -> int:
    """Delete the chosen documents; return how many are deleted now.

    Args:
        workspace: Open workspace.
        seconds: Time after which the rest is left for later; None: until all are deleted.

    Raises:
        Conflict: A backup copies the files, or another process empties the bin.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    with workspace.database.autocommit_read() as session:
        due = left_files.due(session, _AT_ONCE)
    chosen = next_free(workspace)
    if not due and chosen is None:
        traces.wipe(workspace.database)  # of an earlier call
        return 0
    erased = 0
    with blob_turns.turn(workspace.database, "emptying of the bin"):
        if due:
            _delete_due(workspace, due)
        while chosen is not None and (ends is None or time.monotonic() < ends):
            document_id, project_id = chosen
            _await_figures(workspace, document_id)
            with Throttle():  # it rests as long as it took
                erase_document(workspace, document_id, project_id)
            erased += 1
            chosen = next_free(workspace)
    if chosen is None:
        traces.wipe(workspace.database)
    else:
        traces.wipe_at_times(workspace.database)
    return erased


def _await_figures(workspace: Workspace, document_id: str) -> None:
    """Let the sums follow before the rows that they would be taken from are gone; nobody waits for ever."""
    with workspace.database.autocommit_read() as session:
        counted = is_counted(session, document_id)
    if counted:
        bins.await_figures(workspace, f"document {document_id}")


def look_after(workspace: Workspace) -> None:
    """Delete what is chosen, and choose what has been in the bin for `bin_days`; a chore of the worker."""

    def mark_free(project_id: str, ids: set[str]) -> None:
        if free := without_held(workspace, project_id, ids):
            mark(workspace, project_id, free, None)

    if bins.look_after(workspace, RemovedDocument, mark_free, erase_marked) and not traces.wipe(workspace.database):
        _log.warning(traces.STILL_THERE)


def erase_document(workspace: Workspace, document_id: str, project_id: str) -> None:
    """Delete the rows of a document, and the files that no other document names; the caller has the turn on blobs.

    Args:
        workspace: Open workspace.
        document_id: The document; nothing happens when it is gone already.
        project_id: Project that it belongs to, or was removed from.
    """
    with workspace.database.read() as session:
        pages = (
            session.execute(
                select(Page.id, Page.image_sha256).where(Page.document_id == document_id).order_by(Page.number)
            )
            .tuples()
            .all()
        )
        of_document = Page.document_id == document_id
        replaced = session.scalars(select(ReplacedImage.image_sha256).join(Page).where(of_document)).all()
        sha256 = session.scalar(select(Document.sha256).where(Document.id == document_id))
    if sha256 is None:  # another process was faster
        return
    ids: Sequence[str] = [page_id for page_id, _ in pages]
    for start in range(0, len(ids), PAGES_AT_ONCE):
        with workspace.database.write() as session:
            delete_words(session, ids[start : start + PAGES_AT_ONCE])
    traces.delete_exports(workspace, project_id)
    with workspace.database.autocommit_read() as session:
        naming = traces.find_naming(session, document_id, project_id)
    # Before the rows: whoever is interrupted in between finds the names of the files again.
    left = _delete_files(workspace, [sha256, *(image for _, image in pages), *replaced], but=document_id)
    with workspace.database.write() as session:
        left_files.leave(session, left)
        traces.forget_names(session, document_id, project_id, naming)
        traces.note_wipe(session)
        ids = session.scalars(select(Page.id).where(Page.document_id == document_id)).all()  # read meanwhile, too
        _count_originals(session, document_id)
        home = groups.home_of(session, session.get_one(Document, document_id))
        delete_document(session, document_id, ids)
        groups.give_reasons_anew(session, home, naming.names)


def _count_originals(session: Session, document_id: str) -> None:
    """Let the originals of a moved document, in the bin of their project, count for their uploader again."""
    origins = select(Document.project_id, Document.id).join(
        TransferredDocument, TransferredDocument.origin_id == Document.id
    )
    for bin_id, origin_id in session.execute(origins.where(TransferredDocument.document_id == document_id)).tuples():
        mark_dirty(session, bin_id, [origin_id])


def _delete_files(workspace: Workspace, hashes: Sequence[str], but: str = "") -> list[str]:
    """Delete files that no document names, other than `but`, and their thumbnails.

    Returns:
        Those that stay for now, because they were put lately: an upload of the same bytes found them there, and its
        rows may follow.
    """
    since = time.time() - PUT_SECONDS  # before the look at the rows: of what was put before, they are there
    with workspace.database.read() as session:
        shared = _shared(session, but, hashes)
    left = []
    for sha256 in dict.fromkeys(hashes):
        if sha256 in shared:
            continue
        if not workspace.blobs.remove_unless_put(sha256, since):
            left.append(sha256)
        for width in KEPT_WIDTHS:
            Thumbnail(workspace, sha256, width).path.unlink(missing_ok=True)
    return left


def _delete_due(workspace: Workspace, hashes: Sequence[str]) -> None:
    left = _delete_files(workspace, hashes)
    with workspace.database.write() as session:
        left_files.forget(session, hashes)
        left_files.leave(session, left)


def _shared(session: Session, document_id: str, hashes: Sequence[str]) -> set[str]:
    shared: set[str] = set()
    for start in range(0, len(hashes), _AT_ONCE):
        some = hashes[start : start + _AT_ONCE]
        files = select(Document.sha256).where(Document.sha256.in_(some), Document.id != document_id)
        images = select(Page.image_sha256).where(Page.image_sha256.in_(some), Page.document_id != document_id)
        replaced = select(ReplacedImage.image_sha256).join(Page).where(ReplacedImage.image_sha256.in_(some))
        shared.update(session.scalars(files))
        shared.update(session.scalars(images))
        shared.update(session.scalars(replaced.where(Page.document_id != document_id)))
    return shared
