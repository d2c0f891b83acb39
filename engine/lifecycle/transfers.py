"""Documents go to another project with their answers, history, values and tasks: moved, or copied.

A job does it, document by document, each in one unit of work; whoever is interrupted goes on with the next one. A moved
document is a copy whose original lies in the bin of its project: what rests on it there, as snapshots and the models
that learned from it, stays as it is, and the move can be undone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from db.base import now
from db.lock_waits import wait_shortly, write_patiently
from db.tables import (
    Annotation,
    Document,
    Job,
    Page,
    Project,
    ProjectField,
    Question,
    RemovedDocument,
    Skip,
    Task,
    TransferredDocument,
    User,
)
from engine import audit, quotas
from engine.accounts import permissions, visibility
from engine.batches import Throttle
from engine.documents.reading.reading_state import key_of, key_of_another
from engine.errors import Archived, Conflict, Forbidden, NotFound, OverQuota, Refused
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.lifecycle.bin import MOST, put_in, take_out
from engine.lifecycle.document_copy import copy_document
from engine.lifecycle.question_matching import Matches, add_fields, ask_missing, match_questions, match_versions
from engine.plurals import count
from engine.queries import is_asked
from engine.tasks.opening.open_tasks import lock_project
from engine.text import join_names
from engine.workspace import Workspace

TRANSFER = "transfer"
_SHOWN = 5  # names in a sentence
_LOCKED = "{name} is being read. Move it once all of its pages are there."
# Members of the first project read these sentences, and need not be members of the other one.
_THERE = "{name} stays: the other project has the same file already."
_FULL = "{name} stays: it exceeds the quota of the other project. Ask an admin of it for more."
STAYS = (_LOCKED, _THERE, _FULL)
_ARCHIVED = "One of both projects is archived: nothing in it can be changed. An admin of it can unarchive it."
_GONE = "A document of the request is in the project no more."
_CHANGED = "{name} was changed in {project} since, and stays there. Move it back with its changes."


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """What a transfer would do.

    Attributes:
        documents: Number of documents.
        fields: Names of fields that the other project does not have.
        may_add: Whether the person may add them there.
        sentences: What comes along, and what does not.
    """

    documents: int
    fields: list[str]
    may_add: bool
    sentences: list[str]


@dataclass(frozen=True, slots=True)
class Undone:
    """Documents that are back, and a sentence for each that is not."""

    documents: list[str]
    stays: list[str]


def plan_transfer(
    workspace: Workspace, project_id: str, ids: Sequence[str], target_id: str, user: User, *, move: bool
) -> TransferPlan:
    """Return what a transfer would do; see `request_transfer`."""
    wanted = list(dict.fromkeys(ids))
    with workspace.database.read() as session:
        source, target = _checked(session, project_id, target_id, user, wanted, move=move)
        matches = match_questions(session, wanted, target_id)
        may_add = permissions.role_in(session, user, target_id) == "admin"
        named = select(ProjectField.name).where(ProjectField.question_id.in_([each.id for each in matches.fields]))
        fields = sorted(filter(None, session.scalars(named)))
        hashes = select(Document.sha256).where(Document.id.in_(wanted))
        same = select(func.count()).where(Document.project_id == target_id, Document.sha256.in_(hashes))
        there = session.scalar(same) or 0
    sentences = [
        f"Pages, words, answers with their history, and tasks go to {target.name}. So do proposals of the "
        f"models of {source.name}; they are listed there as those of another model.",
        f"Snapshots, exports, trained models, automatic answers, label reviews, and callbacks of extractions stay "
        f"in {source.name}.",
    ]
    if fields:
        are = "is no field" if len(fields) == 1 else "are no fields"
        answers = "Without them, their answers become those of plain questions."
        sentences.append(f"{_some(fields)} {are} of {target.name} yet. {answers}")
        if not may_add:
            sentences.append(f"An admin of {target.name} can add fields.")
    if there:
        sentences.append(f"{target.name} has {count(there, 'document')} of these already; they stay where they are.")
    if move:
        sentences.append(
            f"The originals lie in the bin of {source.name} for {count(workspace.settings.bin_days, 'day')}. People "
            "who have one open read where the document is now. Their unsaved edits stay in the browser."
        )
    return TransferPlan(len(wanted), fields, may_add, sentences)


def request_transfer(
    workspace: Workspace,
    project_id: str,
    ids: Sequence[str],
    target_id: str,
    user: User,
    *,
    move: bool,
    add_missing: bool = True,
) -> Job:
    """Ask for documents to be moved or copied to another project; return the job.

    Questions are those of the other project with the same text, or the same name of a field. Missing ones become
    plain questions there, or fields.

    Args:
        workspace: Open workspace.
        project_id: Project of the documents.
        ids: Ids of documents, at most MOST.
        target_id: The other project.
        user: The acting user; a reviewer of both projects, and to move an admin of the first one.
        move: Whether the documents leave their project.
        add_missing: Add missing fields there, where the user is an admin of it.

    Raises:
        NotFound: A project or document is not there, or the user may not see it.
        Forbidden: The role of the user is too low, or a project is archived.
        Refused: Too many documents, or fields; or both projects are the same.
        Conflict: Somebody changes the fields of the other project.
    """
    wanted = list(dict.fromkeys(ids))
    with workspace.database.read() as session:
        _checked(session, project_id, target_id, user, wanted, move=move)
        matches = match_questions(session, wanted, target_id)
        may_add = permissions.role_in(session, user, target_id) == "admin"
    if add_missing and may_add and matches.fields:
        add_fields(workspace, matches.fields, target_id, user.id)
    payload = {"documents": wanted, "to": target_id, "move": move, "user_id": user.id}
    return queue.enqueue(workspace, TRANSFER, project_id, payload, created_by=user.id)


def run_transfer(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    """Move or copy the documents of a job; a handler of the queue.

    Returns:
        Ids of the documents there by ids here, a sentence for each document that stays, and one about all.
    """
    wanted: list[str] = job.payload["documents"]
    move: bool = job.payload["move"]
    stays: list[str] = []
    for number, document_id in enumerate(wanted):
        check(should_stop)
        doing = "Moving" if move else "Copying"
        on_progress(number / len(wanted), f"{doing}: {number:,} of {count(len(wanted), 'document')}.")
        with Throttle():  # it rests as long as it took, so that others write in between
            sentence = _transfer(workspace, job, document_id)
        if sentence is not None:
            stays.append(sentence)
    done = count_transferred(workspace, job.id)
    sentence = f"{'Moved' if move else 'Copied'} {count(done, 'document')} to the other project."
    return {"documents": done, "stays": stays[:MOST], "sentence": " ".join([sentence, *stays[:_SHOWN]])}


def count_transferred(workspace: Workspace, job_id: str) -> int:
    """Return how many documents a transfer has moved or copied so far."""
    of_batch = select(func.count()).select_from(TransferredDocument).where(TransferredDocument.batch == job_id)
    with workspace.database.read() as session:
        return session.scalar(of_batch) or 0


def transfer_of(workspace: Workspace, job_id: str) -> Job:
    """Return the job of a transfer. Raises NotFound."""
    job = queue.job_by_id(workspace, job_id)
    if job.kind != TRANSFER:
        raise NotFound("There is no such transfer.")
    return job


def undo_transfer(workspace: Workspace, job: Job, user: User) -> Undone:
    """Undo a move: the originals come back as they were, and the copies go to the bin of the other project. Audited.

    A document that was changed there since stays there. Repeating it changes nothing.

    Args:
        workspace: Open workspace.
        job: The job, which has ended.
        user: The acting user; a reviewer of the other project.

    Raises:
        NotFound, Forbidden: The user may not change the other project.
        Conflict: The job has not ended.
        Refused: The job has copied documents; remove the copies instead.
    """
    if job.kind != TRANSFER or not job.payload["move"]:
        raise Refused("Only a move can be undone. Remove the copies in the other project.")
    if job.status not in queue.ENDED:
        raise Conflict("The documents are still being moved. Wait for the end, or stop it first.")
    with workspace.database.read() as session:
        permissions.check(session, user, {"project_id": job.payload["to"]}, "reviewer", changes=True)
        of_batch = select(TransferredDocument).where(TransferredDocument.batch == job.id)
        rows = session.scalars(of_batch.order_by(TransferredDocument.origin_id)).all()
    undone = Undone([], [])
    for row in rows:
        try:
            with Throttle():
                if _take_back(workspace, job, row, user.id):
                    undone.documents.append(row.origin_id)
        except Conflict as conflict:
            undone.stays.append(str(conflict))
    return undone


def _transfer(workspace: Workspace, job: Job, document_id: str) -> str | None:
    """Move or copy one document; return why it stays, if it does."""

    def act(session: Session) -> str | None:
        queue.keep(session, job.id, str(job.holder), job.result)  # the job is still this attempt's
        came = TransferredDocument.batch == job.id, TransferredDocument.origin_id == document_id
        if session.scalar(select(TransferredDocument.document_id).where(*came)) is not None:
            return None
        source, target = _lock_both(session, str(job.project_id), job.payload["to"])
        document = session.get(Document, document_id)
        if document is None or document.project_id != source.id:
            return _GONE
        there = select(Document.id).where(Document.project_id == target.id, Document.sha256 == document.sha256)
        if session.scalar(there) is not None:
            return _THERE.format(name=document.name)
        reading = Job.key.in_((key_of(document_id), key_of_another(document_id)))
        if session.scalar(select(Job.id).where(reading).limit(1)) is not None:
            return _LOCKED.format(name=document.name)
        try:
            quotas.check_space(session, workspace.settings, target.id, None, document.byte_count)
        except OverQuota:
            return _FULL.format(name=document.name)
        moved, by, moment = job.payload["move"], job.payload["user_id"], now()
        _hold_still(session, document_id)
        if moved:
            put_in(session, source.id, [document], by, moment)
            document = session.get_one(Document, document_id)
        matches: Matches = match_questions(session, [document_id], target.id)
        questions = ask_missing(session, matches, target.id, by)
        versions = match_versions(session, questions)
        copy = copy_document(session, document, target, questions, versions)
        session.add(
            TransferredDocument(
                document_id=copy.id, origin_id=document_id, batch=job.id, moved=moved, created_at=moment
            )
        )
        action = "documents.move" if moved else "documents.copy"
        audit.record(session, by, action, document_id, source.id, document=document.name, to=target.name)
        audit.record(session, by, "documents.take", copy.id, target.id, document=copy.name, source=source.name)
        return None

    return write_patiently(workspace.database, act)


def _take_back(workspace: Workspace, job: Job, row: TransferredDocument, by: str | None) -> bool:
    """Undo the move of a document; return whether it was still to be undone. Raises Conflict where it stays."""

    def act(session: Session) -> bool:
        source, target = _lock_both(session, str(job.project_id), job.payload["to"])
        chosen = (
            select(RemovedDocument, Document)
            .join(Document, Document.id == RemovedDocument.document_id)
            .where(RemovedDocument.document_id == row.origin_id, RemovedDocument.project_id == source.id)
            .with_for_update(of=RemovedDocument)
        )
        found = session.execute(chosen).tuples().one_or_none()
        copy = session.get(Document, row.document_id)
        if found is None or copy is None or copy.project_id != target.id:
            return False
        name = copy.name
        _hold_still(session, copy.id)
        put_in(session, target.id, [copy], by, now())
        if _is_changed(session, row):
            raise Conflict(_CHANGED.format(name=name, project=target.name))
        take_out(session, source, [found])
        audit.record(session, by, "documents.move.undo", row.origin_id, source.id, document=name, to=target.name)
        return True

    return write_patiently(workspace.database, act)


def _hold_still(session: Session, document_id: str) -> None:
    """Let nobody change words and answers of a document until the commit; who waits then sees where it is."""
    wait_shortly(session)  # for those who have locked an answer, and wait for the project
    for table in (Page, Annotation):
        rows = select(table.id).where(table.document_id == document_id).order_by(table.id)
        session.execute(rows.with_for_update(key_share=True)).all()


def _is_changed(session: Session, row: TransferredDocument) -> bool:
    """Return whether people have changed the copy since it was made. Tasks without a question there have no skips."""
    since = or_(Skip.created_at > row.created_at, Skip.decided_at > row.created_at)
    skips = select(Skip.id).join(Task, Task.id == Skip.task_id).where(Task.document_id == row.document_id, since)
    if session.scalar(skips.limit(1)) is not None:
        return True
    return _content(session, row.document_id) != _content(session, row.origin_id)


def _content(session: Session, document_id: str) -> tuple[str | None, Counter[Any], list[Any]]:
    """Return what people can have changed of a document: its name, answers with revisions, and words of its pages."""
    answers = select(Annotation.author_id, Annotation.head, Annotation.status, Annotation.edited_by)
    answers = answers.join(Question, Question.id == Annotation.question_id).where(is_asked())
    pages = select(Page.number, Page.words_version, Page.rotation, Page.image_sha256).order_by(Page.number)
    return (
        session.scalar(select(Document.name).where(Document.id == document_id)),
        Counter(session.execute(answers.where(Annotation.document_id == document_id)).tuples().all()),
        [tuple(page) for page in session.execute(pages.where(Page.document_id == document_id))],
    )


def _lock_both(session: Session, source_id: str, target_id: str) -> tuple[Project, Project]:
    """Lock both projects, always in one order, and check that neither is archived or removed."""
    locked = {key: lock_project(session, key) for key in sorted((source_id, target_id))}
    if any(project.archived_at is not None for project in locked.values()):
        raise Forbidden(_ARCHIVED)
    if any(project.bin_of is not None for project in locked.values()):
        raise NotFound(visibility.PROJECT_IN_BIN)
    return locked[source_id], locked[target_id]


def _checked(
    session: Session, project_id: str, target_id: str, user: User, ids: Sequence[str], *, move: bool
) -> tuple[Project, Project]:
    """Return both projects, after all checks of `request_transfer`."""
    if project_id == target_id:
        raise Refused("The documents are in this project already. Choose another one.")
    if len(ids) > MOST:
        raise Refused(f"The request names {count(len(ids), 'document')}; {MOST:,} are allowed. Send several requests.")
    permissions.check(session, user, {"project_id": project_id}, "admin" if move else "reviewer", changes=True)
    try:
        permissions.check(session, user, {"project_id": target_id}, "reviewer", changes=True)
    except Archived:
        raise Forbidden("The other project is archived. An admin of it can unarchive it.") from None
    except Forbidden:
        raise Forbidden("You must be a reviewer or an admin of the other project, too. Ask an admin of it.") from None
    here: set[str] = set()
    for start in range(0, len(ids), 500):
        some = Document.id.in_(ids[start : start + 500])
        here.update(session.scalars(select(Document.id).where(Document.project_id == project_id, some)))
    if gone := [each for each in ids if each not in here]:
        raise NotFound(f"{count(len(gone), 'document')} of the request are not in this project. Reload the list.")
    return session.get_one(Project, project_id), session.get_one(Project, target_id)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return join_names([*names[:_SHOWN], f"{more} more"] if more > 0 else list(names))
