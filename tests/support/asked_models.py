"""A project of small bills with fields, whose proposals come from another model."""

import threading
from typing import Any

from db.tables import Job, Project
from engine.accounts.users import ensure_local_user
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.jobs import queue
from engine.jobs.worker import do
from engine.proposers.jobs import request_proposals, run_proposals
from engine.proposers.proposer import PROPOSE, ProposerView, WantedProposer, set_proposer
from engine.workspace import Workspace
from tests.support.factories import make_project
from tests.support.model_server import ModelServer

FIELDS = [
    FieldDefinition(name="number", question="What is the bill number?"),
    FieldDefinition(name="total", question="What is the total due?", type="number", guideline="Without the currency."),
    FieldDefinition(name="signed", question="Where is it signed?", type="signature"),
]


def make_asked_project(workspace: Workspace) -> Project:
    """A project with the fields number, total and signed."""
    project = make_project(workspace)
    replace_fields(workspace, project.id, FIELDS, by=ensure_local_user(workspace).id)
    return project


def set_model(workspace: Workspace, project_id: str, server: ModelServer, **parts: Any) -> ProposerView:
    """Let a project ask the model of a server; by the API of OpenAI, unless `parts` says otherwise."""
    path = "/v1" if parts.get("kind", "openai") == "openai" else "/propose"
    wanted = {"kind": "openai", "url": server.url + path, "model": "reader", **parts}
    return set_proposer(workspace, project_id, WantedProposer(**wanted), by=ensure_local_user(workspace))


def run_job(workspace: Workspace, job: Job, stop: threading.Event | None = None) -> Job:
    """Do one attempt at a job, as a worker does it; return the job."""
    leased = queue.lease(workspace, "a worker", [PROPOSE], job_id=job.id)
    assert leased is not None
    do(workspace, leased, "a worker", handlers={PROPOSE: run_proposals}, stop=stop or threading.Event())
    return queue.job_by_id(workspace, job.id)


def ask_model(workspace: Workspace, project_id: str, **wanted: Any) -> Job:
    """Ask the model about documents, and return the job after its first attempt."""
    by = ensure_local_user(workspace).id
    return run_job(workspace, request_proposals(workspace, project_id, by=by, **wanted))
