"""`glossator documents move` and `copy`: documents for another project, with their answers."""

from collections.abc import Sequence
from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, here, output
from engine.commands.foreground import follow_job
from engine.commands.lookups import document_called, project_to_change
from engine.projects.projects import DEFAULT_NAME

Documents = Annotated[list[str], typer.Argument(help="Names or ids of documents.")]
To = Annotated[str, typer.Option("--to", help="Name of the other project.")]
Project = Annotated[str, typer.Option(help="Name of the project of the documents.")]
AddFields = Annotated[
    bool,
    typer.Option(
        "--add-fields/--no-add-fields",
        help="Add missing fields to the other project; its documents get tasks then. Otherwise answers to them become "
        "those of plain questions.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def add_to(group: typer.Typer) -> None:
    """Add the commands."""
    group.command()(move)
    group.command()(copy)


def move(
    documents: Documents,
    to: To,
    project: Project = DEFAULT_NAME,
    add_fields: AddFields = True,
    as_json: Json = False,
) -> None:
    """Move documents to another project with their answers. The originals lie in the bin of their project."""
    _transfer(documents, to, project, add_fields, as_json, moves=True)


def copy(
    documents: Documents,
    to: To,
    project: Project = DEFAULT_NAME,
    add_fields: AddFields = True,
    as_json: Json = False,
) -> None:
    """Copy documents to another project with their answers."""
    _transfer(documents, to, project, add_fields, as_json, moves=False)


def _transfer(names: Sequence[str], to: str, project: str, add_fields: bool, as_json: bool, *, moves: bool) -> None:
    from engine.lifecycle.transfers import TRANSFER, plan_transfer, request_transfer, run_transfer

    with here() as workspace:
        source, target = project_to_change(workspace, project), project_to_change(workspace, to)
        ids = [document_called(workspace, source.id, name).id for name in names]
        user = ensure_local_user(workspace)
        plan = plan_transfer(workspace, source.id, ids, target.id, user, move=moves)
        if not as_json:
            for sentence in plan.sentences:
                output.print(sentence, soft_wrap=True)
        job = request_transfer(workspace, source.id, ids, target.id, user, move=moves, add_missing=add_fields)
        job = follow_job(workspace, job, {TRANSFER: run_transfer})
    if as_json:
        emit({"job": job.id, "status": job.status, **job.result})
    else:
        output.print(job.result.get("sentence") or job.failure or job.message, soft_wrap=True)
    if job.status != "done":
        raise typer.Exit(1)
