"""The bin: removed documents, which can be restored for some days.

A removed document goes to the bin of its project: a hidden project without members (db.tables.bin). So it leaves every
list, queue, figure, search, export and training at once, and comes back with its answers as they were. Copies that were
frozen before, which are snapshots and exports, do not change.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.ids import new_id
from db.tables import Annotation, Document, Page, Project, RemovedDocument, User
from engine import audit
from engine.batches import Throttle, in_batches
from engine.errors import Conflict, NotFound, Refused
from engine.lifecycle.bins import MOST_LISTED, count_removed, is_restorable, list_removed
from engine.lifecycle.rehoming import move_documents
from engine.paging import Page as ListPage
from engine.plurals import count
from engine.queries import is_bin_of, not_removed
from engine.tasks.opening import open_tasks, task_changes
from engine.workspace import Workspace

MOST = 1000  # documents of one request
_AT_ONCE = 500  # documents of one statement
_FIRST = 5  # documents of the first unit of work: others write in between
_AGAIN = "{name} is in the project again, as {other}. Remove that document first, then restore this one."
_SAME = "{other} and {name} are the same file. Restore one of them."
_ERASING = "{name} is being deleted and cannot be restored."


@dataclass(frozen=True, slots=True)
class BinLine:
    """A document in the bin: its name, pages and answers, who removed it and when, and when it will be deleted."""

    id: str
    name: str
    pages: int
    answers: int
    removed_by: str | None
    removed_at: datetime
    deleted_at: datetime


def remove(workspace: Workspace, project_id: str, ids: Sequence[str], by: str | None) -> list[str]:
    """Remove documents of a project into its bin. Audited; repeating it changes nothing.

    Each document goes with its tasks, answers and history, and comes back with them. Leases of its tasks end.

    Args:
        workspace: Open workspace.
        project_id: Project of the documents.
        ids: Ids of documents, at most MOST.
        by: Id of the acting user.

    Returns:
        Ids of the documents that this removed; those that were in the bin already are left out.

    Raises:
        NotFound: A document is not in the project; nothing was removed.
        Refused: Too many documents.
    """
    wanted = list(dict.fromkeys(ids))
    _check_number(wanted)
    _check_all_there(workspace, project_id, wanted)
    removed: list[str] = []
    removed_at = now()

    def remove_some(session: Session, some: Sequence[str]) -> list[str]:
        chosen = select(Document).where(Document.project_id == project_id, Document.id.in_(some))
        documents = session.scalars(chosen.order_by(Document.id)).all()
        for document in documents:
            audit.record(session, by, "documents.remove", document.id, project_id, document=document.name)
        return put_in(session, project_id, documents, by, removed_at)

    _in_batches(workspace, project_id, wanted, remove_some, removed.extend)
    return removed


def restore(workspace: Workspace, project_id: str, ids: Sequence[str], by: str | None) -> list[str]:
    """Restore documents from the bin of a project, with their answers. Audited; repeating it changes nothing.

    Their tasks follow what was changed meanwhile: questions, overlap, order, the stage of the project.

    Args:
        workspace: Open workspace.
        project_id: Project from which they were removed.
        ids: Ids of documents, at most MOST.
        by: Id of the acting user.

    Returns:
        Ids of the documents that this restored.

    Raises:
        NotFound: A document is neither in the bin nor in the project; nothing was restored.
        Conflict: The project has a document with the same bytes again, two of the documents have the same bytes, or the
            document is being deleted. Those before it were restored.
        Refused: Too many documents.
    """
    wanted = list(dict.fromkeys(ids))
    _check_number(wanted)
    _check_all_there(workspace, project_id, wanted)
    restored: list[str] = []

    def restore_some(session: Session, some: Sequence[str]) -> list[str]:
        chosen = (
            select(RemovedDocument, Document)
            .join(Document, Document.id == RemovedDocument.document_id)
            .where(RemovedDocument.project_id == project_id, RemovedDocument.document_id.in_(some))
            .order_by(Document.id)
            .with_for_update(of=RemovedDocument)
        )
        rows = session.execute(chosen).tuples().all()
        for _, document in rows:
            audit.record(session, by, "documents.restore", document.id, project_id, document=document.name)
        return take_out(session, session.get_one(Project, project_id), rows)

    _in_batches(workspace, project_id, wanted, restore_some, restored.extend)
    return restored


def put_in(
    session: Session, project_id: str, documents: Sequence[Document], by: str | None, removed_at: datetime
) -> list[str]:
    """Move documents of a locked project into its bin, in the caller's unit of work; return their ids."""
    there: list[str] = []
    for bin_id, group in _bins_for(session, project_id, documents).items():
        here = [document.id for document in group]
        session.add_all(
            RemovedDocument(document_id=key, project_id=project_id, removed_by=by, removed_at=removed_at)
            for key in here
        )
        session.flush()
        move_documents(session, here, project_id, bin_id)
        there.extend(here)
    return there


def take_out(session: Session, project: Project, rows: Sequence[tuple[RemovedDocument, Document]]) -> list[str]:
    """Move documents of its bin back into a locked project, in the caller's unit of work; return their ids.

    Raises:
        Conflict: As `restore`; nothing was changed.
    """
    _check_restorable(session, project.id, rows)
    by_bin: dict[tuple[str, datetime], list[str]] = defaultdict(list)
    for removed, document in rows:
        by_bin[document.project_id, removed.removed_at].append(document.id)
        session.delete(removed)
    session.flush()
    there: list[str] = []
    for (bin_id, removed_at), here in by_bin.items():
        move_documents(session, here, bin_id, project.id)
        task_changes.catch_up(session, project, here, removed_at)
        there.extend(here)
    return there


def list_bin(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> ListPage[BinLine]:
    """Return a page of the bin of a project, last removed first; see `bins.list_removed`."""
    of_pages = select(func.count()).where(Page.document_id == Document.id).correlate(Document).scalar_subquery()
    of_answers = (
        select(func.count())
        .where(Annotation.document_id == Document.id, not_removed())
        .correlate(Document)
        .scalar_subquery()
    )
    chosen = (
        select(Document.id, Document.name, of_pages, of_answers, User.name, RemovedDocument.removed_at)
        .join(Document, Document.id == RemovedDocument.document_id)
        .outerjoin(User, User.id == RemovedDocument.removed_by)
        .where(is_restorable(RemovedDocument, project_id))
    )
    return list_removed(workspace, RemovedDocument, f"bin {project_id}", chosen, BinLine, limit, cursor)


def count_bin(workspace: Workspace, project_id: str) -> int:
    """Return the number of documents in the bin of a project."""
    return count_removed(workspace, RemovedDocument, project_id)


def _check_number(ids: Sequence[str]) -> None:
    if len(ids) > MOST:
        raise Refused(f"The request names {count(len(ids), 'document')}; {MOST:,} are allowed. Send several requests.")


def _check_all_there(workspace: Workspace, project_id: str, ids: Sequence[str]) -> None:
    """Check that each document is in the project, or was removed from it. Raises NotFound."""
    known: set[str] = set()
    with workspace.database.read() as session:
        for some in _batches(ids):
            known.update(
                session.scalars(select(Document.id).where(Document.id.in_(some), Document.project_id == project_id))
            )
            removed = RemovedDocument.project_id == project_id, RemovedDocument.document_id.in_(some)
            known.update(session.scalars(select(RemovedDocument.document_id).where(*removed)))
    if unknown := [each for each in ids if each not in known]:
        raise NotFound(f"{count(len(unknown), 'document')} of the request are not in this project. Reload the list.")


def _check_restorable(session: Session, project_id: str, rows: Sequence[tuple[RemovedDocument, Document]]) -> None:
    hashes = [document.sha256 for _, document in rows]
    there = select(Document.sha256, Document.name).where(Document.project_id == project_id, Document.sha256.in_(hashes))
    again = dict(session.execute(there).tuples().all())
    chosen: dict[str, str] = {}  # names by content
    for removed, document in rows:
        if removed.erasing:
            raise Conflict(_ERASING.format(name=document.name))
        if document.sha256 in again:
            raise Conflict(_AGAIN.format(name=document.name, other=again[document.sha256]))
        if document.sha256 in chosen:
            raise Conflict(_SAME.format(name=document.name, other=chosen[document.sha256]))
        chosen[document.sha256] = document.name


def _bins_for(session: Session, project_id: str, documents: Sequence[Document]) -> dict[str, list[Document]]:
    """Return documents by the bin that takes them.

    A project has the same bytes once, and so has a bin. Bytes that were removed, uploaded and removed again go to a
    further bin.
    """
    bins = list(session.scalars(select(Project.id).where(*is_bin_of(project_id)).order_by(Project.id)))
    taken = select(Document.project_id, Document.sha256).where(
        Document.project_id.in_(bins), Document.sha256.in_([document.sha256 for document in documents])
    )
    full = set(session.execute(taken).tuples().all())
    by_bin: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        free = next((each for each in bins if (each, document.sha256) not in full), None)
        if free is None:
            bin_project = Project(name=f"bin {new_id()}", bin_of=project_id, settings={})
            session.add(bin_project)
            session.flush()
            free = bin_project.id
            bins.append(free)
        by_bin[free].append(document)
    return by_bin


def _in_batches(
    workspace: Workspace,
    project_id: str,
    ids: Sequence[str],
    act: Callable[[Session, Sequence[str]], list[str]],
    on_commit: Callable[[list[str]], None],
) -> None:
    """Do something with documents in batches, each with its project locked: no task or other removal comes between."""

    def begin(session: Session) -> bool:
        open_tasks.lock_project(session, project_id)
        return True

    in_batches(workspace, sorted(ids), act, begin, Throttle(_FIRST), on_commit=on_commit)


def _batches(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE)]
