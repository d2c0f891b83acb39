"""Lists of jobs: those that wait or run, and all of them in pages. Reads only."""

from sqlalchemy import func, select

from db.tables import Job
from db.tables.learning import LISTED_JOBS
from engine.jobs.queue import OPEN
from engine.paging import Order, Page
from engine.workspace import Workspace

MOST_LISTED = 1000  # jobs of one page


def open_jobs(workspace: Workspace, kind: str | None, project_id: str | None = None) -> list[Job]:
    """Return the waiting and running jobs, oldest first.

    Args:
        workspace: Where the queue is.
        kind: Of one kind; None: of all.
        project_id: Of one project; None: of all.
    """
    chosen = select(Job).where(Job.status.in_(OPEN)).order_by(Job.created_at, Job.id)
    if kind is not None:
        chosen = chosen.where(Job.kind == kind)
    if project_id is not None:
        chosen = chosen.where(Job.project_id == project_id)
    with workspace.database.read() as session:
        return list(session.scalars(chosen))


def count_open(workspace: Workspace, kind: str) -> int:
    """Return how many jobs of a kind wait or run."""
    chosen = select(func.count()).where(Job.kind == kind, Job.status.in_(OPEN))
    with workspace.database.read() as session:
        return session.scalar(chosen) or 0


def list_jobs(
    workspace: Workspace,
    project_id: str | None = None,
    *,
    limit: int = 100,
    cursor: str | None = None,
    without_read: bool = False,
) -> Page[Job]:
    """Return a page of the jobs of a project, or of all, newest first.

    Args:
        workspace: Where the queue is.
        project_id: Of one project; None: of all.
        limit: Maximum number, at most MOST_LISTED.
        cursor: Of the page; None: the first page.
        without_read: Leave out jobs that read documents once they are done or cancelled.

    Raises:
        Refused: The cursor is not one of this list.
    """
    chosen = select(Job)
    if without_read:
        chosen = chosen.where(LISTED_JOBS)
    if project_id is not None:
        chosen = chosen.where(Job.project_id == project_id)
    order = Order(f"jobs {project_id or ''}", (Job.created_at, Job.id), falls=True)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    return Page((job for (job,) in rows), following)
