"""Routes for snapshots: answers frozen for training, judging and exports."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from annotator.access import ADMINS, REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine.datasets.snapshot_views import MOST_LISTED, SnapshotLine, snapshot_lines
from engine.lifecycle.snapshot_removal import remove_snapshot

_DIGITS = 12  # of a SHA-256, as lists and sentences show them
router = APIRouter(tags=["exports"], dependencies=[REVIEWERS])


@router.get("/projects/{project_id}/snapshots", responses=pages())
@needs_scope("read")
def list_snapshots(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=MOST_LISTED, description="Maximum number of snapshots on a page.")
    ] = MOST_LISTED,
) -> list[SnapshotLine]:
    """Return a page of the snapshots of a project, newest first. A page has 1,000 snapshots at most."""
    return paging.send(snapshot_lines(workspace, project_id, limit=limit, cursor=paging.cursor))


@router.delete(
    "/projects/{project_id}/snapshots/{snapshot_id}", status_code=204, response_class=Response, dependencies=[ADMINS]
)
@while_archived
def remove(
    project_id: str,
    snapshot_id: Annotated[str, Path(min_length=_DIGITS)],
    workspace: TheWorkspace,
    user: CurrentUser,
) -> None:
    """Delete a snapshot with its files for good. Audited. Files that another snapshot of the project has too stay.

    Documents that it alone holds can be deleted from the bin then.
    """
    remove_snapshot(workspace, project_id, snapshot_id, user.id)
