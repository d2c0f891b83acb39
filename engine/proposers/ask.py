"""Ask a project's model of others about a document, and store what it answers as proposals."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Document, OutsideModel, OutsideReading, Page, Proposer
from db.tables.proposers import LONGEST_FAILURE
from engine.annotation.outside_answers import questions_answered
from engine.annotation.outside_models import load_outside_model
from engine.errors import NotFound, Refused
from engine.fields.project_fields import StoredField, load_fields
from engine.fields.types import FieldType
from engine.jobs.cancellation import ShouldStop, check
from engine.proposers import http_protocol, openai_protocol
from engine.proposers.proposer import check_address
from engine.proposers.push import PredictionOutcome, PushedPredictions, push_predictions
from engine.proposers.request import Asked, Reply, UnusableReply, asked_page
from engine.queries import existing
from engine.tasks.opening.open_tasks import lock_project
from engine.text import storable
from engine.webhooks.posting import Answer, Interrupted, SendingFailed, post_and_read
from engine.workspace import Workspace

PAGES_AT_ONCE = 4  # of one request: models take few pictures at a time
MOST_PAGES = 40  # of one document
MOST_BYTES = 2_000_000  # of an answer
_EVERYWHERE = ("0.0.0.0/0", "::/0")  # the administrator has named the server itself
_OK = 200


class ProposerFailed(Exception):
    """No usable answer came. The message is one sentence; another document may succeed.

    Attributes:
        answered: Whether the model has answered, in a way that cannot be used.
    """

    def __init__(self, sentence: str, *, answered: bool) -> None:
        super().__init__(sentence)
        self.answered = answered


class ProposerShut(Exception):
    """The server answers nobody, or not with this key; or there is none. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class DocumentAsked:
    """What became of asking a model about a document; `tokens`: read and written."""

    proposed: int = 0
    not_found: int = 0
    tokens: int = 0
    model: str = ""


class _Protocol(Protocol):
    """Request and reply of a kind of server."""

    def request_body(self, asked: Asked) -> dict[str, Any]:
        """Return the JSON of a request."""

    def read_reply(self, content: bytes, asked: Asked) -> Reply:
        """Return what was replied. Raises UnusableReply."""


_PROTOCOLS: Mapping[str, _Protocol] = {"openai": openai_protocol, "http": http_protocol}


def fields_of(session: Session, proposer: Proposer) -> list[StoredField]:
    """Return the fields of a project that its model of others is asked."""
    fields = [field for field in load_fields(session, proposer.project_id) if field.type is not FieldType.TABLE]
    if proposer.kind == "openai":
        asked = {field.name for field in openai_protocol.fields_by_text(fields)}
        return [field for field in fields if field.name in asked]
    return fields


def asked_sha256(proposer: Proposer, fields: Sequence[StoredField]) -> str:
    """Return the hash of what a document is asked: with other settings or fields, it is asked again."""
    described = [field.definition.model_dump(mode="json") for field in fields]
    return hashlib.sha256(json.dumps([proposer.number, described], sort_keys=True).encode()).hexdigest()


def ask_document(workspace: Workspace, project_id: str, document_id: str, should_stop: ShouldStop) -> DocumentAsked:
    """Ask the fields of a document that no person has answered, and store the proposals.

    Pages are sent a few at a time; later ones are asked what earlier ones did not answer. Each request goes by the
    settings of its moment.

    Args:
        workspace: Open workspace.
        project_id: Project that asks a model of others.
        document_id: A document of it, read completely.
        should_stop: Asked between two requests, and while an answer is awaited.

    Raises:
        NotFound: There is no such document in the project; it may lie in the bin.
        ProposerFailed: No usable answer came; what earlier pages gave stays.
        ProposerShut: The server refuses every request, or the project asks no model any more.
        Stopped: The job is to stop.
    """
    with workspace.database.read() as session:
        if existing(session, Document, document_id).project_id != project_id:
            raise NotFound("The document was removed.")
        proposer = stored_proposer(session, project_id)
        digest = asked_sha256(proposer, fields_of(session, proposer))
        pages = session.scalars(
            select(Page).where(Page.document_id == document_id).order_by(Page.number).limit(MOST_PAGES)
        ).all()
    done = _Outcomes()
    for start in range(0, len(pages), PAGES_AT_ONCE):
        check(should_stop)
        with workspace.database.read() as session:
            proposer = stored_proposer(session, project_id)  # an admin may have changed or removed it since
            fields = fields_of(session, proposer)
            answered = questions_answered(session, document_id, [field.id for field in fields])
        left = [field.definition for field in fields if field.id not in answered and done.lack(field.name)]
        if not left:
            break
        some = [asked_page(workspace, page) for page in pages[start : start + PAGES_AT_ONCE]]
        asked = Asked(proposer.model, proposer.prompt, left, some)
        try:
            done.take(*_propose(workspace, proposer, document_id, asked, should_stop))
        except ProposerShut:
            with workspace.database.read() as session:
                if stored_proposer(session, project_id).changed_at == proposer.changed_at:
                    raise
            return ask_document(workspace, project_id, document_id, should_stop)  # it was refused with old settings
    _note_reading(workspace, document_id, digest, done.counts)
    return replace(done.counts, model=proposer.model)


def stored_proposer(session: Session, project_id: str) -> Proposer:
    """Return the model of others that a job asks. Raises ProposerShut when the project asks none any more."""
    stored = session.get(Proposer, project_id)
    if stored is None:
        raise ProposerShut("The project asks no other model any more.")
    return stored


class _Outcomes:
    """Outcomes of a document's fields so far, by name, and the tokens that they took."""

    def __init__(self) -> None:
        self.of_field: dict[str | None, str] = {}
        self._tokens = 0

    def take(self, reply: Reply, outcomes: Sequence[PredictionOutcome]) -> None:
        """Take the outcomes of a reply, in the order of its predictions."""
        self._tokens += reply.tokens_in + reply.tokens_out
        for prediction, outcome in zip(reply.predictions, outcomes, strict=True):
            self.of_field[prediction.field] = outcome.outcome

    def lack(self, field: str) -> bool:
        """Return whether no page has answered a field."""
        return self.of_field.get(field, "not_found") == "not_found"

    @property
    def counts(self) -> DocumentAsked:
        """Return their numbers."""
        numbers = Counter(self.of_field.values())
        return DocumentAsked(numbers["proposed"], numbers["not_found"], self._tokens)


def _propose(
    workspace: Workspace, proposer: Proposer, document_id: str, asked: Asked, should_stop: ShouldStop
) -> tuple[Reply, list[PredictionOutcome]]:
    """Send one request, and store what it proposes."""
    began = time.monotonic()
    reply = _send(workspace, proposer, asked, should_stop)
    version = _note_use(workspace, proposer, reply, time.monotonic() - began)
    if not reply.predictions:
        return reply, []
    sent = PushedPredictions(model=proposer.model, version=version, predictions=[*reply.predictions])
    try:
        return reply, push_predictions(workspace, document_id, sent)
    except Refused as refused:
        raise ProposerFailed(f"The model's answer cannot be used. {refused}", answered=True) from None


def note_failure(workspace: Workspace, project_id: str, document_id: str, failure: str) -> None:
    """Store why a document has no answer, so that it is not asked about again by itself. Raises ProposerShut."""
    with workspace.database.read() as session:
        proposer = stored_proposer(session, project_id)
        digest = asked_sha256(proposer, fields_of(session, proposer))
    _note_reading(workspace, document_id, digest, DocumentAsked(), failure)


def _send(workspace: Workspace, proposer: Proposer, asked: Asked, should_stop: ShouldStop) -> Reply:
    check_address(proposer.url, workspace.settings)  # the administrator may have changed the list since
    protocol = _PROTOCOLS[proposer.kind]
    url = proposer.url
    if proposer.kind == "openai":
        url = url.rstrip("/") + openai_protocol.PATH
    headers = {"authorization": f"Bearer {proposer.api_key}"} if proposer.api_key else {}
    body = json.dumps(protocol.request_body(asked), ensure_ascii=False).encode()
    try:
        answer = post_and_read(
            url,
            headers,
            body,
            _EVERYWHERE,
            seconds=workspace.settings.proposer_seconds,
            most_bytes=MOST_BYTES,
            who="model's server",
            stops=lambda: should_stop() is not None,
        )
        _check_status(answer)
        return protocol.read_reply(answer.content, asked)
    except Interrupted:
        check(should_stop)
        raise ProposerFailed("The request was given up.", answered=False) from None
    except (SendingFailed, UnusableReply) as error:
        raise ProposerFailed(str(error), answered=isinstance(error, UnusableReply)) from None


def _check_status(answer: Answer) -> None:
    """Raise where the status is no success; what the server writes beside it is not shown: it may quote the paper."""
    if answer.status == _OK:
        return
    if answer.status in (401, 403):
        raise ProposerShut(f"The model's server refused the key (status {answer.status}). Set another one.")
    if answer.status == 404:
        raise ProposerShut("The model's server knows no such address or model (status 404).")
    if 300 <= answer.status < 400:
        raise ProposerShut(f"The model's server sent a redirect (status {answer.status}), which is not followed.")
    raise ProposerFailed(f"The model's server answered with status {answer.status}.", answered=False)


def _note_use(workspace: Workspace, proposer: Proposer, reply: Reply, seconds: float) -> str:
    """Count a request among those of its version, and return the version."""
    version = f"settings {proposer.number}" + (f", {storable(reply.version)}" if reply.version else "")
    with workspace.database.write() as session:
        lock_project(session, proposer.project_id)
        model = load_outside_model(session, proposer.project_id, proposer.model, version, prompt=proposer.prompt)
        session.execute(
            update(OutsideModel)
            .where(OutsideModel.id == model.id)
            .values(
                requests=OutsideModel.requests + 1,
                tokens_in=OutsideModel.tokens_in + reply.tokens_in,
                tokens_out=OutsideModel.tokens_out + reply.tokens_out,
                milliseconds=OutsideModel.milliseconds + round(1000 * seconds),
            )
        )
    return version


def _note_reading(workspace: Workspace, document_id: str, digest: str, done: DocumentAsked, failure: str = "") -> None:
    with workspace.database.write() as session:
        reading = session.get(OutsideReading, document_id) or OutsideReading(document_id=document_id)
        reading.asked_sha256, reading.created_at = digest, now()
        reading.proposed, reading.not_found, reading.failure = done.proposed, done.not_found, failure[:LONGEST_FAILURE]
        session.add(reading)
