"""`glossator bin`, and the removal of documents: into the bin of their project, and back."""

from typing import Annotated

import typer

from db.tables import RemovedDocument
from engine.accounts.users import ensure_local_user
from engine.commands.annotation.deletion import delete_chosen
from engine.commands.common import confirm, emit, fail, here, list_table, output, print_list
from engine.commands.lookups import document_called, project_to_change
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import erasing
from engine.lifecycle.bins import line_values
from engine.lifecycle.document_traces import KEEPS, document_traces
from engine.paging import every
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.workspace import Workspace

Project = Annotated[str, typer.Option(help="Name of the project.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="List removed documents, restore them, and delete them for good.")
    group.command("list")(list_removed)
    group.command()(restore)
    group.command()(empty)
    app.add_typer(group, name="bin")


def remove(
    documents: Annotated[list[str], typer.Argument(help="Names or ids of documents.")],
    project: Project = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """Remove documents into the bin of their project, with their answers. glossator bin restore brings them back."""
    with here() as workspace:
        project_id = project_to_change(workspace, project).id
        ids = [document_called(workspace, project_id, name).id for name in documents]
        removed = lifecycle.remove(workspace, project_id, ids, ensure_local_user(workspace).id)
    _show("Removed", removed, as_json)


def restore(
    documents: Annotated[list[str], typer.Argument(help="Names or ids of documents in the bin.")],
    project: Project = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """Restore documents from the bin, with their answers as they were."""
    with here() as workspace:
        project_id = project_to_change(workspace, project).id
        ids = _removed_called(workspace, project_id, documents)
        restored = lifecycle.restore(workspace, project_id, ids, ensure_local_user(workspace).id)
    _show("Restored", restored, as_json)


def empty(
    documents: Annotated[
        list[str] | None, typer.Argument(help="Names or ids of documents in the bin; without any, all of them.")
    ] = None,
    project: Project = DEFAULT_NAME,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Delete documents in the bin for good, with their answers and files. A document that a snapshot holds stays."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        ids = _removed_called(workspace, project_id, documents) if documents else None
        what = count(len(ids), "document") if ids is not None else f"all documents in the bin of {project}"
        confirm(f"Delete {what} for good? This cannot be undone.", yes=yes)
        emptied = erasing.mark(workspace, project_id, ids, ensure_local_user(workspace).id)
        delete_chosen(workspace, project_id, RemovedDocument, erasing.erase_marked, emptied.stays, as_json)


def list_removed(project: Project = DEFAULT_NAME, as_json: Json = False) -> None:
    """List the documents in the bin of a project, last removed first, with the time of their deletion."""
    with here() as workspace:
        lines = _every_line(workspace, project_named(workspace, project).id)
    if as_json:
        emit({"project": project, "documents": [line_values(line) for line in lines]})
        return
    table = list_table("document", "id", "pages", "answers", "removed by", "deleted on")
    for line in lines:
        deleted = f"{line.deleted_at:%Y-%m-%d}"
        table.add_row(line.name, line.id, str(line.pages), str(line.answers), line.removed_by or "", deleted)
    print_list(table, "The bin is empty.")


def show_traces(
    document: Annotated[str, typer.Argument(help="Name or id of a document, which may be in the bin.")],
    project: Project = DEFAULT_NAME,
    as_json: Json = False,
) -> None:
    """List what holds a document, or has learned from it: snapshots, exports, runs, model versions, copies."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        in_bin = [line.id for line in _every_line(workspace, project_id) if document in (line.id, line.name)]
        chosen = in_bin[0] if len(in_bin) == 1 else document_called(workspace, project_id, document).id
        page = document_traces(workspace, project_id, chosen)
        traces = list(page.traces)
        while len(traces) < page.total:
            traces += document_traces(workspace, project_id, chosen, offset=len(traces)).traces
    if as_json:
        emit({"id": page.document_id, "name": page.name, "traces": [line_values(trace) for trace in traces]})
        return
    for trace in traces:
        output.print(f"{trace.at:%Y-%m-%d %H:%M}  {trace.sentence}", soft_wrap=True)
    if not traces:
        output.print("Nothing holds it: no snapshot, export, run or model has it.")
    if any(trace.learned for trace in traces):
        output.print(KEEPS, soft_wrap=True)


def _every_line(workspace: Workspace, project_id: str) -> list[lifecycle.BinLine]:
    return list(every(lambda cursor: lifecycle.list_bin(workspace, project_id, cursor=cursor)))


def _removed_called(workspace: Workspace, project_id: str, names: list[str]) -> list[str]:
    """Return the ids of documents in the bin by their names or ids; ends the command unless each is one."""
    lines = _every_line(workspace, project_id)
    ids = []
    for name in names:
        called = [line.id for line in lines if name in (line.id, line.name)]
        if not called:
            fail(f"The bin has no document {name!r}. Run glossator bin list.")
        if len(called) > 1:
            fail(f"{len(called)} documents in the bin are named {name!r}. Use an id instead: {', '.join(called)}")
        ids += called
    return ids


def _show(done: str, ids: list[str], as_json: bool) -> None:
    if as_json:
        emit({"documents": ids})
    else:
        output.print(f"{done} {count(len(ids), 'document')}.")
