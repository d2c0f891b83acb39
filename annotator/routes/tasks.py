"""Routes for the queue of standard questions: next task, leases, and gold questions."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS, REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheAnswerService, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine.projects import projects
from engine.tasks import skips, tasks
from engine.tasks.opening import task_changes
from engine.tasks.opening.task_changes import TaskProgress
from engine.tasks.queue import next_task as queue
from engine.tasks.queue.next_task import NextTask, UpcomingTask
from engine.tasks.queue.queue_view import QueueView, queue_view
from engine.tasks.skips import SkipLine
from engine.tasks.tasks import MOST_LISTED, GoldState, TaskLine

router = APIRouter(tags=["tasks"], dependencies=[MEMBERS])


class CameFrom(BaseModel):
    """The caller's previous task, if any."""

    model_config = ConfigDict(extra="forbid")

    after: str | None = None


class TaskInHand(BaseModel):
    """The task that the caller works on."""

    model_config = ConfigDict(extra="forbid")

    after: str


class KnownAnswer(BaseModel):
    """The annotation whose newest accepted revision answers the gold question.

    Null: the task is no gold question.
    """

    model_config = ConfigDict(extra="forbid")

    annotation_id: str | None


class SkipRequest(BaseModel):
    """Why the caller cannot answer a task; `other` needs a note."""

    model_config = ConfigDict(extra="forbid")

    reason: skips.Reason
    note: str = Field("", max_length=skips.LONGEST_NOTE)


class SkipVerdict(BaseModel):
    """What becomes of a skipped task: back to the queue, or dismissed because it cannot be answered."""

    model_config = ConfigDict(extra="forbid")

    verdict: skips.Decision
    remark: str = Field("", max_length=skips.LONGEST_NOTE)


class LeaseView(BaseModel):
    """End of the lease without another heartbeat."""

    lease_until: datetime


@router.get("/projects/{project_id}/task-changes")
@needs_scope("read")
def list_task_changes(project_id: str, workspace: TheWorkspace) -> list[TaskProgress]:
    """Return the changes that the project's tasks follow in batches, with their progress.

    After a change of standard questions or settings, a large project takes some seconds. A change that took longer than
    its request is listed for a minute after its end.
    """
    projects.project_by_id(workspace, project_id)
    return task_changes.running(workspace, project_id)


@router.get("/projects/{project_id}/queue")
@needs_scope("read")
def show_queue(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> QueueView:
    """Return progress of the queue, tasks in progress, and the reason when none is left for the caller."""
    return queue_view(workspace, project_id, user.id)


@router.post("/projects/{project_id}/queue/next")
@needs_scope("annotate")
def next_task(project_id: str, came: CameFrom, workspace: TheWorkspace, user: CurrentUser) -> NextTask:
    """Lease the next task to the caller.

    A task already leased to them comes first. Without a task, `reason` says why.
    """
    return queue.next_task(workspace, project_id, user.id, came.after)


@router.post("/projects/{project_id}/queue/upcoming")
@needs_scope("annotate")
def prepare_upcoming_task(
    project_id: str, came: TaskInHand, workspace: TheWorkspace, service: TheAnswerService, user: CurrentUser
) -> UpcomingTask | None:
    """Return the task that the caller would get after the one in hand, or null, and compute its answer in advance.

    Send this while the person works on `after`, then fetch document, words and image of `page_id`. Nothing is leased
    or stored: somebody else may get the task first.
    """
    upcoming = queue.upcoming_task(workspace, project_id, user.id, came.after)
    if upcoming is None or upcoming.annotation_id is not None:
        return upcoming
    return replace(upcoming, page_id=service.prepare(upcoming.document_id, upcoming.question.id))


@router.post("/tasks/{task_id}/heartbeat")
@needs_scope("annotate")
def heartbeat(task_id: str, workspace: TheWorkspace, user: CurrentUser) -> LeaseView:
    """Renew the caller's lease. Send this every 30 s while the user works."""
    return LeaseView(lease_until=queue.heartbeat(workspace, task_id, user.id))


@router.post("/tasks/{task_id}/release", status_code=204, response_class=Response)
@while_archived
@needs_scope("annotate")
def release(task_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Return a task to the queue before its lease ends."""
    queue.release(workspace, task_id, user.id)


@router.put("/tasks/{task_id}/skip")
@needs_scope("annotate")
def skip(task_id: str, why: SkipRequest, workspace: TheWorkspace, user: CurrentUser) -> SkipLine:
    """Skip a task that the caller cannot answer. Nobody gets it until a reviewer has decided.

    Once more changes the reason and the note.
    """
    return skips.skip(workspace, task_id, user.id, why.reason, why.note)


@router.delete("/tasks/{task_id}/skip", status_code=204, response_class=Response)
@needs_scope("annotate")
def withdraw_skip(task_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Take back the caller's own skip, while no reviewer has decided on it."""
    skips.withdraw(workspace, task_id, user.id)


@router.post("/tasks/{task_id}/skip/verdict", dependencies=[REVIEWERS])
@needs_scope("annotate")
def decide_skip(task_id: str, decision: SkipVerdict, workspace: TheWorkspace, user: CurrentUser) -> list[SkipLine]:
    """Send a skipped task back to the queue, or confirm that it cannot be answered.

    A dismissed task can be sent back later.
    """
    return skips.decide(workspace, task_id, user.id, decision.verdict, decision.remark)


@router.get("/projects/{project_id}/skips", dependencies=[REVIEWERS], responses=pages())
@needs_scope("read")
def list_skips(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    reason: Annotated[skips.Reason | None, Query(description="Only skips for this reason.")] = None,
    waiting: Annotated[bool, Query(description="Only skips on which a reviewer has to decide.")] = False,
    limit: Annotated[int, Query(ge=1, le=skips.MOST_LISTED, description="Maximum number on a page.")] = (
        skips.MOST_LISTED
    ),
) -> list[SkipLine]:
    """Return a page of the skipped tasks of a project, oldest first: who, why, and what was decided."""
    projects.project_by_id(workspace, project_id)
    page = skips.list_skips(workspace, project_id, reason=reason, waiting=waiting, limit=limit, cursor=paging.cursor)
    return paging.send(page)


@router.get(
    "/projects/{project_id}/tasks",
    dependencies=[REVIEWERS],
    responses=pages("Number of the tasks of the project, on all pages."),
)
@needs_scope("read")
def list_tasks(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="Maximum number of tasks on a page.")] = MOST_LISTED,
    offset: Annotated[
        int,
        Query(
            ge=0,
            lt=2**31,
            description="Number of tasks to skip. Slower for large numbers; use `cursor` instead.",
        ),
    ] = 0,
) -> list[TaskLine]:
    """Return a page of the tasks of a project with their gold questions and answers so far.

    A page has 1,000 tasks at most.
    """
    projects.project_by_id(workspace, project_id)
    page = tasks.list_tasks(workspace, project_id, limit=limit, offset=offset, cursor=paging.cursor)
    return paging.send(page, tasks.count_tasks(workspace, project_id))


@router.put("/tasks/{task_id}/gold", dependencies=[REVIEWERS])
def set_gold(task_id: str, known: KnownAnswer, workspace: TheWorkspace, user: CurrentUser) -> TaskLine:
    """Make a task a gold question with an accepted answer.

    Others get it unannounced, to measure their accuracy.
    """
    return tasks.set_gold(workspace, task_id, known.annotation_id, user.id)


@router.get("/annotations/{annotation_id}/gold", dependencies=[REVIEWERS])
@needs_scope("read")
def show_gold(annotation_id: str, workspace: TheWorkspace) -> GoldState:
    """Return whether the task of an answer is a gold question, and whose answer is the known one."""
    return tasks.gold_state(workspace, annotation_id)
