"""Routes for quotas: what a project holds and a person has uploaded, beside what they may."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS
from annotator.deps import CurrentAdmin, CurrentUser, TheWorkspace
from annotator.scopes import needs_scope
from engine import quotas
from engine.quotas import Space
from engine.settings import MEGABYTE

router = APIRouter(tags=["quotas"])


class SpaceView(BaseModel):
    """What a project holds, or a person has uploaded."""

    documents: int
    megabytes: float = Field(description="Size of the files, as they were uploaded.", examples=[12.5])
    most_documents: int | None = Field(description="Quota; null: no limit.", examples=[500])
    most_megabytes: float | None = Field(description="Quota; null: no limit.", examples=[1000.0])
    own: bool = Field(description="Whether the quota was set for this project or person; else it is the settings'.")
    sentence: str = Field(description="What people are told from 80 % of a quota on; empty before.", examples=[""])


class SpacesView(BaseModel):
    """The space of a project, and that of the person who asks, over all projects and their bins."""

    project: SpaceView
    person: SpaceView


class NewQuota(BaseModel):
    """A quota; null: as the settings say, 0: no limit."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"documents": 500, "megabytes": None}]})

    documents: int | None = Field(None, ge=0, le=quotas.MOST)
    megabytes: int | None = Field(None, ge=0, le=quotas.MOST)


@router.get("/projects/{project_id}/quota", dependencies=[MEMBERS])
@needs_scope("read")
def show_quota(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> SpacesView:
    """Return what the project holds and the caller has uploaded, beside the quotas."""
    with workspace.database.read() as session:
        project, person = quotas.load_spaces(session, workspace.settings, project_id, user.id)
    return SpacesView(project=_view(project), person=_view(person))


@router.put("/projects/{project_id}/quota")
def set_project_quota(project_id: str, quota: NewQuota, workspace: TheWorkspace, admin: CurrentAdmin) -> SpaceView:
    """Set the quota of a project."""
    return _view(quotas.set_quota(workspace, "project", project_id, quota.documents, quota.megabytes, by=admin.id))


@router.get("/users/{user_id}/quota")
def show_user_quota(user_id: str, workspace: TheWorkspace, admin: CurrentAdmin) -> SpaceView:
    """Return what a person has uploaded, beside the quota."""
    with workspace.database.read() as session:
        (person,) = quotas.load_spaces(session, workspace.settings, None, user_id)
    return _view(person)


@router.put("/users/{user_id}/quota")
def set_user_quota(user_id: str, quota: NewQuota, workspace: TheWorkspace, admin: CurrentAdmin) -> SpaceView:
    """Set the quota of a person."""
    return _view(quotas.set_quota(workspace, "person", user_id, quota.documents, quota.megabytes, by=admin.id))


def _view(space: Space) -> SpaceView:
    return SpaceView(
        documents=space.documents,
        megabytes=round(space.bytes / MEGABYTE, 3),
        most_documents=space.most_documents,
        most_megabytes=space.most_bytes / MEGABYTE if space.most_bytes is not None else None,
        own=space.own,
        sentence=space.sentence(),
    )
