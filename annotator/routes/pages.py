"""Routes for pages: images, words, and encoding ahead of the first question."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, BackgroundTasks, Header, Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS, REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheAnswerService, TheEditor, TheWorkers, TheWorkspace
from annotator.scopes import needs_scope
from annotator.thumbnail_queue import make_shared
from engine.annotation.words import EditedWords, WordEditsRequest, Words, WordsConflict, edit_words, page_words
from engine.documents.lists.thumbnails import MEDIA_TYPE, image_version, thumbnail
from engine.documents.lists.views import PageLine, document_of, line_of_page, page_image
from engine.jobs.job_view import JobView, job_view
from engine.read_again import jobs as read_again
from engine.read_again.turning import turn_by_hand

router = APIRouter(tags=["pages"], dependencies=[MEMBERS])
KEPT: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client's copy, named by `if-none-match`, is current."}
}


Version = Annotated[str | None, Query(max_length=64, description="`image` of the page.")]


class Turn(BaseModel):
    """Request to turn a page clockwise."""

    model_config = ConfigDict(extra="forbid")

    degrees: Literal[90, 180, 270] = Field(description="Clockwise; a second turn back undoes the first.")
    image: str | None = Field(None, max_length=64, description="Image that the person saw; 409 if it is another now.")


class TurnedPage(BaseModel):
    """Page after a turn; `reading` is the job that reads it again, where its words are by OCR."""

    page: PageLine
    reading: JobView | None


class Encoding(BaseModel):
    """Encoding state of a page."""

    status: str = Field(
        examples=["encoding"],
        description="encoded, encoding, or loading: right after its start, a server loads the networks first.",
    )


@router.get("/pages/{page_id}/image", response_class=Response, responses={200: {"content": {"image/png": {}}}, **KEPT})
@needs_scope("read")
def image(
    page_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    version: Version = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the image of a page as stored.

    `version`: the `image` of the page; with it, the answer may be kept for ever. Without it, or with an earlier one,
    the answer is the image as it stands, and is asked for again each time.
    """
    picture = page_image(workspace, page_id)
    headers = _headers(picture.sha256, picture.sha256, version)
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
    version: Version = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return a thumbnail of a page. `width` is rounded up to 80, 160, 200, 400 or 600 pixels.

    `version`: as of the image. 429 when too many thumbnails are waiting.
    """
    picture = await run_in_threadpool(thumbnail, workspace, page_id, width)
    headers = _headers(picture.name, picture.sha256, version)
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


@router.post("/pages/{page_id}/turn")
@needs_scope("annotate")
def turn_page(page_id: str, request: Turn, workspace: TheWorkspace, workers: TheWorkers, user: TheEditor) -> TurnedPage:
    """Turn a page, with its words and the model's proposals. Words by OCR are then read anew, as a job.

    409 when answers mark the page: marks are kept in its pixels. 403 where people answer the document without seeing
    each other's answers, and the caller is no reviewer.
    """
    turn_by_hand(workspace, page_id, request.degrees, user.id, seen=request.image)
    job = read_again.ask_after_turn(workspace, page_id, user.id)
    if job is not None:
        workers.reading.wake()
    return TurnedPage(page=line_of_page(workspace, page_id), reading=job_view(job) if job is not None else None)


@router.post("/pages/{page_id}/encode", status_code=202)
@while_archived
@needs_scope("annotate")
def encode(page_id: str, service: TheAnswerService, user: CurrentUser, later: BackgroundTasks) -> Encoding:
    """Encode a page in the background, so that its first question is answered faster. Writes nothing.

    When many pages are being encoded, the first question encodes the page instead.
    """
    status = service.encoding_status(page_id)
    if status == "encoding":
        later.add_task(service.warm, page_id)
    return Encoding(status=status)


def _headers(name: str, sha256: str, version: str | None) -> dict[str, str]:
    """Return the cache headers of an image, which never changes under its version; a page may be turned.

    Private, because documents are confidential. `vary`: after a logout or as another user, the browser asks again.
    """
    caching = "max-age=31536000, immutable" if version == image_version(sha256) else "no-cache"
    return {"etag": f'"{name}"', "cache-control": f"private, {caching}", "vary": "cookie"}
