"""Routes for removing documents into the bin of their project, restoring them, and deleting them for good."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, while_archived
from annotator.deps import CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.routes.documents import DocumentId
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import erasing
from engine.lifecycle.bin import MOST, BinLine
from engine.lifecycle.bins import MOST_LISTED
from engine.lifecycle.document_traces import MOST_LISTED as MOST_TRACES
from engine.lifecycle.document_traces import DocumentTraces
from engine.lifecycle.document_traces import document_traces as traces_of

router = APIRouter(tags=["documents"], dependencies=[ADMINS])


class ChosenDocuments(BaseModel):
    """Ids of documents."""

    model_config = ConfigDict(extra="forbid")

    documents: Annotated[list[DocumentId], Field(min_length=1, max_length=MOST)]


class DocumentsToDelete(BaseModel):
    """Ids of documents in the bin; null: all of them."""

    model_config = ConfigDict(extra="forbid")

    documents: Annotated[list[DocumentId], Field(min_length=1, max_length=MOST)] | None = None


class EmptiedBin(BaseModel):
    """Ids of the documents that are being deleted for good, and a sentence for each that stays, with the reason."""

    documents: list[str]
    stays: list[str]


class ChangedDocuments(BaseModel):
    """Ids of the documents that the request has changed."""

    documents: list[str]


@router.post("/projects/{project_id}/documents/remove")
def remove_documents(
    project_id: str, chosen: ChosenDocuments, workspace: TheWorkspace, user: CurrentUser
) -> ChangedDocuments:
    """Remove documents into the bin of their project, with their tasks, answers and history. Audited.

    They leave every list, queue, figure, search, export and training. Until their days in the bin are over
    (`GLOSSATOR_BIN_DAYS`), they can be restored as they were. Snapshots and exports made before stay as they are. An
    edit that somebody sends meanwhile is answered with 404, and the page keeps it. 404 when one of the documents is not
    in the project; nothing is removed then. Repeating the request changes nothing.
    """
    return ChangedDocuments(documents=lifecycle.remove(workspace, project_id, chosen.documents, user.id))


@router.get("/projects/{project_id}/bin", responses=pages("Number of the documents in the bin, on all pages."))
def list_bin(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=MOST_LISTED, description="Maximum number of documents on a page.")
    ] = MOST_LISTED,
) -> list[BinLine]:
    """Return a page of the documents in the bin of a project, last removed first; `deleted_at`: end of its days."""
    page = lifecycle.list_bin(workspace, project_id, limit=limit, cursor=paging.cursor)
    return paging.send(page, lifecycle.count_bin(workspace, project_id))


@router.get("/projects/{project_id}/traces")
def document_traces(
    project_id: str,
    workspace: TheWorkspace,
    document: Annotated[str, Query(max_length=32, description="Id of a document of the project, or of its bin.")],
    limit: Annotated[
        int, Query(ge=1, le=MOST_TRACES, description="Maximum number of traces, the newest first.")
    ] = MOST_TRACES,
    offset: Annotated[int, Query(ge=0, description="Number of newer traces to leave out.")] = 0,
) -> DocumentTraces:
    """Return what holds a document, or has learned from it: snapshots, exports, runs, model versions, and copies.

    The files of the snapshots are read, which takes seconds in a large project.
    """
    return traces_of(workspace, project_id, document, limit=limit, offset=offset)


@router.post("/projects/{project_id}/bin/restore")
def restore_documents(
    project_id: str, chosen: ChosenDocuments, workspace: TheWorkspace, user: CurrentUser
) -> ChangedDocuments:
    """Restore documents from the bin, with their answers as they were. Audited.

    Their tasks follow what was changed meanwhile, as the standard questions. Repeating the request changes nothing.
    """
    return ChangedDocuments(documents=lifecycle.restore(workspace, project_id, chosen.documents, user.id))


@router.post("/projects/{project_id}/bin/empty", status_code=202)
@while_archived
def empty_bin(project_id: str, chosen: DocumentsToDelete, workspace: TheWorkspace, user: CurrentUser) -> EmptiedBin:
    """Delete documents in the bin for good, with their answers, page images and files. Audited.

    They cannot be restored from now on. A worker deletes them within moments. A document that a snapshot holds stays in
    the bin; `stays` says so. Ids that are not in the bin are ignored.
    """
    emptied = erasing.mark(workspace, project_id, chosen.documents, user.id)
    return EmptiedBin(documents=emptied.documents, stays=emptied.stays)
