"""Asking and refining."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS
from annotator.deps import QUESTION, CurrentUser, TheAnswerService, TheWorkspace
from engine.annotation import views
from engine.annotation.page_prefilter import PAGES_ASKED
from engine.annotation.proposal import Proposal
from engine.annotation.state import Box, Patch, Point
from engine.annotation.views import AnnotationView

router = APIRouter(tags=["annotations"], dependencies=[MEMBERS])


class Asked(BaseModel):
    """A question; without a page, the whole document is asked."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=20_000, json_schema_extra=QUESTION)
    page_id: str | None = None


class Prompts(BaseModel):
    """All prompts placed so far on one page, in pixels. A point is (x, y, positive)."""

    model_config = ConfigDict(extra="forbid")

    page_id: str
    points: list[Point] = Field(default_factory=list, max_length=200)
    box: Box | None = None
    mask: Patch | None = None


class MorePages(BaseModel):
    """How many further pages of a long document to ask."""

    model_config = ConfigDict(extra="forbid", strict=True)

    pages: int = Field(PAGES_ASKED, ge=1, le=64)


@router.post("/documents/{document_id}/ask")
def ask(document_id: str, asked: Asked, service: TheAnswerService, user: CurrentUser) -> AnnotationView:
    """Ask a document, or one page of it. The same question again returns the answer that is there."""
    annotation_id, existing = service.ask(document_id, asked.question, asked.page_id, user.id)
    view = views.annotation_view(service.workspace, annotation_id)
    view.existing = existing
    return view


@router.post("/annotations/{annotation_id}/ask-more")
def ask_more(annotation_id: str, more: MorePages, service: TheAnswerService, user: CurrentUser) -> AnnotationView:
    """Ask further pages of the document, the likeliest first; return the answer with the longer list of ranked pages.

    A better proposal takes the place of the one so far only while nobody has edited the answer.
    """
    service.ask_more(annotation_id, user.id, more.pages)
    return views.annotation_view(service.workspace, annotation_id)


@router.post("/annotations/{annotation_id}/refine")
def refine(annotation_id: str, prompts: Prompts, service: TheAnswerService, user: CurrentUser) -> Proposal:
    """Answer again with points and a box. Changes no annotation: save the result as an edit that names the prediction."""
    return service.refine(
        annotation_id, prompts.page_id, user.id, points=prompts.points, box=prompts.box, mask=prompts.mask
    )


@router.get("/annotations/{annotation_id}")
def show(annotation_id: str, workspace: TheWorkspace, user: CurrentUser) -> AnnotationView:
    """Return an annotation with its newest state. 404 for somebody else's that the person is not to see yet."""
    return views.annotation_view(workspace, annotation_id, user.id)
