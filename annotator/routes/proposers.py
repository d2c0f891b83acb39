"""Routes for the model of others that a project asks."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, REVIEWERS
from annotator.deps import CurrentUser, TheWorkers, TheWorkspace
from engine.jobs.job_view import JobView, job_view
from engine.proposers import proposer
from engine.proposers.jobs import MOST_DOCUMENTS, request_proposals
from engine.proposers.proposer import ProposerState, ProposerView, WantedProposer

router = APIRouter(tags=["proposers"], dependencies=[REVIEWERS])
DocumentId = Annotated[str, Field(min_length=1, max_length=32)]


class WantedProposals(BaseModel):
    """Documents about which the other model is to be asked."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}]})

    documents: Annotated[list[DocumentId], Field(min_length=1, max_length=MOST_DOCUMENTS)] | None = Field(
        None, description="Ids of documents; null: all that were not asked about with the present settings and fields."
    )
    again: bool = Field(False, description="Ask about documents again that were asked about already.")


@router.get("/projects/{project_id}/proposer")
def show_proposer(project_id: str, workspace: TheWorkspace) -> ProposerState:
    """Return the other model that the project asks, without its key, with tokens used, and the allowed servers."""
    return proposer.proposer_state(workspace, project_id)


@router.put("/projects/{project_id}/proposer", dependencies=[ADMINS])
def set_proposer(project_id: str, wanted: WantedProposer, workspace: TheWorkspace, user: CurrentUser) -> ProposerView:
    """Let the project ask another model for proposals, at a server that the administrator allows. Audited.

    Its key is never shown again. Pages of the project are sent to that server.
    """
    return proposer.set_proposer(workspace, project_id, wanted, by=user)


@router.delete("/projects/{project_id}/proposer", status_code=204, response_class=Response, dependencies=[ADMINS])
def remove_proposer(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Let the project ask no other model, forget its key and stop its job. Its proposals stay. Audited."""
    proposer.remove_proposer(workspace, project_id, by=user)


@router.post("/projects/{project_id}/proposer/requests", status_code=202)
def request(
    project_id: str, wanted: WantedProposals, workspace: TheWorkspace, workers: TheWorkers, user: CurrentUser
) -> JobView:
    """Ask the other model about documents, as a job; one that waits or runs already takes the request too. Audited.

    Proposals wait for people, who are not overruled: a question that a person has answered is not asked.
    """
    job = request_proposals(workspace, project_id, documents=wanted.documents, again=wanted.again, by=user.id)
    workers.proposals.wake()
    return job_view(job)
