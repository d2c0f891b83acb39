"""Routes for the table of values: documents by fields, filtered and sorted, and the numbers of its filters."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from annotator.access import REVIEWERS
from annotator.deps import TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine import answer_table
from engine.answer_table import MOST_ROWS, TableCounts, TableRow
from engine.fields import field_list, project_fields
from engine.interchange.seen_values import SheetFormat, write_seen
from engine.projects import projects
from engine.text import file_name

router = APIRouter(tags=["fields"], dependencies=[REVIEWERS])
_TYPES: dict[SheetFormat, str] = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
Columns = Annotated[list[str], Query(max_length=field_list.MOST, description="Names of the wanted fields; all.")]
Filters = Annotated[
    list[str],
    Query(
        max_length=5,
        description="Documents that hold all of these: a flag, in any field, or `FIELD:flag`. Flags: "
        f"{', '.join(answer_table.FLAGS)}. `accepted` without a field: all fields are.",
    ),
]
Sorted = Annotated[
    str,
    Query(
        max_length=100,
        description="Order: -created, created, name, `value:FIELD` or `-value:FIELD`; documents without a value last.",
    ),
]


@router.get("/projects/{project_id}/values", responses=pages("Documents on all pages, where their number is known."))
@needs_scope("read")
def list_values(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    field: Columns = [],  # noqa: B006
    filter: Filters = [],  # noqa: B006
    sort: Sorted = "-created",
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Maximum number of documents on a page.")] = MOST_ROWS,
) -> list[TableRow]:
    """Return a page of the table of values: documents with what the answer that counts says for each field.

    Values follow the answers within seconds. Reviewers and admins see it, because it shows everybody's answers.
    """
    projects.project_by_id(workspace, project_id)
    wanted = answer_table.parse_request(project_fields.project_fields(workspace, project_id), field, filter, sort)
    page, total = answer_table.table_page(workspace, project_id, wanted, limit=limit, cursor=paging.cursor)
    return paging.send(page, total)


@router.get("/projects/{project_id}/values/counts")
@needs_scope("read")
def count_values(project_id: str, workspace: TheWorkspace) -> TableCounts:
    """Return how many documents each filter of the table of values finds."""
    projects.project_by_id(workspace, project_id)
    return answer_table.count_values(workspace, project_id)


@router.get(
    "/projects/{project_id}/values/export",
    response_class=FileResponse,
    responses={200: {"content": {kind: {} for kind in _TYPES.values()}}},
)
@needs_scope("read")
def export_values(
    project_id: str,
    workspace: TheWorkspace,
    format: Annotated[SheetFormat, Query(description="csv or xlsx.")] = "csv",
    field: Columns = [],  # noqa: B006
    filter: Filters = [],  # noqa: B006
    sort: Sorted = "-created",
) -> FileResponse:
    """Return what is seen of the table of values as a file: its columns, filters and order, a row a document.

    Values of more than 2,000 characters are cut, and so are the values of a cell after the fiftieth; an export of the
    dataset (`values-csv`, `values-xlsx`) has all of them.
    """
    project = projects.project_by_id(workspace, project_id)
    wanted = answer_table.parse_request(project_fields.project_fields(workspace, project_id), field, filter, sort)
    with tempfile.NamedTemporaryFile(suffix=f".{format}", delete=False) as made:
        path = Path(made.name)
    try:
        write_seen(workspace, project_id, wanted, format, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    forget = BackgroundTask(partial(path.unlink, missing_ok=True))
    name = file_name(f"{project.name} values.{format}", f"values.{format}")
    return FileResponse(path, media_type=_TYPES[format], filename=name, background=forget)
