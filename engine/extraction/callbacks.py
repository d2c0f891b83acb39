"""Callbacks of extractions: the values of a stored paper are sent once it is read, and again once people are done.

A thread of the server looks at a callback when its document has changed (engine.followers.extraction_callbacks). A
process that dies between a message and the note of it sends the message twice.
"""

import logging
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.statuses import AUTOMATIC
from db.tables import Document, ExtractionCallback, RemovedDocument, User
from engine.accounts import permissions
from engine.annotation.answer_service import AnswerService
from engine.errors import Forbidden, Refused
from engine.extraction.extract import extract_document
from engine.extraction.view import Extraction, ExtractionBegun
from engine.fields.project_fields import load_fields
from engine.followers.counting_answers import load_counting_answers, load_fields_of
from engine.queries import existing
from engine.webhooks import check_callback, send_once
from engine.workspace import Workspace

READ, DECIDED = "extraction.read", "extraction.decided"  # types of the messages
_FINAL = ("accepted", "fixed", AUTOMATIC)
_HOLD_SECONDS = 300.0  # a look reads no file; the model may have to be loaded first
_LOOK_SECONDS = 1.0
_READING_SECONDS = 2.0  # between two looks at a paper whose pages are being read
_AGAIN_SECONDS = 600.0  # after a failure
_LONGEST = timedelta(days=30)  # for which a callback that cannot be sent is tried again
_log = logging.getLogger(__name__)


def check_wanted(workspace: Workspace, project_id: str, user_id: str, url: str) -> None:
    """Check that a person may have the values of a project's papers sent to an address.

    Raises:
        Forbidden: The person is no reviewer: the message holds the answers of others.
        Refused: The address may not be used, or the project has no secret for callbacks.
    """
    with workspace.database.read() as session:
        role = permissions.role_in(session, session.get_one(User, user_id), project_id)
    if role not in ("reviewer", "admin"):
        raise Forbidden("A callback holds the answers of others, so only a reviewer may name one.")
    check_callback(workspace, project_id, url)


def add_callback(workspace: Workspace, document_id: str, user_id: str, url: str) -> None:
    """Send the values of a document to an address, as soon as they are there; the same request twice is one."""
    with workspace.database.write() as session:
        document = existing(session, Document, document_id)
        same = ExtractionCallback.document_id == document_id, ExtractionCallback.url == url
        session.execute(delete(ExtractionCallback).where(*same))
        session.add(
            ExtractionCallback(
                project_id=document.project_id, document_id=document_id, person_id=user_id, url=url, due_at=now()
            )
        )


def look(service: AnswerService) -> bool:
    """Look at the next callback that is due, and send what is to be sent; return whether there was one."""
    callback = _take(service.workspace)
    if callback is None:
        return False
    try:
        _follow(service, callback)
    except Refused as refusal:
        # Such as a secret that was removed, or a model that is missing: a later look may find it mended.
        _log.warning("the values of the document %s were not sent: %s", callback.document_id, refusal)
        if now() - callback.created_at > _LONGEST:
            _drop(service.workspace, callback)
        else:
            _put_back(service.workspace, callback, callback.awaited, now() + timedelta(seconds=_AGAIN_SECONDS))
    return True


def _follow(service: AnswerService, callback: ExtractionCallback) -> None:
    with service.workspace.database.read() as session:
        role = permissions.role_in(session, session.get_one(User, callback.person_id), callback.project_id)
    if role not in ("reviewer", "admin"):  # who named the address may not have the answers of others any more
        _drop(service.workspace, callback)
        return
    if _in_bin(service.workspace, callback.document_id):  # it is looked at again when it comes back
        _put_back(service.workspace, callback, callback.awaited)
        return
    if callback.awaited and not _decided(service.workspace, callback.document_id, callback.awaited):
        _put_back(service.workspace, callback, callback.awaited)
        return
    extraction = extract_document(service, callback.document_id, callback.person_id)
    if isinstance(extraction, ExtractionBegun):
        _put_back(service.workspace, callback, None, now() + timedelta(seconds=_READING_SECONDS))
        return
    first = callback.awaited is None
    payload = extraction.model_dump(mode="json")
    send_once(service.workspace, callback.project_id, callback.url, READ if first else DECIDED, payload)
    awaited = _unsure(service.workspace, callback.project_id, extraction) if first else []
    if awaited:
        _put_back(service.workspace, callback, awaited)
        return
    _drop(service.workspace, callback)


def _in_bin(workspace: Workspace, document_id: str) -> bool:
    with workspace.database.read() as session:
        return session.get(RemovedDocument, document_id) is not None


def _drop(workspace: Workspace, callback: ExtractionCallback) -> None:
    with workspace.database.write() as session:
        session.execute(delete(ExtractionCallback).where(ExtractionCallback.id == callback.id))


def _take(workspace: Workspace) -> ExtractionCallback | None:
    """Hold the next callback that is due; None without one, and nothing is written."""
    instant = now()
    due = (
        ExtractionCallback.due_at <= instant,
        or_(ExtractionCallback.held_until.is_(None), ExtractionCallback.held_until <= instant),
    )
    with workspace.database.read() as session:
        if session.scalar(select(ExtractionCallback.id).where(*due).limit(1)) is None:
            return None
    with workspace.database.write() as session:
        chosen = select(ExtractionCallback).where(*due).order_by(ExtractionCallback.due_at, ExtractionCallback.id)
        callback = session.scalar(chosen.limit(1).with_for_update(skip_locked=True))
        if callback is not None:
            callback.held_until = instant + timedelta(seconds=_HOLD_SECONDS)
        return callback


def _put_back(
    workspace: Workspace, callback: ExtractionCallback, awaited: list[str] | None, due_at: datetime | None = None
) -> None:
    """Store for what a callback waits; it stays due where the document has changed since it was taken."""
    of_callback = ExtractionCallback.id == callback.id
    with workspace.database.write() as session:
        session.execute(update(ExtractionCallback).where(of_callback).values(awaited=awaited, held_until=None))
        unchanged = ExtractionCallback.due_at == callback.due_at
        session.execute(update(ExtractionCallback).where(of_callback, unchanged).values(due_at=due_at))


def _unsure(workspace: Workspace, project_id: str, extraction: Extraction) -> list[str]:
    """Return the questions of the fields that a person should look at."""
    with workspace.database.read() as session:
        return [field.id for field in load_fields(session, project_id) if field.name in extraction.unsure]


def _decided(workspace: Workspace, document_id: str, questions: Sequence[str]) -> bool:
    """Return whether people have decided on all of these questions, or they are no fields any more."""
    with workspace.database.read() as session:
        return _are_final(session, document_id, questions)


def _are_final(session: Session, document_id: str, questions: Sequence[str]) -> bool:
    fields = load_fields_of(session, [document_id])
    answers = load_counting_answers(session, fields)
    return all(
        question not in fields[document_id].fields
        or ((answer := answers.get((document_id, question))) is not None and answer.status in _FINAL)
        for question in questions
    )


class CallbackLoop:
    """Looks at callbacks in a thread of a server."""

    def __init__(self, service: AnswerService) -> None:
        self._service = service
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_until_stopped, name="extraction-callbacks", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no further look; one that is under way ends."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    def _look_until_stopped(self) -> None:
        while not self._stop.is_set():
            try:
                if look(self._service):
                    continue
            except Exception:  # the database may be restarting; a thread that died of it would stay dead
                _log.exception("callbacks of extractions could not be looked at; trying again")
            self._stop.wait(_LOOK_SECONDS)
