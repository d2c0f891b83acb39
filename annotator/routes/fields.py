"""Routes for the fields of a project: list, change, preview of a change, versions, ready sets."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS, REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.scopes import needs_scope
from engine.fields import project_fields
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import FieldAt, FieldChange, StoredField, WantedField
from engine.fields.ready_sets import READY_SETS
from engine.projects import projects

router = APIRouter(tags=["fields"])


class FieldList(BaseModel):
    """The wanted fields of a project in their order."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "fields": [
                        {"name": "invoice_number", "question": "What is the invoice number?", "required": True},
                        {"name": "total", "question": "What is the total amount?", "type": "currency"},
                    ]
                }
            ]
        },
    )

    fields: list[WantedField] = Field(max_length=project_fields.MOST)
    before: dict[str, int] | None = Field(
        default=None,
        max_length=project_fields.MOST,
        description="Ids and versions of the list before the change; 409 when the stored list differs.",
    )


class ReadyFields(BaseModel):
    """A ready set of fields."""

    name: str
    title: str
    about: str
    fields: list[FieldDefinition]


@router.get("/field-sets")
@needs_scope("read")
def list_field_sets(user: CurrentUser) -> list[ReadyFields]:
    """Return the ready sets of fields, lists to begin with."""
    return [
        ReadyFields(name=ready.name, title=ready.title, about=ready.about, fields=list(ready.fields))
        for ready in READY_SETS.values()
    ]


@router.get("/projects/{project_id}/fields", dependencies=[MEMBERS])
@needs_scope("read")
def list_fields(project_id: str, workspace: TheWorkspace) -> list[StoredField]:
    """Return the fields of a project, in order."""
    projects.project_by_id(workspace, project_id)
    return project_fields.project_fields(workspace, project_id)


@router.put("/projects/{project_id}/fields", dependencies=[REVIEWERS])
def replace_fields(project_id: str, wanted: FieldList, workspace: TheWorkspace, user: CurrentUser) -> list[StoredField]:
    """Replace the fields of a project.

    A field with an `id` keeps its answers, whatever its name and question become; one without is known by its
    question, then by its name. Every document gets a task for each new field; tasks of removed ones are closed. In a
    large project this goes on after the answer: see `/projects/{project_id}/task-changes`.
    """
    return project_fields.replace_fields(workspace, project_id, wanted.fields, user.id, wanted.before)


@router.post("/projects/{project_id}/fields/preview", dependencies=[REVIEWERS])
def preview_fields(project_id: str, wanted: FieldList, workspace: TheWorkspace) -> list[FieldChange]:
    """Return what replacing the fields would do, change by change. Nothing is saved."""
    return project_fields.preview_changes(workspace, project_id, wanted.fields)


@router.get("/projects/{project_id}/fields/{field_id}/versions", dependencies=[MEMBERS])
@needs_scope("read")
def list_field_versions(project_id: str, field_id: str, workspace: TheWorkspace) -> list[FieldAt]:
    """Return the versions of a field, the newest first."""
    return project_fields.field_versions(workspace, project_id, field_id)
