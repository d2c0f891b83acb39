"""Route for the figures of a project."""

from typing import Annotated

from fastapi import APIRouter, Query

from annotator.access import MEMBERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.scopes import needs_scope
from annotator.work_queues import ONE_REPORT
from engine.statistics.throughput import LONGEST, Figures, figures

router = APIRouter(tags=["figures"], dependencies=[MEMBERS])


@router.get("/projects/{project_id}/figures", dependencies=[ONE_REPORT])
@needs_scope("read")
def show_figures(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    days: Annotated[int, Query(ge=1, le=LONGEST, description="Length of the period in days, ending today.")] = 90,
) -> Figures:
    """Return masks a day, seconds a mask, share accepted unchanged (by model and person), and queue depth."""
    return figures(workspace, project_id, days=days, viewer=user)
