"""Routes for reviews, histories and agreement."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from annotator.access import MEMBERS, REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheEditor, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.routes.tasks import LeaseView
from annotator.scopes import needs_scope
from annotator.work_queues import ONE_REPORT
from engine.annotation import views
from engine.annotation.revisions import RevisionConflict
from engine.statistics.project_agreement import ProjectAgreement, project_agreement
from engine.tasks.review import review_queue
from engine.tasks.review import verdicts as review
from engine.tasks.review.review_queue import NextReview
from engine.tasks.review.verdicts import Judged, ReviewLine, ReviewRequest, RevisionLine

router = APIRouter(tags=["reviews"], dependencies=[MEMBERS])
Limit = Annotated[int, Query(ge=1, le=review.MOST_LISTED, description="Maximum number on a page.")]
Sort = Annotated[Literal["number", "-number"], Query(description="Order: oldest first, or newest first.")]


class ReviewedBefore(BaseModel):
    """The annotation reviewed last, if any."""

    model_config = ConfigDict(extra="forbid")

    after: str | None = None


@router.post("/projects/{project_id}/review/next", dependencies=[REVIEWERS])
@needs_scope("annotate")
def next_review(project_id: str, came: ReviewedBefore, workspace: TheWorkspace, user: CurrentUser) -> NextReview:
    """Lease the next submitted answer to the caller: disputed first, then oldest, never their own."""
    return review_queue.next_review(workspace, project_id, user.id, came.after)


@router.post("/annotations/{annotation_id}/review/heartbeat", dependencies=[REVIEWERS])
@needs_scope("annotate")
def heartbeat(annotation_id: str, workspace: TheWorkspace, user: CurrentUser) -> LeaseView:
    """Renew the caller's lease on an answer under review."""
    return LeaseView(lease_until=review_queue.heartbeat(workspace, annotation_id, user.id))


@router.post(
    "/annotations/{annotation_id}/review/release", status_code=204, response_class=Response, dependencies=[REVIEWERS]
)
@while_archived
@needs_scope("annotate")
def release(annotation_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Return an answer to the review queue."""
    review_queue.release(workspace, annotation_id, user.id)


@router.post("/annotations/{annotation_id}/reviews", dependencies=[REVIEWERS], response_model=Judged)
@needs_scope("annotate")
def judge(
    annotation_id: str, request: ReviewRequest, workspace: TheWorkspace, user: TheEditor
) -> Judged | JSONResponse:
    """Review another user's answer: accept, reject with a reason, or fix.

    An accepted answer takes the equal answers of others with it. 422 when an accepted answer contradicts it, unless
    `becomes_label` says that it becomes the label.

    Repeating an idempotency key stores nothing.
    """
    try:
        return review.review(workspace, annotation_id, request, user.id)
    except RevisionConflict as conflict:
        current = views.annotation_view(workspace, annotation_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)


@router.get("/annotations/{annotation_id}/reviews", responses=pages())
@needs_scope("read")
def list_reviews(
    annotation_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    limit: Limit = review.MOST_LISTED,
    sort: Sort = "number",
) -> list[ReviewLine]:
    """Return a page of the reviews of an answer, oldest first. A page has 1,000 reviews at most.

    404 for answers that are hidden from the user until they answer.
    """
    newest_first = sort == "-number"
    page = review.reviews_of(
        workspace, annotation_id, user.id, limit=limit, cursor=paging.cursor, newest_first=newest_first
    )
    return paging.send(page)


@router.get("/annotations/{annotation_id}/revisions", responses=pages())
@needs_scope("read")
def list_revisions(
    annotation_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    limit: Limit = review.MOST_LISTED,
    sort: Sort = "number",
) -> list[RevisionLine]:
    """Return a page of the revisions of an answer, oldest first. A page has 1,000 revisions at most.

    404 for answers that are hidden from the user until they answer.
    """
    newest_first = sort == "-number"
    page = review.revisions_of(
        workspace, annotation_id, user.id, limit=limit, cursor=paging.cursor, newest_first=newest_first
    )
    return paging.send(page)


@router.get("/projects/{project_id}/agreement", dependencies=[REVIEWERS, ONE_REPORT])
@needs_scope("read")
def agreement(project_id: str, workspace: TheWorkspace) -> ProjectAgreement:
    """Return the agreement between people, with gold questions, and of the model with accepted answers."""
    return project_agreement(workspace, project_id)
