"""Routes for moving and copying documents to another project."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, REVIEWERS
from annotator.deps import CurrentUser, TheWorkers, TheWorkspace
from annotator.routes.documents import DocumentId
from engine.lifecycle import transfers
from engine.lifecycle.bin import MOST
from engine.lifecycle.transfer_view import TransferView, transfer_view

router = APIRouter(tags=["documents"], dependencies=[REVIEWERS])


class TransferRequest(BaseModel):
    """Documents to move or copy to another project."""

    model_config = ConfigDict(extra="forbid")

    documents: Annotated[list[DocumentId], Field(min_length=1, max_length=MOST)]
    to: DocumentId = Field(description="Id of the other project.")
    move: bool = Field(description="Move them; otherwise copy them.")
    add_fields: bool = Field(
        True, description="Add missing fields to the other project, for an admin of it. Its documents get tasks then."
    )


class TransferPreview(BaseModel):
    """What a transfer would do."""

    documents: int
    fields: list[str] = Field(description="Names of fields that the other project does not have.")
    may_add: bool = Field(description="Whether the caller may add them there.")
    sentences: list[str] = Field(description="What comes along, and what stays behind.")


class UndoneTransfer(BaseModel):
    """Ids of the documents that are back, and a sentence for each that is not, with the reason."""

    documents: list[str]
    stays: list[str]


@router.post("/projects/{project_id}/transfers/preview")
def preview_transfer(
    project_id: str, wanted: TransferRequest, workspace: TheWorkspace, user: CurrentUser
) -> TransferPreview:
    """Return what a transfer would do, and what would stay behind. Changes nothing."""
    plan = transfers.plan_transfer(workspace, project_id, wanted.documents, wanted.to, user, move=wanted.move)
    return TransferPreview.model_validate(plan, from_attributes=True)


@router.post("/projects/{project_id}/transfers", status_code=202)
def request_transfer(
    project_id: str, wanted: TransferRequest, workspace: TheWorkspace, workers: TheWorkers, user: CurrentUser
) -> TransferView:
    """Move or copy documents to another project with their answers, history, values and tasks, as a job. Audited.

    Questions are those of the other project with the same text, or the same name of a field. A moved document has a new
    id; the original lies in the bin of its project. The caller is a reviewer of both projects; to move, an admin of
    the first one. A document whose file the other project has already stays where it is.
    """
    job = transfers.request_transfer(
        workspace,
        project_id,
        wanted.documents,
        wanted.to,
        user,
        move=wanted.move,
        add_missing=wanted.add_fields,
    )
    workers.transfers.wake()
    return transfer_view(job, 0)


@router.get("/projects/{project_id}/transfers/{job_id}")
def show_transfer(project_id: str, job_id: str, workspace: TheWorkspace, user: CurrentUser) -> TransferView:
    """Return how far a transfer is, or what it did."""
    return transfer_view(transfers.transfer_of(workspace, job_id), transfers.count_transferred(workspace, job_id))


@router.post("/projects/{project_id}/transfers/{job_id}/undo", dependencies=[ADMINS])
def undo_transfer(project_id: str, job_id: str, workspace: TheWorkspace, user: CurrentUser) -> UndoneTransfer:
    """Undo a move: the originals come back as they were. Audited; repeating the request changes nothing.

    The copies go to the bin of the other project. A document that was changed there since stays there. 409 while
    documents are still being moved.
    """
    undone = transfers.undo_transfer(workspace, transfers.transfer_of(workspace, job_id), user)
    return UndoneTransfer(documents=undone.documents, stays=undone.stays)
