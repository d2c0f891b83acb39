"""Routes for questions and refinements of answers."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS
from annotator.deps import QUESTION, CurrentUser, TheAnswerService, TheWorkspace
from annotator.rate_limit import RateLimit
from annotator.scopes import needs_scope
from engine.annotation import views
from engine.annotation.page_prefilter import PAGES_ASKED
from engine.annotation.proposal import Proposal
from engine.annotation.state import MOST_ROWS, Patch, Point
from engine.annotation.table_proposals import GivenRow, propose_rows
from engine.annotation.views import AnnotationView
from engine.workspace import Workspace
from model.boxes import Box

RATE = RateLimit("questions")
router = APIRouter(tags=["annotations"], dependencies=[MEMBERS])


class Asked(BaseModel):
    """A question about one page, or about the whole document without `page_id`."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=20_000, json_schema_extra=QUESTION)
    page_id: str | None = None


class Prompts(BaseModel):
    """All prompts on one page so far, in pixels. A point is (x, y, positive)."""

    model_config = ConfigDict(extra="forbid")

    page_id: str
    points: list[Point] = Field(default_factory=list, max_length=200)
    box: Box | None = None
    mask: Patch | None = None


class GivenRows(BaseModel):
    """Rows of a table that stay as they are, from the top."""

    model_config = ConfigDict(extra="forbid")

    rows: list[GivenRow] = Field(default_factory=list, max_length=MOST_ROWS)


class MorePages(BaseModel):
    """Number of further pages of a long document to ask."""

    model_config = ConfigDict(extra="forbid", strict=True)

    pages: int = Field(PAGES_ASKED, ge=1, le=64)


def take_turn(workspace: Workspace, user_id: str) -> None:
    """Count a question of a person. Raises TooMany beyond the setting `asks_per_minute`."""
    if most := workspace.settings.asks_per_minute:
        RATE.take(user_id, most)


@router.post("/documents/{document_id}/ask")
@needs_scope("annotate")
def ask(document_id: str, asked: Asked, service: TheAnswerService, user: CurrentUser) -> AnnotationView:
    """Ask a document or one of its pages. Asking the same question again returns the existing answer."""
    take_turn(service.workspace, user.id)
    annotation_id, existing = service.ask(document_id, asked.question, asked.page_id, user.id)
    view = views.annotation_view(service.workspace, annotation_id)
    view.existing = existing
    return view


@router.post("/annotations/{annotation_id}/ask-more")
@needs_scope("annotate")
def ask_more(annotation_id: str, more: MorePages, service: TheAnswerService, user: CurrentUser) -> AnnotationView:
    """Ask further pages of the document, most likely first.

    Returns the answer with the longer list of ranked pages.

    A better proposal replaces the current one only while nobody has edited the answer.
    """
    take_turn(service.workspace, user.id)
    service.ask_more(annotation_id, user.id, more.pages)
    return views.annotation_view(service.workspace, annotation_id)


@router.post("/annotations/{annotation_id}/refine")
@needs_scope("annotate")
def refine(annotation_id: str, prompts: Prompts, service: TheAnswerService, user: CurrentUser) -> Proposal:
    """Refine an answer with points and a box.

    Changes no annotation: save the result as an edit with its prediction id.
    """
    return service.refine(
        annotation_id, prompts.page_id, user.id, points=prompts.points, box=prompts.box, mask=prompts.mask
    )


@router.post("/annotations/{annotation_id}/table")
@needs_scope("annotate")
def propose_table(annotation_id: str, given: GivenRows, workspace: TheWorkspace, user: CurrentUser) -> Proposal:
    """Propose all rows of a table anew, from rows that a person has made or corrected; those stay as they are.

    Changes no annotation: save the cells as edits with the prediction id.
    """
    return propose_rows(workspace, annotation_id, user.id, given.rows)


@router.get("/annotations/{annotation_id}")
@needs_scope("read")
def show(annotation_id: str, workspace: TheWorkspace, user: CurrentUser) -> AnnotationView:
    """Return an annotation with its newest state.

    404 for annotations that are hidden from the user until they answer.
    """
    return views.annotation_view(workspace, annotation_id, user.id)
