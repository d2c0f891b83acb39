"""Edits become revisions: checked against the head, applied, appended, in one commit."""

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from db.tables import Annotation, Page, PageWord, Prediction, Revision
from engine.annotation.proposal import proposal_state
from engine.annotation.state import AnnotationState, Edit, EditNoAnswer, PageGeometry, apply, stored
from engine.errors import Conflict, NotFound, Refused
from engine.workspace import Workspace

Action = Literal["edit", "accept", "submit", "reopen"]
STATUS_AFTER: dict[Action, str] = {"edit": "draft", "accept": "accepted", "submit": "submitted", "reopen": "draft"}


class RevisionRequest(BaseModel):
    """What somebody wants to save. The same `idempotency_key` again is the same revision."""

    model_config = ConfigDict(extra="forbid")

    idempotency_key: str = Field(min_length=8, max_length=64)
    base: int = Field(ge=0, lt=2**31, description="Revision that the person saw; 0: only the model had spoken.")
    action: Action = "edit"
    edits: list[Edit] = Field(default_factory=list, max_length=1000)
    prediction_id: str | None = Field(None, max_length=32, description="The proposal that the edits build on.")
    seconds: float = Field(0, ge=0, le=86_400, description="Active work since the revision before.")
    interactions: dict[str, int] = Field(default_factory=dict, max_length=50, description="Tool: how often used.")


class Saved(BaseModel):
    """A revision that is on disk."""

    revision: int
    status: str
    saved_at: datetime
    state: AnnotationState


class RevisionConflict(Conflict):
    """The annotation has moved on since `base`. The caller shows both versions."""


def append_revision(workspace: Workspace, annotation_id: str, request: RevisionRequest, user_id: str) -> Saved:
    """Apply the edits of `request` to the revision it builds on and append the result.

    RevisionConflict when that is no longer the newest one; NotFound for an unknown annotation; Refused, with a sentence, for
    an edit that cannot be.
    """
    with workspace.database.write() as session:
        annotation = session.get(Annotation, annotation_id)
        if annotation is None:
            raise NotFound("There is no such annotation.")
        status = STATUS_AFTER[request.action]
        # PostgreSQL lets two writers come this far; the conditional update lets one of them through. The other one waits
        # here for the first one's commit, so the look for its key below sees what that one stored.
        advanced = session.execute(
            update(Annotation)
            .where(Annotation.id == annotation_id, Annotation.head == request.base)
            .values(head=request.base + 1, status=status)
            .execution_options(synchronize_session=False)
        )
        assert isinstance(advanced, CursorResult)
        if advanced.rowcount != 1:
            return _saved_before(session, annotation, request)
        if _with_key(session, annotation_id, request.idempotency_key) is not None:
            raise Refused("This idempotency key belongs to an earlier revision of this answer; make a new one.")
        state = _base_state(session, annotation_id, request)
        state = apply(state, request.edits, _geometry(session, annotation.document_id, _pages(request.edits)))
        if request.action in ("accept", "submit") and not state.no_answer and not state.marked_pages():
            raise Refused("Nothing is marked yet: mark the answer, or say that the document does not answer.")
        revision = Revision(
            annotation_id=annotation_id,
            number=request.base + 1,
            base=request.base,
            author_id=user_id,
            action=request.action,
            status=status,
            edits=[edit.model_dump(mode="json") for edit in request.edits],
            state=stored(state),
            prediction_id=request.prediction_id,
            idempotency_key=request.idempotency_key,
            seconds=request.seconds,
            interactions=dict(request.interactions),
        )
        session.add(revision)
        session.flush()
        return _saved(revision)


def state_at(session: Session, annotation_id: str, number: int) -> AnnotationState:
    """Return the state of a revision. NotFound when there is no such revision."""
    state = session.scalar(
        select(Revision.state).where(Revision.annotation_id == annotation_id, Revision.number == number)
    )
    if state is None:
        raise NotFound(f"There is no revision {number} of this answer.")
    return AnnotationState.model_validate(state)


def _saved_before(session: Session, annotation: Annotation, request: RevisionRequest) -> Saved:
    """Return the revision that this very request made before its answer got lost; RevisionConflict when it made none."""
    revision = _with_key(session, annotation.id, request.idempotency_key)
    if revision is not None:
        return _saved(revision)
    session.refresh(annotation)
    raise RevisionConflict(
        f"This answer was changed meanwhile: it is at revision {annotation.head}, and yours builds on {request.base}."
    )


def _with_key(session: Session, annotation_id: str, key: str) -> Revision | None:
    return session.scalar(
        select(Revision).where(Revision.annotation_id == annotation_id, Revision.idempotency_key == key)
    )


def _base_state(session: Session, annotation_id: str, request: RevisionRequest) -> AnnotationState:
    """Return what the edits build on: the revision `base`, or the named proposal while there is none."""
    if request.prediction_id is not None:
        owner = session.scalar(select(Prediction.annotation_id).where(Prediction.id == request.prediction_id))
        if owner != annotation_id:
            raise Refused("The proposal that this edit names belongs to another answer.")
    if request.base == 0:
        return proposal_state(session, annotation_id, request.prediction_id)
    return state_at(session, annotation_id, request.base)


def _pages(edits: Iterable[Edit]) -> set[str]:
    return {edit.page for edit in edits if not isinstance(edit, EditNoAnswer)}


def _geometry(session: Session, document_id: str, page_ids: set[str]) -> dict[str, PageGeometry]:
    """Return size and words of the named pages of a document. Retired words are left out: nothing new may name them."""
    if not page_ids:
        return {}
    pages = session.scalars(select(Page).where(Page.document_id == document_id, Page.id.in_(page_ids)))
    found = {page.id: PageGeometry((page.height, page.width), {}) for page in pages}
    words = session.scalars(select(PageWord).where(PageWord.page_id.in_(found), PageWord.retired_at.is_(None)))
    boxes: dict[str, dict[int, tuple[int, int, int, int]]] = {page_id: {} for page_id in found}
    for word in words:
        boxes[word.page_id][word.number] = (word.x0, word.y0, word.x1, word.y1)
    return {page_id: PageGeometry(geometry.size, boxes[page_id]) for page_id, geometry in found.items()}


def _saved(revision: Revision) -> Saved:
    return Saved(
        revision=revision.number,
        status=revision.status,
        saved_at=revision.created_at,
        state=AnnotationState.model_validate(revision.state),
    )
