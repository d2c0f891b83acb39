"""Route for the figures of a project."""

from typing import Annotated

from fastapi import APIRouter, Query

from annotator.access import MEMBERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.scopes import needs_scope
from annotator.work_queues import ONE_REPORT
from engine.crontab import zone_named
from engine.errors import Refused
from engine.statistics.throughput import LONGEST, Figures, figures

router = APIRouter(tags=["figures"], dependencies=[MEMBERS])


@router.get("/projects/{project_id}/figures", dependencies=[ONE_REPORT])
@needs_scope("read")
def show_figures(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    days: Annotated[int, Query(ge=1, le=LONGEST, description="Length of the period in days, ending today.")] = 90,
    time_zone: Annotated[
        str, Query(max_length=100, description="IANA time zone on whose days masks are counted.")
    ] = "UTC",
) -> Figures:
    """Return masks a day, seconds a mask, share accepted unchanged (by model and person), and queue depth."""
    try:
        zone = zone_named(time_zone)
    except ValueError as unknown:
        raise Refused(f"{unknown}.") from None
    return figures(workspace, project_id, days=days, viewer=user, zone=zone)
