"""Routes for removing projects into the bin of the installation, restoring them, and deleting them for good."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import CurrentAdmin, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.routes.projects import ProjectName
from engine.lifecycle import project_bin
from engine.lifecycle.bins import MOST_LISTED
from engine.lifecycle.project_bin import RemovedProjectLine

router = APIRouter(tags=["projects"])


class ProjectToRemove(BaseModel):
    """Id of a project."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(max_length=32)


class RestoredName(BaseModel):
    """Name of a project that is restored; null: the one that it had."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(None, max_length=100)


class DeletedProject(BaseModel):
    """Id of a project that is being deleted for good, and sentences on what stays, with the reason."""

    id: str
    stays: list[str]


@router.get("/removed-projects", responses=pages())
def list_removed_projects(
    workspace: TheWorkspace,
    user: CurrentAdmin,
    paging: ThePaging,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="Maximum number of projects on a page.")] = (
        MOST_LISTED
    ),
) -> list[RemovedProjectLine]:
    """Return a page of the projects in the bin, last removed first; `deleted_at`: end of their days."""
    return paging.send(project_bin.list_removed_projects(workspace, limit=limit, cursor=paging.cursor))


@router.post("/removed-projects", status_code=204, response_class=Response)
def remove_project(wanted: ProjectToRemove, workspace: TheWorkspace, user: CurrentAdmin) -> None:
    """Remove a project into the bin, with everything in it. Audited.

    It leaves every list, schedule and search at once, and its name is free. Until its days in the bin are over
    (`GLOSSATOR_BIN_DAYS`), it can be restored as it was. An edit that somebody sends meanwhile is answered with 404,
    and the page keeps it. 409 while jobs of the project have not ended. Repeating the request changes nothing.
    """
    project_bin.remove_project(workspace, wanted.id, user.id)


@router.post("/removed-projects/{removed_id}/restore")
def restore_project(removed_id: str, wanted: RestoredName, workspace: TheWorkspace, user: CurrentAdmin) -> ProjectName:
    """Restore a project from the bin, as it was; return its name. Audited. Repeating the request changes nothing."""
    return ProjectName(id=removed_id, name=project_bin.restore_project(workspace, removed_id, user.id, wanted.name))


@router.post("/removed-projects/{removed_id}/delete", status_code=202)
def delete_project(removed_id: str, workspace: TheWorkspace, user: CurrentAdmin) -> DeletedProject:
    """Delete a project in the bin for good: documents, answers, models, snapshots, exports and files. Audited.

    It cannot be restored from now on. A worker deletes it, some documents a second, while others work; files that were
    stored within the last hour an hour later. What other projects need stays; `stays` says so.
    """
    return DeletedProject(id=removed_id, stays=project_bin.mark_project(workspace, removed_id, user.id))
