"""Pages: pictures, words, and warming them up before they are asked."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Header, Query, Response
from pydantic import BaseModel

from annotator.deps import CurrentUser, TheDesk, TheWorkspace
from engine.annotation.pages import words_of
from engine.documents.views import PageImage, page_image, thumbnail

router = APIRouter(tags=["pages"])


class Words(BaseModel):
    """The words of a page in reading order, one list a property. Boxes are pixels, right and lower edge exclusive."""

    numbers: list[int]
    boxes: list[tuple[int, int, int, int]]
    texts: list[str]
    lines: list[int]


class Encoding(BaseModel):
    """Whether the page can be asked at once."""

    status: str


@router.get("/pages/{page_id}/image", response_class=Response)
def image(
    page_id: str, workspace: TheWorkspace, user: CurrentUser, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """Return the picture of a page, byte for byte as it is stored."""
    return _picture(page_image(workspace, page_id), if_none_match)


@router.get("/pages/{page_id}/thumbnail", response_class=Response)
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
    found = words_of(workspace, page_id)
    return Words(
        numbers=found.numbers,
        boxes=[word.box for word in found.words],
        texts=[word.text for word in found.words],
        lines=found.lines,
    )


@router.post("/pages/{page_id}/encode", status_code=202)
def encode(page_id: str, desk: TheDesk, user: CurrentUser, later: BackgroundTasks) -> Encoding:
    """Encode a page in the background, so that its first question is answered at once. Writes nothing."""
    if desk.is_warm(page_id):
        return Encoding(status="encoded")
    later.add_task(desk.warm, page_id)
    return Encoding(status="encoding")


def _picture(picture: PageImage, if_none_match: str | None) -> Response:
    """A page's picture never changes; private, because it is somebody's document."""
    tag = f'"{picture.sha256}"'
    headers = {"etag": tag, "cache-control": "private, max-age=31536000, immutable"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=picture.media_type, headers=headers)
