"""Routes for the fields of a project: list, change, preview of a change, versions, ready sets."""

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS, REVIEWERS, while_archived
from annotator.deps import CurrentUser, TheWorkspace
from annotator.scopes import needs_scope
from engine.fields import field_list, project_fields
from engine.fields.definition import FieldDefinition
from engine.fields.field_files import MOST_CHARACTERS, parse_fields, write_fields
from engine.fields.json_schema import to_json
from engine.fields.project_fields import FieldAt, FieldChange, StoredField, WantedField
from engine.fields.ready_sets import READY_SETS
from engine.projects import projects
from engine.text import file_name

router = APIRouter(tags=["fields"])
_FILE_TYPES = {"yaml": "application/yaml", "schema": "application/schema+json"}


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

    fields: list[WantedField] = Field(max_length=field_list.MOST)
    before: dict[str, int] | None = Field(
        default=None,
        max_length=field_list.MOST,
        description="Ids and versions of the list before the change; 409 when the stored list differs.",
    )


class FieldsFile(BaseModel):
    """A file of fields."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "name": "fields.yaml",
                    "text": "fields:\n- question: What is the total amount?\n  name: total\n  type: currency\n",
                }
            ]
        },
    )

    name: str = Field(max_length=300, description="Name of the file; problems are told with it.")
    text: str = Field(max_length=MOST_CHARACTERS, description="Content: YAML, JSON, or a JSON Schema.")


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
@while_archived
def preview_fields(project_id: str, wanted: FieldList, workspace: TheWorkspace) -> list[FieldChange]:
    """Return what replacing the fields would do, change by change. Nothing is saved."""
    return project_fields.preview_changes(workspace, project_id, wanted.fields)


@router.get(
    "/projects/{project_id}/fields/file",
    dependencies=[MEMBERS],
    response_class=Response,
    responses={200: {"content": {kind: {} for kind in _FILE_TYPES.values()}}},
)
@needs_scope("read")
def export_fields(
    project_id: str,
    workspace: TheWorkspace,
    format: Annotated[
        Literal["yaml", "schema"], Query(description="yaml: for an import; schema: a JSON Schema of the values.")
    ] = "yaml",
) -> Response:
    """Return the fields of a project as a file: YAML, or a JSON Schema of the values."""
    project = projects.project_by_id(workspace, project_id)
    fields = project_fields.project_fields(workspace, project_id)
    text, ending = (write_fields(fields), "yaml") if format == "yaml" else (to_json(fields) + "\n", "json")
    name = file_name(f"{project.name} fields.{ending}", f"fields.{ending}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(text, media_type=_FILE_TYPES[format], headers=headers)


@router.post("/projects/{project_id}/fields/file", dependencies=[REVIEWERS])
@while_archived
def read_fields_file(project_id: str, file: FieldsFile, workspace: TheWorkspace) -> list[FieldDefinition]:
    """Return the fields that a file describes. Nothing is saved: preview and replace the fields with them.

    422 says what is wrong with the file, a sentence a line. YAML with anchors or aliases is refused.
    """
    projects.project_by_id(workspace, project_id)
    return parse_fields(file.text, file_name(file.name, "The file"))


@router.get("/projects/{project_id}/fields/{field_id}/versions", dependencies=[MEMBERS])
@needs_scope("read")
def list_field_versions(project_id: str, field_id: str, workspace: TheWorkspace) -> list[FieldAt]:
    """Return the versions of a field, the newest first."""
    return project_fields.field_versions(workspace, project_id, field_id)
