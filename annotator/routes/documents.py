"""Documents in, and what they hold."""

import tempfile
import threading
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Response, UploadFile
from pydantic import BaseModel

from annotator.deps import CurrentUser, TheWorkspace
from engine import projects
from engine.annotation.views import AnnotationLine, annotation_lines
from engine.documents.ingest import Ingested, ingest
from engine.documents.refusal import DocumentRefused
from engine.documents.views import DocumentLine, DocumentView, document_lines, document_view

router = APIRouter(tags=["documents"])
_CHUNK = 1 << 20
# Reading a file takes a core; more at once than this only makes everybody wait.
_READING = threading.Semaphore(2)


class Taken(BaseModel):
    """A file that is a document now. `created` is false when the project had it already."""

    name: str
    document_id: str
    created: bool
    pages: int
    words: int
    warnings: list[str]


class RefusedFile(BaseModel):
    """A file that is not taken, and why."""

    name: str
    reason: str
    sentence: str


class Uploaded(BaseModel):
    """What became of each file."""

    documents: list[Taken]
    refused: list[RefusedFile]
    detail: str | None = None


class DocumentWithQuestions(DocumentView):
    """A document with its pages and the questions asked about it."""

    annotations: list[AnnotationLine]


@router.get("/projects/{project_id}/documents")
def list_documents(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> list[DocumentLine]:
    """Return a project's documents, newest first."""
    projects.project_by_id(workspace, project_id)
    return document_lines(workspace, project_id)


@router.post("/projects/{project_id}/documents")
def upload(
    project_id: str,
    files: Annotated[list[UploadFile], File(description="PDF, PNG, JPEG or TIFF.")],
    workspace: TheWorkspace,
    user: CurrentUser,
    response: Response,
) -> Uploaded:
    """Take files into a project. 422, with a sentence a file, when none of them can be read."""
    projects.project_by_id(workspace, project_id)
    answer = Uploaded(documents=[], refused=[])
    for file in files:
        name = Path((file.filename or "document").replace("\\", "/")).name or "document"
        with tempfile.NamedTemporaryFile(prefix="glossator-upload-") as copy:
            while chunk := file.file.read(_CHUNK):
                copy.write(chunk)
            copy.flush()
            try:
                with _READING:
                    taken = ingest(workspace, Path(copy.name), name=name, project_id=project_id, user_id=user.id)
                answer.documents.append(_taken(taken))
            except DocumentRefused as refused:
                answer.refused.append(RefusedFile(name=name, reason=refused.reason.value, sentence=str(refused)))
    if not answer.documents:
        response.status_code = 422
        answer.detail = " ".join(refused.sentence for refused in answer.refused)
    return answer


@router.get("/documents/{document_id}")
def show_document(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> DocumentWithQuestions:
    """Return a document with its pages and questions."""
    document = document_view(workspace, document_id)
    return DocumentWithQuestions(**document.model_dump(), annotations=annotation_lines(workspace, document_id))


def _taken(ingested: Ingested) -> Taken:
    return Taken(
        name=ingested.name,
        document_id=ingested.document_id,
        created=ingested.created,
        pages=ingested.pages,
        words=ingested.words,
        warnings=list(ingested.warnings),
    )
