"""The model of others that a project asks: set by an admin, at an address that the deployment allows."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job, OutsideModel, Project, Proposer, User
from db.tables.proposers import LONGEST_ADDRESS, LONGEST_KEY, LONGEST_MODEL
from engine import audit
from engine.errors import Conflict, Refused
from engine.jobs import queue
from engine.jobs.job_view import JobView, job_view
from engine.queries import existing
from engine.settings import Settings, origin_of
from engine.text import check_name, storable
from engine.workspace import Workspace

Kind = Literal["openai", "http"]
PROPOSE = "propose"  # kind of the jobs that ask it about documents
LONGEST_PROMPT = 20_000  # characters
MODELS_SHOWN = 10
PROMPT = (
    "You read the pages of one paper. For each field of the schema, copy the text that answers it exactly as it is "
    "printed, with its language, digits and signs. Add nothing and convert nothing. Give null where no page prints an "
    "answer. Do not guess."
)


class WantedProposer(BaseModel):
    """The model of others that a project should ask."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"kind": "openai", "url": "http://127.0.0.1:8000/v1", "model": "Qwen2.5-VL-7B-Instruct"}]
        },
    )

    kind: Kind = Field(description="openai: chat completions of OpenAI's API; http: the protocol of docs/proposers.md.")
    url: Annotated[str, Field(min_length=1, max_length=LONGEST_ADDRESS)] = Field(
        description="openai: address before /chat/completions; http: address that is sent the pages."
    )
    model: Annotated[str, Field(min_length=1, max_length=LONGEST_MODEL)] = Field(
        description="Name of the model, as its server knows it."
    )
    prompt: Annotated[str, Field(max_length=LONGEST_PROMPT)] = Field(
        "", description="What the model is told; empty: the text that Glossator brings along."
    )
    api_key: Annotated[str, Field(max_length=LONGEST_KEY)] | None = Field(
        None, description='Sent as "Authorization: Bearer"; null keeps the key for the same server, empty removes it.'
    )
    alone: bool = Field(False, description="Whether the project's own model proposes nothing beside it.")
    automatic: bool = Field(False, description="Whether it is asked about new documents without anybody asking.")


class OutsideModelView(BaseModel):
    """A version of a model of others that has proposed answers here, and what its requests took."""

    name: str
    version: str
    prompt: str = Field(description="What it was told; empty where another program sent its predictions.")
    requests: int = Field(description="Answered requests.")
    tokens_in: int = Field(description="Tokens read, as its server counts them.")
    tokens_out: int = Field(description="Tokens written, as its server counts them.")
    milliseconds: int = Field(description="Of all requests together.")
    created_at: datetime


class ProposerView(BaseModel):
    """The model of others that a project asks, without its key."""

    kind: Kind
    url: str
    model: str
    prompt: str
    has_key: bool
    alone: bool
    automatic: bool
    number: int = Field(description="Number of the settings; it rises with address, model and prompt.")
    changed_by: str
    changed_at: datetime


class ProposerState(BaseModel):
    """What a project asks of models of others, and what it may ask."""

    proposer: ProposerView | None = Field(description="null: the project asks no model of others.")
    addresses: list[str] = Field(description="Servers that the administrator allows (GLOSSATOR_PROPOSER_ADDRESSES).")
    prompt: str = Field(description="Prompt of a model without one of its own.")
    job: JobView | None = Field(description="The newest job that asked it about documents.")
    models: list[OutsideModelView] = Field(description="Versions that have proposed answers, the ten newest.")


def proposer_state(workspace: Workspace, project_id: str) -> ProposerState:
    """Return what a project asks of models of others. Raises NotFound."""
    with workspace.database.read() as session:
        existing(session, Project, project_id)
        stored = session.get(Proposer, project_id)
        newest = (
            select(OutsideModel)
            .where(OutsideModel.project_id == project_id)
            .order_by(OutsideModel.created_at.desc(), OutsideModel.id.desc())
            .limit(MODELS_SHOWN)
        )
        models = [OutsideModelView.model_validate(row, from_attributes=True) for row in session.scalars(newest)]
        return ProposerState(
            proposer=_view(session, stored) if stored is not None else None,
            addresses=workspace.settings.proposer_addresses,
            prompt=PROMPT,
            job=job_view(job) if (job := newest_job(session, project_id)) is not None else None,
            models=models,
        )


def set_proposer(workspace: Workspace, project_id: str, wanted: WantedProposer, *, by: User) -> ProposerView:
    """Let a project ask a model of others, or ask another one. Audited, without the key.

    Raises:
        NotFound: There is no such project.
        Refused: The administrator does not allow the address, or the model's name cannot be shown.
    """
    check_address(wanted.url, workspace.settings)
    check_name(wanted.model, "A model's name", longest=LONGEST_MODEL)
    prompt = storable(wanted.prompt).strip() or PROMPT
    if wanted.api_key is not None and not (wanted.api_key.isascii() and (wanted.api_key + " ").isprintable()):
        raise Refused("The key must be of printable ASCII characters.")
    with workspace.database.write() as session:
        existing(session, Project, project_id, with_for_update=True)
        before = session.get(Proposer, project_id)
        stored = before or Proposer(project_id=project_id, number=0, api_key="", automatic_since=None)
        asked = (wanted.kind, wanted.url, wanted.model, prompt)
        if before is None or asked != (before.kind, before.url, before.model, before.prompt):
            stored.number += 1
        key = wanted.api_key
        if key is None:  # a key is for the server that it was given for
            key = stored.api_key if before is not None and origin_of(before.url) == origin_of(wanted.url) else ""
        clauses = _clauses(before, wanted, prompt, key)
        stored.kind, stored.url, stored.model, stored.prompt = asked
        stored.api_key, stored.alone = key, wanted.alone
        if not wanted.automatic:
            stored.automatic_since = None
        elif stored.automatic_since is None:
            stored.automatic_since = now()
        stored.changed_by, stored.changed_at = by.id, now()
        session.add(stored)
        session.flush()
        if clauses:
            details = {"model": wanted.model, "host": str(origin_of(wanted.url)), "changed": ", ".join(clauses)}
            audit.record(session, by.id, "proposer.set", project_id, project_id, **details)
        return _view(session, stored)


def remove_proposer(workspace: Workspace, project_id: str, *, by: User) -> None:
    """Let a project ask no model of others, forget its key and stop its job; what was proposed stays. Audited."""
    with workspace.database.write() as session:
        stored = session.get(Proposer, project_id)
        if stored is None:
            return
        details = {"model": stored.model, "host": str(origin_of(stored.url))}
        audit.record(session, by.id, "proposer.remove", project_id, project_id, **details)
        session.delete(stored)
        if (job := queue.with_key(session, job_key(project_id), lock=True)) is not None:
            queue.cancel(session, job.id, by=by.id)


def job_key(project_id: str) -> str:
    """Return the key of the job that asks a project's model of others."""
    return f"{PROPOSE}:{project_id}"


def asked_proposer(session: Session, project_id: str) -> Proposer:
    """Return the model of others that a project asks. Raises Conflict when it asks none."""
    stored = session.get(Proposer, project_id)
    if stored is None:
        raise Conflict("The project asks no other model. An admin of the project can set one on the tab People.")
    return stored


def newest_job(session: Session, project_id: str) -> Job | None:
    """Return the newest job that asks a project's model of others about documents."""
    of_project = Job.project_id == project_id, Job.kind == PROPOSE
    return session.scalar(select(Job).where(*of_project).order_by(Job.created_at.desc(), Job.id.desc()).limit(1))


def check_address(url: str, settings: Settings) -> None:
    """Check that the deployment lets projects send pages to an address. Raises Refused."""
    origin = origin_of(url)
    if origin is None or "#" in url:
        raise Refused("This is not a web address. Write for example http://127.0.0.1:8000/v1.")
    if origin not in settings.proposer_addresses:
        allowed = ", ".join(settings.proposer_addresses) or "none"
        raise Refused(
            f"Pages may not be sent to {origin}. Allowed servers: {allowed}. An administrator can allow it "
            "(GLOSSATOR_PROPOSER_ADDRESSES)."
        )


def _clauses(before: Proposer | None, wanted: WantedProposer, prompt: str, key: str) -> list[str]:
    """Return what an audit entry says about a change; paths of addresses and keys may be secrets and are left out."""
    own = "without the own model" if wanted.alone else "beside the own model"
    when = "asked about new documents" if wanted.automatic else "asked when somebody wants it"
    parts = [
        ("new address", before is None or (before.kind, before.url) != (wanted.kind, wanted.url)),
        ("new model", before is None or before.model != wanted.model),
        ("new prompt", before is None or before.prompt != prompt),
        ("new key" if key else "no key", (before.api_key if before else "") != key),
        (own, before is None or before.alone != wanted.alone),
        (when, before is None or (before.automatic_since is not None) != wanted.automatic),
    ]
    return [clause for clause, differs in parts if differs]


def _view(session: Session, stored: Proposer) -> ProposerView:
    return ProposerView(
        kind="http" if stored.kind == "http" else "openai",
        url=stored.url,
        model=stored.model,
        prompt=stored.prompt,
        has_key=bool(stored.api_key),
        alone=stored.alone,
        automatic=stored.automatic_since is not None,
        number=stored.number,
        changed_by=session.get_one(User, stored.changed_by).name,
        changed_at=stored.changed_at,
    )
