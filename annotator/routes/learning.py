"""Routes for models, training runs and jobs."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, MEMBERS, REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from annotator.work_queues import ONE_REPORT
from engine.jobs import job_list, queue
from engine.jobs.job_view import JobView, job_view
from engine.lifecycle.version_removal import remove_version
from engine.models import promotions, registry
from engine.models.pruning import PrunedVersion
from engine.models.registry import VersionView
from engine.projects import projects
from engine.training.retraining import trigger, trigger_status, views
from engine.training.retraining.changes import Changes, Kind, changes_of
from engine.training.retraining.trigger_status import TriggersView
from engine.training.retraining.views import RunLine, RunView

router = APIRouter(tags=["learning"], dependencies=[MEMBERS])


class Promotion(BaseModel):
    """Options of a promotion. `force` promotes despite a failed gate; this is audited."""

    model_config = ConfigDict(extra="forbid", strict=True)

    force: bool = False
    reason: str = Field("", max_length=2000)


class Reason(BaseModel):
    """Reason for an action, kept in the audit trail."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field("", max_length=2000)


@router.get("/projects/{project_id}/models", responses=pages())
@needs_scope("read")
def list_models(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=registry.MOST_LISTED, description="Maximum number of models on a page.")
    ] = registry.MOST_LISTED,
) -> list[VersionView]:
    """Return a page of the models of a project, newest first, the shipped one behind them.

    A page has 1,000 models at most.
    """
    return paging.send(registry.versions(workspace, project_id, limit=limit, cursor=paging.cursor))


@router.post("/projects/{project_id}/models/{version_id}/promote", dependencies=[ADMINS])
def promote(
    project_id: str, version_id: str, promotion: Promotion, workspace: TheWorkspace, user: CurrentUser
) -> list[VersionView]:
    """Promote a model to champion, the model in use. The page uses it within seconds."""
    promotions.promote(workspace, project_id, version_id, by=user, force=promotion.force, reason=promotion.reason)
    return registry.versions(workspace, project_id)


@router.delete("/projects/{project_id}/models/{version_id}", dependencies=[ADMINS])
@while_archived
def remove_model(project_id: str, version_id: str, workspace: TheWorkspace, user: CurrentUser) -> PrunedVersion:
    """Delete the weights of a model for good. Audited. Its line, figures and runs stay.

    It can neither answer, nor be promoted, judged or trained from any more, and runs that made it or began with it
    cannot be reproduced.
    """
    return remove_version(workspace, project_id, version_id, by=user)


@router.post("/projects/{project_id}/rollback", dependencies=[ADMINS])
def rollback(project_id: str, why: Reason, workspace: TheWorkspace, user: CurrentUser) -> list[VersionView]:
    """Roll back to the previous champion."""
    promotions.rollback(workspace, project_id, by=user, reason=why.reason)
    return registry.versions(workspace, project_id)


@router.get("/projects/{project_id}/runs", responses=pages())
@needs_scope("read")
def list_runs(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=views.MOST_LISTED, description="Maximum number of runs on a page.")
    ] = views.MOST_LISTED,
) -> list[RunLine]:
    """Return a page of the training runs of a project, newest first. A page has 1,000 runs at most."""
    projects.project_by_id(workspace, project_id)
    return paging.send(views.run_lines(workspace, project_id, limit=limit, cursor=paging.cursor))


@router.get("/runs/{run_id}")
@needs_scope("read")
def show_run(run_id: str, workspace: TheWorkspace, user: CurrentUser) -> RunView:
    """Return a training run with its curves and verdict."""
    return views.run_view(workspace, run_id)


@router.get("/runs/{run_id}/changes", dependencies=[REVIEWERS, ONE_REPORT])
@needs_scope("read")
def show_changes(
    run_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    kind: Annotated[list[Kind] | None, Query(description="Kinds of changes; default: all except same.")] = None,
    limit: Annotated[int, Query(ge=1, le=2000, description="Maximum number of questions.")] = 200,
) -> Changes:
    """Return the questions that challenger and champion of a run answer differently, largest change first."""
    return changes_of(workspace, run_id, kinds=kind, limit=limit)


@router.post("/projects/{project_id}/retrain", status_code=202, dependencies=[REVIEWERS])
def retrain(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> JobView:
    """Request a retraining. A waiting or running one is returned instead of a second one."""
    projects.project_by_id(workspace, project_id)
    return job_view(trigger.request(workspace, project_id, by=user.id))


@router.get("/projects/{project_id}/jobs", responses=pages())
@needs_scope("read")
def list_jobs(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    limit: Annotated[int, Query(ge=1, le=job_list.MOST_LISTED, description="Maximum number of jobs on a page.")] = 100,
) -> list[JobView]:
    """Return a page of the jobs of a project, newest first, without finished jobs that read documents.

    A page has 100 jobs, and with `limit` 1,000 at most.
    """
    projects.project_by_id(workspace, project_id)
    page = job_list.list_jobs(workspace, project_id, limit=limit, cursor=paging.cursor, without_read=True)
    return paging.send(page.map(job_view))


@router.post("/jobs/{job_id}/cancel", dependencies=[ADMINS])
@while_archived
def cancel(job_id: str, workspace: TheWorkspace, user: CurrentUser) -> JobView:
    """Cancel a job: a waiting one at once, a running one at its next step."""
    return job_view(queue.cancel(workspace, job_id, by=user.id))


@router.post("/jobs/{job_id}/retry", dependencies=[ADMINS])
def retry(job_id: str, workspace: TheWorkspace, user: CurrentUser) -> JobView:
    """Retry a job that failed or was given up. It continues from its last checkpoint, if any."""
    return job_view(queue.retry(workspace, job_id, by=user.id))


@router.get("/projects/{project_id}/triggers", dependencies=[REVIEWERS])
@needs_scope("read")
def triggers(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> TriggersView:
    """Return the retraining triggers of a project: progress, next time, the trigger history and the scheduler."""
    return trigger_status.triggers_of(workspace, project_id)
