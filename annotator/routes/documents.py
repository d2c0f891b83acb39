"""Routes for uploads and documents."""

import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, File, Query, Request, Response, UploadFile
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.background import BackgroundTask

from annotator.access import MEMBERS, REVIEWERS, check_member, while_archived
from annotator.deps import CurrentUser, TheEditor, TheWorkers, TheWorkspace, required_user
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from annotator.uploads import asked_early, copy_upload, sent_name
from annotator.work_queues import Place, WorkQueue, end_of, end_unless_gone, run_in_thread
from engine.annotation.conventions import issuer_of_document
from engine.annotation.views import AnnotationLine, annotation_lines
from engine.documents import renaming
from engine.documents.incoming import go_on, place_in_line, take, take_early
from engine.documents.ingest import Ingested
from engine.documents.kinds import KINDS
from engine.documents.lists.listing import MOST_LINES, Sort, document_page
from engine.documents.lists.views import DocumentLine, DocumentView, document_view
from engine.documents.originals import original_of
from engine.documents.reading import read_jobs
from engine.documents.refusal import DocumentRefused
from engine.errors import OverQuota, Refused
from engine.interchange.marked_pdf.accepted import name_of_marked_pdf, write_accepted
from engine.jobs.in_process_worker import InProcessWorker
from engine.jobs.job_view import JobView, job_view
from engine.projects import projects
from engine.read_again import jobs as read_again
from engine.text import file_name, quote_file_name
from engine.workspace import Workspace

router = APIRouter(tags=["documents"], dependencies=[MEMBERS])
# Uploads that are arriving, apart from files waiting to be read (engine.documents.incoming): slow connections take
# time.
# The limit per user leaves places for others; the page sends two at a time.
UPLOADS = WorkQueue("uploads", at_work=24, waiting=0, come_back=5, of_one=4)
# Each opens its file in a process of its own.
MARKED_PDFS = WorkQueue("marked PDFs", at_work=2, waiting=30, come_back=10, of_one=4)
MOST_IDS = 100  # documents asked for by their ids
MOST_FILES = 50  # per request: each may take as long as a document may
sent = APIRouter(route_class=asked_early(check_member, lambda request: UPLOADS.place(required_user(request).id)))


DocumentId = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]


class Taken(BaseModel):
    """A file that became a document.

    `created`: false when the project had it already. `whole`: false while pages are read.
    """

    name: str
    document_id: str
    created: bool
    pages: int
    words: int
    warnings: list[str]
    whole: bool = True


class RefusedFile(BaseModel):
    """A refused file, with the reason."""

    name: str
    reason: str
    sentence: str


class Uploaded(BaseModel):
    """Result of each uploaded file."""

    documents: list[Taken]
    refused: list[RefusedFile]
    detail: str | None = None


class DocumentWithQuestions(DocumentView):
    """A document with its pages and the questions asked about it."""

    annotations: list[AnnotationLine]


@router.get(
    "/projects/{project_id}/documents", responses=pages("Number of the documents that `q` finds, on all pages.")
)
@needs_scope("read")
def list_documents(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    ids: Annotated[
        list[DocumentId] | None,
        Query(alias="id", max_length=MOST_IDS, description="Only this document; repeat it for several, 100 at most."),
    ] = None,
    q: Annotated[
        str,
        Query(
            max_length=200,
            description="Only documents that have each of these words in the name, or printed on a page as the "
            "beginning of a word, in any case.",
        ),
    ] = "",
    sort: Annotated[Sort, Query(description="Order: newest first, or by name.")] = "-created",
    limit: Annotated[
        int, Query(ge=1, le=MOST_LINES, description="Maximum number of documents on a page.")
    ] = MOST_LINES,
) -> list[DocumentLine]:
    """Return a page of a project's documents, newest first; with `id` only those of them that the project has.

    A page has 1,000 documents at most. The header `Link` holds the address of the next one.
    """
    projects.project_by_id(workspace, project_id)
    page = document_page(workspace, project_id, user.id, query=q, sort=sort, limit=limit, cursor=paging.cursor, ids=ids)
    paging.names(page.next, page.total)
    return page.lines


@sent.post("/projects/{project_id}/documents")
@needs_scope("annotate")
async def upload(
    request: Request,
    project_id: str,
    files: Annotated[list[UploadFile], File(description=f"{KINDS}; at most 50.")],
    workspace: TheWorkspace,
    workers: TheWorkers,
    user: CurrentUser,
    response: Response,
    early: Annotated[
        bool, Query(description="Respond after the first page; the other pages are read afterwards.")
    ] = False,
) -> Uploaded:
    """Upload files into a project.

    422, with a sentence for each file, when none can be read; 429 when too many are waiting.

    With `early`, the response counts the pages read so far; `reading` of the document gives their final number. When
    the client disconnects, the current file is still taken, and the files behind it are not.
    """
    if len(files) > MOST_FILES:
        raise Refused(f"The request has {len(files)} files; {MOST_FILES} are allowed. Send them in several requests.")
    gone = threading.Event()

    def take_in() -> Uploaded:
        projects.project_by_id(workspace, project_id)
        with place_in_line():
            return _take_all(workspace, workers.reading if early else None, files, project_id, user.id, gone)

    answer = await end_unless_gone(run_in_thread(take_in, "upload"), request, gone)
    if not answer.documents:
        response.status_code = 422
        answer.detail = " ".join(refused.sentence for refused in answer.refused)
    return answer


@router.get("/documents/{document_id}")
@needs_scope("read")
def show_document(
    document_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    questions: Annotated[bool, Query(description="Include the questions; otherwise `annotations` is empty.")] = True,
) -> DocumentWithQuestions:
    """Return a document with its pages, and with its questions on request."""
    document = document_view(workspace, document_id)
    lines = annotation_lines(workspace, document_id, user.id) if questions else []
    return DocumentWithQuestions(**document.model_dump(), annotations=lines)


class NewName(BaseModel):
    """New name of a document or project."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=1000)
    before: str | None = Field(
        None, max_length=1000, description="Name that the person saw; 409 when it is another one by now."
    )


@router.patch("/documents/{document_id}", dependencies=[REVIEWERS])
@needs_scope("annotate")
def rename_document(document_id: str, new: NewName, workspace: TheWorkspace, user: TheEditor) -> DocumentView:
    """Rename a document. Audited. Searches, lists and later exports have the new name; snapshots keep the one before.

    409 when somebody renamed it since the person saw `before`.
    """
    renaming.rename_document(workspace, document_id, new.name, user.id, before=new.before)
    return document_view(workspace, document_id)


class Issuer(BaseModel):
    """Issuer of a document."""

    issuer: str | None = Field(description="Name, as a person accepted it; null where it is not known.")


@router.get("/documents/{document_id}/issuer")
@needs_scope("read")
def show_issuer(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> Issuer:
    """Return who issued a document: the accepted answer of the field that names the issuer."""
    return Issuer(issuer=issuer_of_document(workspace, document_id, user.id))


@router.get(
    "/documents/{document_id}/marked.pdf",
    response_class=FileResponse,
    responses={200: {"content": {"application/pdf": {}}}},
)
@needs_scope("read")
async def marked_pdf(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> FileResponse:
    """Return the original as a PDF with highlights and notes of the accepted answers, searchable where OCR read it.

    Reviewers get the answers of all people, annotators their own. A picture, or a PDF that cannot be opened, becomes a
    PDF of its page images. 422 while the pages are being read.
    """
    with MARKED_PDFS.place(user.id) as place:
        written = run_in_thread(partial(_write_marked, place, workspace, document_id, user.id), "marked PDF")
        path, name = await end_of(written)
    forget = BackgroundTask(partial(path.unlink, missing_ok=True))
    return FileResponse(path, media_type="application/pdf", filename=name, background=forget)


@router.get(
    "/documents/{document_id}/original",
    response_class=FileResponse,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
@needs_scope("read")
def original(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> FileResponse:
    """Return the file of a document as it was uploaded, byte by byte, under its name."""
    file = original_of(workspace, document_id)
    return FileResponse(file.path, media_type="application/octet-stream", filename=file.name)


@router.post("/documents/{document_id}/reading/stop")
@while_archived
@needs_scope("annotate")
def stop_reading(document_id: str, workspace: TheWorkspace, workers: TheWorkers, user: CurrentUser) -> DocumentView:
    """Stop the reading of a long document at its next step. The pages read so far stay.

    409 when the document is not being read.
    """
    read_jobs.stop(workspace, document_id, by=user.id)
    go_on(workspace, document_id, workers.reading)  # one that waits is closed at once
    return document_view(workspace, document_id)


@router.post("/documents/{document_id}/reading/resume")
@needs_scope("annotate")
def resume_reading(document_id: str, workspace: TheWorkspace, workers: TheWorkers, user: CurrentUser) -> DocumentView:
    """Read the pages that are missing since reading was stopped, or ended at a limit. 409 otherwise."""
    read_jobs.resume(workspace, document_id, by=user.id)
    workers.reading.wake()  # it takes two at a time, however many are resumed
    return document_view(workspace, document_id)


@router.post("/documents/{document_id}/read-again", dependencies=[REVIEWERS], status_code=202)
@needs_scope("annotate")
def read_document_again(document_id: str, workspace: TheWorkspace, workers: TheWorkers, user: TheEditor) -> JobView:
    """Read all pages of a document again by OCR, as a job.

    Words that people added or fixed stay, and so do words that OCR reads as before. Answers keep the words they name
    where these still stand; accepted answers whose words are gone go to review. 409 while other pages of the document
    are being read again.
    """
    job = read_again.ask(workspace, document_id, user.id)
    workers.reading.wake()
    return job_view(job)


def _write_marked(place: Place, workspace: Workspace, document_id: str, user_id: str) -> tuple[Path, str]:
    """Return a new file with the marked PDF of a document, and its name."""
    name = name_of_marked_pdf(workspace, document_id)
    with tempfile.NamedTemporaryFile(suffix=".pdf", delete=False) as made:
        path = Path(made.name)
    try:
        with place.turn():
            write_accepted(workspace, document_id, user_id, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, name


def _take_all(
    workspace: TheWorkspace,
    worker: InProcessWorker | None,
    files: Sequence[UploadFile],
    project_id: str,
    user_id: str,
    gone: threading.Event,
) -> Uploaded:
    """Take the files one by one, until `gone` is set.

    `worker`: reads the further pages of long documents afterwards; None: each file is read to its end here.
    """
    answer = Uploaded(documents=[], refused=[])
    for file in files:
        if gone.is_set():
            break
        name = file_name(sent_name(file), "document")
        copy = copy_upload(file)
        try:
            if worker is None:
                taken = take(workspace, copy, name=name, project_id=project_id, user_id=user_id)
            else:
                taken = take_early(
                    workspace, copy, name=name, project_id=project_id, user_id=user_id, worker=worker, done=copy.unlink
                )
            answer.documents.append(_taken_view(taken))
        except OverQuota as refused:
            answer.refused.append(
                RefusedFile(name=name, reason="quota", sentence=f"{quote_file_name(name)}: {refused}")
            )
        except DocumentRefused as refused:
            answer.refused.append(RefusedFile(name=name, reason=refused.reason.value, sentence=str(refused)))
        finally:
            if worker is None:
                copy.unlink(missing_ok=True)
    return answer


def _taken_view(ingested: Ingested) -> Taken:
    return Taken(
        name=ingested.name,
        document_id=ingested.document_id,
        created=ingested.created,
        pages=ingested.pages,
        words=ingested.words,
        warnings=list(ingested.warnings),
        whole=ingested.whole,
    )


router.include_router(sent)
