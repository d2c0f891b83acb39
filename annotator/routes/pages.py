"""Routes for pages: images, words, and encoding ahead of the first question."""

from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Header, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from annotator.access import MEMBERS, REVIEWERS
from annotator.deps import CurrentUser, TheAnswerService, TheEditor, TheWorkers, TheWorkspace
from annotator.scopes import needs_scope
from annotator.thumbnail_queue import make_shared
from engine.annotation.words import EditedWords, WordEditsRequest, Words, WordsConflict, edit_words, page_words
from engine.documents.lists.thumbnails import MEDIA_TYPE, thumbnail
from engine.documents.lists.views import document_of, page_image
from engine.jobs.job_view import JobView, job_view
from engine.read_again import jobs as read_again

router = APIRouter(tags=["pages"], dependencies=[MEMBERS])
KEPT: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client's copy, named by `if-none-match`, is current."}
}


class Encoding(BaseModel):
    """Encoding state of a page."""

    status: str = Field(
        examples=["encoding"],
        description="encoded, encoding, or loading: right after its start, a server loads the networks first.",
    )


@router.get("/pages/{page_id}/image", response_class=Response, responses={200: {"content": {"image/png": {}}}, **KEPT})
@needs_scope("read")
def image(
    page_id: str, workspace: TheWorkspace, user: CurrentUser, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Return the image of a page as stored."""
    picture = page_image(workspace, page_id)
    headers = _headers(picture.sha256)
    if if_none_match == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(workspace.blobs.read(picture.sha256), media_type=picture.media_type, headers=headers)


@router.get(
    "/pages/{page_id}/thumbnail", response_class=Response, responses={200: {"content": {"image/jpeg": {}}}, **KEPT}
)
@needs_scope("read")
async def small_image(
    page_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    width: Annotated[int, Query(ge=16, le=600)] = 160,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return a thumbnail of a page. `width` is rounded up to 80, 160, 200, 400 or 600 pixels.

    429 when too many thumbnails are waiting.
    """
    picture = await run_in_threadpool(thumbnail, workspace, page_id, width)
    headers = _headers(picture.name)
    if if_none_match == headers["etag"]:
        return Response(status_code=304, headers=headers)
    content = await run_in_threadpool(picture.load_cached)
    if content is None:
        content = await make_shared(picture)
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


@router.get("/pages/{page_id}/words")
@needs_scope("read")
def words(page_id: str, workspace: TheWorkspace, user: CurrentUser) -> Words:
    """Return the words of a page."""
    return page_words(workspace, page_id)


@router.put("/pages/{page_id}/words", response_model=EditedWords)
@needs_scope("annotate")
def mend_words(
    page_id: str, request: WordEditsRequest, workspace: TheWorkspace, user: TheEditor
) -> EditedWords | JSONResponse:
    """Fix words: edit, split, merge or add. Repeating an idempotency key stores nothing."""
    try:
        return edit_words(workspace, page_id, request, user.id)
    except WordsConflict as conflict:
        current = page_words(workspace, page_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)


@router.post("/pages/{page_id}/read-again", dependencies=[REVIEWERS], status_code=202)
@needs_scope("annotate")
def read_page_again(page_id: str, workspace: TheWorkspace, workers: TheWorkers, user: TheEditor) -> JobView:
    """Read one page again by OCR, as a job; see the route of its document. 409 while another page of it is read."""
    job = read_again.ask(workspace, document_of(workspace, page_id), user.id, page_id)
    workers.reading.wake()
    return job_view(job)


@router.post("/pages/{page_id}/encode", status_code=202)
@needs_scope("annotate")
def encode(page_id: str, service: TheAnswerService, user: CurrentUser, later: BackgroundTasks) -> Encoding:
    """Encode a page in the background, so that its first question is answered faster. Writes nothing.

    When many pages are being encoded, the first question encodes the page instead.
    """
    status = service.encoding_status(page_id)
    if status == "encoding":
        later.add_task(service.warm, page_id)
    return Encoding(status=status)


def _headers(name: str) -> dict[str, str]:
    """Return the cache headers of an image, which never changes.

    Private, because documents are confidential. `vary`: after a logout or as another user, the browser asks again.
    """
    return {"etag": f'"{name}"', "cache-control": "private, max-age=31536000, immutable", "vary": "cookie"}
