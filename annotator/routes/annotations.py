"""Asking, refining, and saving what people make of the answers."""

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import CurrentUser, TheDesk, TheWorkspace
from engine.annotation import views
from engine.annotation.proposal import Proposal
from engine.annotation.revisions import RevisionConflict, RevisionRequest, Saved, append_revision
from engine.annotation.state import Box, Patch, Point
from engine.annotation.views import AnnotationView

router = APIRouter(tags=["annotations"])


class Asked(BaseModel):
    """A question; without a page, the whole document is asked."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=20_000)
    page_id: str | None = None


class Prompts(BaseModel):
    """All prompts placed so far on one page, in pixels. A point is (x, y, positive)."""

    model_config = ConfigDict(extra="forbid")

    page_id: str
    points: list[Point] = Field(default_factory=list, max_length=200)
    box: Box | None = None
    mask: Patch | None = None


class SavedView(Saved):
    """A revision that is on disk, with the text under it."""

    text: str


@router.post("/documents/{document_id}/ask")
def ask(document_id: str, asked: Asked, desk: TheDesk, user: CurrentUser) -> AnnotationView:
    """Ask a document, or one page of it. The same question again returns the answer that is there."""
    annotation_id, existing = desk.ask(document_id, asked.question, asked.page_id, user.id)
    view = views.annotation_view(desk.workspace, annotation_id)
    view.existing = existing
    return view


@router.post("/annotations/{annotation_id}/refine")
def refine(annotation_id: str, prompts: Prompts, desk: TheDesk, user: CurrentUser) -> Proposal:
    """Answer again with points and a box. Changes no annotation: save the result as an edit that names the prediction."""
    return desk.refine(annotation_id, prompts.page_id, points=prompts.points, box=prompts.box, mask=prompts.mask)


@router.get("/annotations/{annotation_id}")
def show(annotation_id: str, workspace: TheWorkspace, user: CurrentUser) -> AnnotationView:
    """Return an annotation with its newest state."""
    return views.annotation_view(workspace, annotation_id)


@router.put(
    "/annotations/{annotation_id}/revisions",
    response_model=SavedView,
    responses={409: {"description": "Somebody was faster; `current` holds the newest version."}},
)
def save(
    annotation_id: str, request: RevisionRequest, workspace: TheWorkspace, user: CurrentUser
) -> SavedView | JSONResponse:
    """Append a revision. The same idempotency key again returns the same revision and stores nothing."""
    try:
        saved = append_revision(workspace, annotation_id, request, user.id)
    except RevisionConflict as conflict:
        current = views.annotation_view(workspace, annotation_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)
    return SavedView(**saved.model_dump(), text=views.text_of(workspace, saved.state))
