"""Ask a project's model of others about many documents: as a job with progress, and by itself about new documents."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, select

from db.base import now
from db.ids import first_id, new_id
from db.tables import Document, Job, OutsideReading, Project, Proposer
from engine.documents.reading.reading_state import is_being_read, waits_for_words
from engine.errors import NotFound, Refused
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop
from engine.jobs.failure_message import AttemptFailed
from engine.plurals import count
from engine.proposers.ask import (
    DocumentAsked,
    ProposerFailed,
    ProposerShut,
    ask_document,
    asked_sha256,
    fields_of,
    note_failure,
    stored_proposer,
)
from engine.proposers.proposer import PROPOSE, asked_proposer, check_address, job_key, newest_job
from engine.proposers.wishes import Wish, add_wish, take_wishes
from engine.queries import is_active
from engine.workspace import Workspace

MOST_DOCUMENTS = 1000  # named by one request
FAILURES = 3  # one after the other, after which the job gives way: the server is probably not there
PAUSE = timedelta(minutes=10)  # after a job that failed, until new documents are asked about again


def request_proposals(
    workspace: Workspace, project_id: str, *, documents: Sequence[str] | None = None, again: bool = False, by: str
) -> Job:
    """Ask for the model of others to be asked; return the job. Audited.

    While a job is open, it takes the wish too: also one about new documents, and also when it runs.

    Args:
        workspace: Open workspace.
        project_id: The project.
        documents: Ids of the documents; None: all that were not asked about with the present settings and fields.
        again: Whether documents are asked about again whose settings and fields are the same.
        by: Id of the person who asks.

    Raises:
        NotFound: The project has no such document.
        Conflict: It asks no model of others; or the open job is being stopped, or has many wishes to do.
        Refused: Its address is not allowed any more, or it has no fields that can be asked.
    """
    with workspace.database.write() as session:
        proposer = asked_proposer(session, project_id)
        check_address(proposer.url, workspace.settings)
        if not fields_of(session, proposer):
            raise Refused("The project has no fields that the model can be asked. Make some in the tab Questions.")
        if documents is not None:
            here = select(Document.id).where(Document.project_id == project_id, Document.id.in_(documents))
            if set(documents) - set(session.scalars(here)):
                raise NotFound("There is no such document in the project.")
        wish = {"documents": None if documents is None else list(dict.fromkeys(documents)), "again": again}
        key, new = job_key(project_id), new_id()
        while True:
            job = queue.enqueue(session, PROPOSE, project_id, wish, key, created_by=by, job_id=new)
            if job.id == new:
                return job
            there = queue.with_key(session, key, lock=True)
            if there is not None:  # it has not ended at this moment
                add_wish(session, there, wish, by)
                return there


def run_proposals(
    workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop
) -> dict[str, Any]:
    """Ask about the documents of a job; a handler of the queue. It goes on where an earlier attempt has ended.

    Raises:
        Refused: The project asks no model of others any more, or its server refuses every request.
        AttemptFailed: Several documents failed one after the other.
        Stopped: A person stopped the job, or the server ends.
    """
    began, project_id = now(), str(job.project_id)
    done, last = _Progress(workspace, project_id), -1
    try:
        while wishes := take_wishes(workspace, job, after=last):
            last = wishes[-1].number
            waiting = _waiting(workspace, project_id, wishes)
            whole = count(len(waiting), "document")
            for place, document_id in enumerate(waiting):
                on_progress(place / len(waiting), f"Asked about {place:,} of {whole}.")
                try:
                    done.take(ask_document(workspace, project_id, document_id, should_stop))
                except NotFound:
                    continue  # removed meanwhile
                except ProposerFailed as failed:
                    done.miss(document_id, failed)
            done.end()
    except ProposerShut as shut:
        raise Refused(str(shut)) from None
    if "since" in job.payload:
        _look_later(workspace, project_id, began)
    return done.result


class _Progress:
    """What a job has done so far, and the documents that have failed since one succeeded."""

    def __init__(self, workspace: Workspace, project_id: str) -> None:
        self._workspace, self._project_id = workspace, project_id
        self._models: dict[str, None] = {}  # in the order in which they were asked
        self._counts = Counter[str]()
        self._first_failure = ""
        self._in_row = 0
        self._unsure: list[tuple[str, str]] = []  # documents that failed; perhaps the server answers nobody

    def take(self, done: DocumentAsked) -> None:
        """Take what became of a document."""
        self._counts.update(documents=1, proposed=done.proposed, not_found=done.not_found, tokens=done.tokens)
        self._models[done.model] = None
        self._in_row = 0
        self._note()

    def miss(self, document_id: str, failed: ProposerFailed) -> None:
        """Take a failure. Raises AttemptFailed after several in a row."""
        self._counts.update(failed=1)
        self._first_failure = self._first_failure or str(failed)
        self._in_row += 1
        self._unsure.append((document_id, str(failed)))
        if failed.answered:
            self._note()
        if self._in_row == FAILURES:
            raise AttemptFailed(str(failed))

    def end(self) -> None:
        """Raise AttemptFailed where every document has failed."""
        if self._counts["failed"] and not self._counts["documents"]:
            raise AttemptFailed(self._first_failure)

    def _note(self) -> None:
        for document_id, sentence in self._unsure:
            note_failure(self._workspace, self._project_id, document_id, sentence)
        self._unsure = []

    @property
    def result(self) -> dict[str, Any]:
        """Return the numbers with a sentence."""
        names = "documents", "proposed", "not_found", "failed", "tokens"
        numbers = {name: self._counts[name] for name in names}
        if not numbers["documents"]:
            return {**numbers, "sentence": "There is no document to ask about."}
        sentence = (
            f"{' and '.join(self._models)} {'was' if len(self._models) == 1 else 'were'} asked about "
            f"{count(numbers['documents'], 'document')}: "
            f"{count(numbers['proposed'], 'proposal')}, {count(numbers['not_found'], 'text')} that no page prints, "
            f"{count(numbers['tokens'], 'token')}."
        )
        if numbers["failed"]:
            sentence += f" {count(numbers['failed'], 'document')} failed: {self._first_failure}"
        return {**numbers, "sentence": sentence}


def check_new_documents(workspace: Workspace) -> list[Job]:
    """Ask for jobs about new documents where projects want it; return the jobs. A chore of workers.

    After a job that failed there is a pause; after one that a person stopped, only later documents count.
    """
    due = []
    with workspace.database.read() as session:
        for proposer in session.scalars(_automatic()).all():
            since = proposer.automatic_since
            if since is None or queue.with_key(session, job_key(proposer.project_id)) is not None:
                continue
            last = newest_job(session, proposer.project_id)
            if last is not None and last.finished_at is not None and last.finished_at > proposer.changed_at:
                if last.status in queue.FAILED and now() - last.finished_at < PAUSE:
                    continue
                since = max(since, last.finished_at) if last.status == "cancelled" else since
            if session.scalar(_new(proposer.project_id, since).where(_is_ready()).limit(1)) is not None:
                due.append((proposer.project_id, since))
    return [
        queue.enqueue(workspace, PROPOSE, key, {"since": since.isoformat()}, job_key(key), max_attempts=1)
        for key, since in due
    ]


def _automatic() -> Select[Proposer]:
    of_active = select(Project.id).where(is_active())
    return select(Proposer).where(Proposer.automatic_since.is_not(None), Proposer.project_id.in_(of_active))


def _waiting(workspace: Workspace, project_id: str, wishes: Sequence[Wish]) -> list[str]:
    """Return the documents that some wishes have still to ask about. Raises ProposerShut."""
    with workspace.database.read() as session:
        digest = asked_sha256(proposer := stored_proposer(session, project_id), fields_of(session, proposer))
        return sorted({id for wish in wishes for id in session.scalars(_of_wish(project_id, digest, wish))})


def _of_wish(project_id: str, digest: str, wish: Wish) -> Select[str]:
    """Return the statement for the documents that a wish has still to ask about."""
    if wish.since is not None:
        return _new(project_id, wish.since).where(_is_ready())
    asked = [
        OutsideReading.document_id == Document.id,
        OutsideReading.asked_sha256 == digest,
        OutsideReading.failure == "",
    ]
    if wish.again:
        asked.append(OutsideReading.created_at >= wish.at)
    chosen = select(Document.id).where(Document.project_id == project_id, _is_ready(), ~exists().where(*asked))
    return chosen if wish.documents is None else chosen.where(Document.id.in_(wish.documents))


def _new(project_id: str, since: datetime) -> Select[str]:
    """Return the statement for the documents of a project since a time that were never asked about."""
    unasked = ~exists().where(OutsideReading.document_id == Document.id)
    later = Document.project_id == project_id, Document.id >= first_id(since)
    return select(Document.id).where(*later, unasked).order_by(Document.id)


def _is_ready() -> ColumnElement[bool]:
    """Return the condition that a document is read, and OCR has no page to try again."""
    return ~is_being_read() & ~waits_for_words(Document.id)


def _look_later(workspace: Workspace, project_id: str, began: datetime) -> None:
    """Look no more at documents from before a job's beginning, except from the first on that was not ready."""
    with workspace.database.write() as session:
        stored = session.get(Proposer, project_id, with_for_update=True)
        if stored is None or stored.automatic_since is None or stored.automatic_since > began:
            return
        first = session.scalar(_new(stored.project_id, stored.automatic_since).limit(1))
        waits_from = session.get_one(Document, first).created_at if first is not None else began
        # Ids are made a moment before their rows.
        stored.automatic_since = max(stored.automatic_since, min(waits_from, began) - timedelta(seconds=1))
