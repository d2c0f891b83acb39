"""Routes for the form of a document: all fields of its project at once."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS
from annotator.deps import CurrentUser, TheAnswerService, TheEditor, TheWorkspace
from annotator.scopes import needs_scope
from engine.fields.field_list import MOST
from engine.form.accepting import DecidedAnswer, FormDecision, decide_answers
from engine.form.asking import FIELDS_ASKED, ask_fields
from engine.form.upcoming import UpcomingForm, prepare_upcoming
from engine.form.view import FormView, load_form

router = APIRouter(tags=["annotations"], dependencies=[MEMBERS])


class FormRequest(BaseModel):
    """Number of fields that one request lets the model answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    most: int = Field(
        FIELDS_ASKED, ge=1, le=MOST, description="Fields to ask at most; the answer says how many are left."
    )


@router.post("/documents/{document_id}/form")
@needs_scope("annotate")
def fill_form(document_id: str, asked: FormRequest, service: TheAnswerService, user: CurrentUser) -> FormView:
    """Ask the fields of a document that the user has not asked yet, and return the form.

    Fields with an answer of the user stay as they are. Of a long document, or of many fields, a request asks a part:
    repeat it while `left` is above 0.
    """
    ask_fields(service, document_id, user.id, asked.most)
    return load_form(service.workspace, document_id, user.id)


@router.post("/documents/{document_id}/form/upcoming")
@needs_scope("annotate")
def prepare_upcoming_form(document_id: str, service: TheAnswerService, user: CurrentUser) -> UpcomingForm:
    """Compute in advance the form of the document that the user would get after this one, and name that document.

    Send this while the person works on this one. Nothing is leased or stored.
    """
    return prepare_upcoming(service, document_id, user.id)


@router.get("/documents/{document_id}/form")
@needs_scope("read")
def show_form(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> FormView:
    """Return the form of a document with the user's answers so far. Nothing is asked."""
    return load_form(workspace, document_id, user.id)


@router.post("/documents/{document_id}/form/accept")
@needs_scope("annotate")
def accept_form(
    document_id: str, decision: FormDecision, workspace: TheWorkspace, user: TheEditor
) -> list[DecidedAnswer]:
    """Accept several answers of a document. Repeating an idempotency key stores nothing further.

    An answer that was changed meanwhile is left as it is, with the reason; the others are accepted.
    """
    return decide_answers(workspace, document_id, decision, "accept", user.id)


@router.post("/documents/{document_id}/form/reopen")
@needs_scope("annotate")
def reopen_form(
    document_id: str, decision: FormDecision, workspace: TheWorkspace, user: TheEditor
) -> list[DecidedAnswer]:
    """Reopen several answers of a document, as Undo of `accept` does: they become drafts again."""
    return decide_answers(workspace, document_id, decision, "reopen", user.id)
