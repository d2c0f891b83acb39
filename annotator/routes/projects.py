"""Routes for projects, their settings, and the next open answer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, MEMBERS, while_archived
from annotator.deps import CurrentAdmin, CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.routes.documents import NewName
from annotator.scopes import needs_scope
from engine.accounts import permissions
from engine.annotation import conventions, views
from engine.annotation.proposal import ModelName
from engine.models import registry
from engine.projects import archiving, project_settings, projects
from engine.projects.project_settings import ProjectSettings

router = APIRouter(tags=["projects"], dependencies=[MEMBERS])


class ProjectView(BaseModel):
    """A project with its counts, its champion (the model in use), and the caller's role."""

    id: str
    name: str
    description: str
    documents: int
    accepted: int
    champion: ModelName
    settings: ProjectSettings
    role: str
    archived_at: datetime | None = Field(None, description="Since then nothing in it can be changed.")


class ProjectName(BaseModel):
    """Name of a project."""

    id: str
    name: str


class NewProject(BaseModel):
    """A project to create."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=100)
    description: str = Field("", max_length=10_000)


class ChangedSettings(BaseModel):
    """Settings of a project to change; omitted ones are kept."""

    model_config = ConfigDict(extra="forbid", strict=True)  # strict: `true` is not a share, "1" is not a number

    retrain_after: int | None = None
    retrain_automatically: bool | None = None
    retrain_after_days: float | None = None
    retrain_cron: str | None = None
    retrain_time_zone: str | None = None
    promotion: str | None = None
    review_required: bool | None = None
    overlap_share: float | None = None
    overlap_people: int | None = None
    unaided_share: float | None = None
    gold_share: float | None = None
    selection: str | None = None
    selection_random_share: float | None = None
    selection_patience_days: float | None = None
    precision_target: float | None = None
    precision_answers: int | None = None
    audit_share: float | None = None
    locale: str | None = None
    conventions: dict[str, str] | None = None


class NextAnswer(BaseModel):
    """The next open answer, or the reason why there is none."""

    annotation_id: str | None
    document_id: str | None = None
    reason: str | None = None


@router.get("/projects", responses=pages())
@needs_scope("read")
def list_projects(
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=projects.MOST_LISTED, description="Maximum number of projects on a page.")
    ] = projects.MOST_LISTED,
    archived: Annotated[bool, Query(description="Return the archived projects; otherwise the others.")] = False,
) -> list[ProjectView]:
    """Return a page of the caller's projects by name; of all projects for an admin.

    A page has 1,000 projects at most.
    """
    page = projects.summaries(workspace, user, archived=archived, limit=limit, cursor=paging.cursor)
    views = _views(workspace, page, user)
    paging.names(page.next)
    return views


@router.post("/projects", status_code=201)
def create_project(new: NewProject, workspace: TheWorkspace, user: CurrentAdmin) -> ProjectView:
    """Create a project. 409 when the name is taken."""
    project = projects.create_project(workspace, new.name, new.description, user.id)
    return _views(workspace, [projects.ProjectSummary(project, 0, 0)], user)[0]


@router.patch("/projects/{project_id}", dependencies=[ADMINS])
def rename_project(project_id: str, new: NewName, workspace: TheWorkspace, user: CurrentUser) -> ProjectName:
    """Rename a project. Audited.

    409 when the name is taken, or somebody renamed the project since the person saw `before`.
    """
    projects.rename_project(workspace, project_id, new.name, user.id, before=new.before)
    return ProjectName(id=project_id, name=new.name)


@router.post("/projects/{project_id}/archive", dependencies=[ADMINS], status_code=204, response_class=Response)
@while_archived
def archive_project(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Archive a project: it can be read, and every change of it is answered with 403. Audited.

    Its jobs are stopped; no task is handed out, nothing is retrained, and webhooks wait. Lists leave it out. Repeating
    the request changes nothing.
    """
    archiving.archive(workspace, project_id, user.id)


@router.post("/projects/{project_id}/unarchive", dependencies=[ADMINS], status_code=204, response_class=Response)
@while_archived
def unarchive_project(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Let people change an archived project again. Audited; repeating the request changes nothing."""
    archiving.unarchive(workspace, project_id, user.id)


class Conventions(BaseModel):
    """Conventions by which ambiguous values of a project are read."""

    conventions: dict[str, str]
    issuers: dict[str, dict[str, str]] = Field(description="Conventions of single issuers, by name; they go first.")


class PickedConvention(BaseModel):
    """Conventions to remember; null forgets one."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"convention": {"date_order": "DMY"}}]})

    convention: dict[str, str | None] = Field(max_length=20)
    document_id: str | None = Field(None, description="Remember it for the issuer of this document.")
    issuer: str | None = Field(None, max_length=200, description="Remember it for the issuer of this name.")


@router.post("/projects/{project_id}/conventions")
@needs_scope("annotate")
def remember_convention(
    project_id: str, picked: PickedConvention, workspace: TheWorkspace, user: CurrentUser
) -> Conventions:
    """Remember the convention of a reading that a person picked; it decides the next text of the kind. Audited.

    Without `document_id` and `issuer` it is remembered for the project. Annotators change only what they picked.
    """
    remembered = conventions.remember_convention(
        workspace,
        project_id,
        picked.convention,
        user.id,
        document_id=picked.document_id,
        issuer=picked.issuer or None,
    )
    return Conventions.model_validate(remembered, from_attributes=True)


@router.patch("/projects/{project_id}/settings", dependencies=[ADMINS])
def change_settings(
    project_id: str, changed: ChangedSettings, workspace: TheWorkspace, user: CurrentUser
) -> ProjectSettings:
    """Change settings of a project.

    In a large project tasks follow after the answer: see `/projects/{project_id}/task-changes`.
    """
    changes = {name: value for name, value in changed.model_dump().items() if value is not None}
    return projects.change_settings(workspace, project_id, by=user.id, **changes)


@router.get("/projects/{project_id}/next")
@needs_scope("read")
def next_task(project_id: str, workspace: TheWorkspace, user: CurrentUser, after: str | None = None) -> NextAnswer:
    """Return the caller's next answer that is neither accepted nor submitted."""
    projects.project_by_id(workspace, project_id)
    annotation = views.next_annotation(workspace, project_id, user.id, after)
    if annotation is None:
        return NextAnswer(annotation_id=None, reason="No open answers left. Ask another question.")
    return NextAnswer(annotation_id=annotation.id, document_id=annotation.document_id)


def _views(
    workspace: TheWorkspace, summaries: Sequence[projects.ProjectSummary], user: CurrentUser
) -> list[ProjectView]:
    ids = [summary.project.id for summary in summaries]
    with workspace.database.read() as session:
        roles = permissions.roles_in(session, user, ids)
        champions = registry.champions(session, ids)
    return [
        ProjectView(
            id=summary.project.id,
            name=summary.project.name,
            description=summary.project.description,
            documents=summary.documents,
            accepted=summary.accepted,
            champion=ModelName(
                id=champions[summary.project.id].id, label=registry.label(champions[summary.project.id])
            ),
            settings=project_settings.settings_of(summary.project),
            role=roles.get(summary.project.id, ""),
            archived_at=summary.project.archived_at,
        )
        for summary in summaries
    ]
