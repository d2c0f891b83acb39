"""Pages: pictures, words, and warming them up before they are asked."""

from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Header, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from annotator.access import MEMBERS
from annotator.deps import CurrentUser, TheDesk, TheEditor, TheWorkspace
from engine.annotation.words import MendedWords, MendRequest, Words, WordsConflict, mend, page_words
from engine.documents.views import PageImage, page_image, thumbnail

router = APIRouter(tags=["pages"], dependencies=[MEMBERS])
KEPT: dict[int | str, dict[str, Any]] = {304: {"description": "The picture that `if-none-match` names is the newest."}}


class Encoding(BaseModel):
    """Whether the page can be asked at once."""

    status: str


@router.get("/pages/{page_id}/image", response_class=Response, responses={200: {"content": {"image/png": {}}}, **KEPT})
def image(
    page_id: str, workspace: TheWorkspace, user: CurrentUser, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Return the picture of a page, byte for byte as it is stored."""
    return _picture(page_image(workspace, page_id), if_none_match)


@router.get(
    "/pages/{page_id}/thumbnail", response_class=Response, responses={200: {"content": {"image/jpeg": {}}}, **KEPT}
)
def small_image(
    page_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    width: Annotated[int, Query(ge=16, le=600)] = 160,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Return a small picture of a page."""
    return _picture(thumbnail(workspace, page_id, width), if_none_match)


@router.get("/pages/{page_id}/words")
def words(page_id: str, workspace: TheWorkspace, user: CurrentUser) -> Words:
    """Return the words of a page."""
    return page_words(workspace, page_id)


@router.put("/pages/{page_id}/words", response_model=MendedWords)
def mend_words(
    page_id: str, request: MendRequest, workspace: TheWorkspace, user: TheEditor
) -> MendedWords | JSONResponse:
    """Mend words: their text, splits, merges, additions. The same idempotency key again stores nothing."""
    try:
        return mend(workspace, page_id, request, user.id)
    except WordsConflict as conflict:
        current = page_words(workspace, page_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)


@router.post("/pages/{page_id}/encode", status_code=202)
def encode(page_id: str, desk: TheDesk, user: CurrentUser, later: BackgroundTasks) -> Encoding:
    """Encode a page in the background, so that its first question is answered at once. Writes nothing.

    Where many pages are being encoded already, the first question does it.
    """
    if desk.is_warm(page_id):
        return Encoding(status="encoded")
    later.add_task(desk.warm, page_id)
    return Encoding(status="encoding")


def _picture(picture: PageImage, if_none_match: str | None) -> Response:
    """A page's picture never changes; private, because it is somebody's document.

    `vary`: after a logout, or as somebody else, the same browser asks again instead of showing what it kept.
    """
    tag = f'"{picture.sha256}"'
    headers = {"etag": tag, "cache-control": "private, max-age=31536000, immutable", "vary": "cookie"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=picture.media_type, headers=headers)
