"""Routes for surveys, label review, stages and automatic answers."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, MEMBERS, REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine.jobs.job_view import JobView, job_view
from engine.projects import projects
from engine.selection import auto_accept, label_review, ranking, stages, survey_trigger
from engine.selection.auto_accept import MOST_LISTED, AutomaticLine
from engine.selection.label_review import LabelReviewLine
from engine.selection.stage_view import StageView, stage_view

router = APIRouter(tags=["selection"], dependencies=[MEMBERS])


class WantedStage(BaseModel):
    """The stage to set, and the reason."""

    model_config = ConfigDict(extra="forbid")

    stage: Literal["assisted", "semi_automatic", "automatic"]
    reason: str = Field("", max_length=2000)


class TakenBack(BaseModel):
    """Number of withdrawn automatic answers."""

    answers: int


class PutFirst(BaseModel):
    """Number of tasks moved to the front of the queue."""

    tasks: int


@router.post("/projects/{project_id}/survey", status_code=202, dependencies=[REVIEWERS])
def survey(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> JobView:
    """Request a survey: the model answers all standard questions it has not answered yet.

    A waiting or running survey is returned instead of a second one.
    """
    projects.project_by_id(workspace, project_id)
    return job_view(survey_trigger.request(workspace, project_id, by=user.id))


@router.get("/projects/{project_id}/label-reviews", dependencies=[REVIEWERS], responses=pages())
@router.get(  # the path before, which programs may ask for
    "/projects/{project_id}/second-looks", dependencies=[REVIEWERS], responses=pages(), include_in_schema=False
)
@needs_scope("read")
def list_label_reviews(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=label_review.MOST_LISTED, description="Maximum number of labels on a page.")
    ] = 200,
) -> list[LabelReviewLine]:
    """Return a page of the label review: accepted labels that the model contradicts, open first, with decisions.

    A page has 200 labels, and with `limit` 1,000 at most.
    """
    return paging.send(label_review.lines(workspace, project_id, limit, paging.cursor))


@router.put("/documents/{document_id}/first", dependencies=[REVIEWERS])
def put_first(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> PutFirst:
    """Move the tasks of a document to the front of the queue."""
    return PutFirst(tasks=ranking.put_first(workspace, document_id, user.id))


@router.get("/projects/{project_id}/stage")
@needs_scope("read")
def show_stage(project_id: str, workspace: TheWorkspace) -> StageView:
    """Return a project's stage with measured precision, answers above the threshold, and audit results."""
    return stage_view(workspace, project_id)


@router.put("/projects/{project_id}/stage", dependencies=[ADMINS])
def set_stage(project_id: str, wanted: WantedStage, workspace: TheWorkspace, user: CurrentUser) -> StageView:
    """Set a project's stage. 422 for "automatic" when the measured precision does not reach the target."""
    stages.set_stage(workspace, project_id, wanted.stage, by=user, reason=wanted.reason)
    return stage_view(workspace, project_id)


@router.get("/projects/{project_id}/automatic-answers", dependencies=[REVIEWERS], responses=pages())
@needs_scope("read")
def list_automatic(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="Maximum number of answers on a page.")] = 200,
) -> list[AutomaticLine]:
    """Return a page of the automatically accepted answers, newest first.

    A page has 200 answers, and with `limit` 1,000 at most.
    """
    return paging.send(auto_accept.lines(workspace, project_id, limit, paging.cursor))


@router.post("/projects/{project_id}/automatic-answers/undo", dependencies=[ADMINS])
def undo_automatic(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> TakenBack:
    """Withdraw all automatic answers that nobody has answered since. Their tasks are reopened."""
    return TakenBack(answers=auto_accept.undo(workspace, project_id, by=user))
