"""`glossator fields`: the fields of a project, by file and from ready sets."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import console, emit, fail, here, list_table, output, print_list, project_to_fill
from engine.commands.foreground import tasks_follow
from engine.fields.definition import FieldDefinition
from engine.fields.field_files import read_fields, write_fields
from engine.fields.json_schema import to_json
from engine.fields.project_fields import (
    StoredField,
    field_versions,
    preview_changes,
    project_fields,
    replace_fields,
)
from engine.fields.ready_sets import READY_SETS
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.text import join_names

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    fields = typer.Typer(no_args_is_help=True, help="List, import and export the fields of a project.")
    fields.command("list")(list_fields)
    fields.command("sets")(list_sets)
    fields.command("import")(import_fields)
    fields.command("export")(export_fields)
    fields.command("versions")(list_versions)
    app.add_typer(fields, name="fields")


def list_fields(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """List the fields in order, with their types."""
    with here() as workspace:
        fields = project_fields(workspace, project_named(workspace, project).id)
    _show(fields, as_json)


def list_sets(as_json: AsJson = False) -> None:
    """List the ready sets of fields."""
    if as_json:
        emit({"sets": {ready.name: [field.name for field in ready.fields] for ready in READY_SETS.values()}})
        return
    table = list_table("set", "about", "fields")
    for ready in READY_SETS.values():
        table.add_row(ready.name, ready.about, ", ".join(field.name for field in ready.fields))
    output.print(table)


def import_fields(
    source: Annotated[
        str,
        typer.Argument(metavar="FILE|SET", help="fields.yaml, a JSON Schema, or the name of a ready set, as invoice."),
    ],
    add: Annotated[bool, typer.Option("--add", help="Add to the list; fields of the same name are changed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and save nothing.")] = False,
    project: Annotated[str, typer.Option("--project", help="Name of the project; created if missing.")] = DEFAULT_NAME,
    as_json: AsJson = False,
) -> None:
    """Set the fields of a project from a file or a ready set. Answers of fields that are taken out are kept."""
    if source in READY_SETS and not Path(source).exists():
        wanted = list(READY_SETS[source].fields)
    elif Path(source).exists():
        wanted = read_fields(Path(source))
    else:
        fail(f"{source} is neither a file nor a ready set. The sets are {join_names(list(READY_SETS))}.")
    with here() as workspace:
        user = ensure_local_user(workspace)
        project_id = project_to_fill(workspace, project, user.id)
        present = project_fields(workspace, project_id)
        if add:
            wanted = _join_fields(present, wanted)
        changes = preview_changes(workspace, project_id, wanted)
        for change in changes if not as_json else ():
            console.print(f"{change.name} is {change.kind}. {change.sentence}", soft_wrap=True)
        if dry_run:
            fields = present
        else:
            before = {field.id: field.version for field in present}
            fields = replace_fields(workspace, project_id, wanted, user.id, before)
            tasks_follow(workspace, project_id)
    if as_json:
        changed = [{"name": change.name, "kind": change.kind, "documents": change.documents} for change in changes]
        emit({"fields": [field.model_dump(mode="json") for field in fields], "changes": changed, "saved": not dry_run})
    elif dry_run:
        console.print("Nothing was saved.")
    else:
        _show(fields, False)


def export_fields(
    out: Annotated[Path | None, typer.Argument(help="File to write; without one, the fields are printed.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="As a JSON Schema of the values.")] = False,
    project: TheProject = DEFAULT_NAME,
) -> None:
    """Write the fields as YAML, for `glossator fields import`, or as a JSON Schema."""
    with here() as workspace:
        fields = project_fields(workspace, project_named(workspace, project).id)
    text = to_json(fields) + "\n" if schema else write_fields(fields)
    if out is None:
        output.print(text, soft_wrap=True, end="")
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        fail(f"{out} exists. Name a new file.")
    except OSError as error:
        fail(f"{out} cannot be written: {error.strerror}.")
    console.print(f"Wrote {count(len(fields), 'field')} to {out}.")


def list_versions(
    name: Annotated[str, typer.Argument(help="Name of a field.")],
    project: TheProject = DEFAULT_NAME,
    as_json: AsJson = False,
) -> None:
    """List the versions of a field, the newest first."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        field = next((field for field in project_fields(workspace, project_id) if field.name == name), None)
        if field is None:
            fail(f"The project has no field {name}.")
        versions = field_versions(workspace, project_id, field.id)
    if as_json:
        emit({"name": name, "versions": [{**asdict(at), "created_at": at.created_at.isoformat()} for at in versions]})
        return
    table = list_table("version", "since", "by", "type", "question")
    for at in versions:
        since = f"{at.created_at.astimezone():%Y-%m-%d %H:%M}"
        table.add_row(str(at.number), since, at.person or "", at.definition["type"], at.definition["question"])
    output.print(table)


def _join_fields(present: list[StoredField], wanted: list[FieldDefinition]) -> list[FieldDefinition]:
    """Return the present fields in their order, those of the same name replaced, then the others."""
    by_name = {definition.name: definition for definition in wanted}
    joined = [by_name.pop(field.name, field.definition) for field in present]
    return [*joined, *by_name.values()]


def _show(fields: list[StoredField], as_json: bool) -> None:
    if as_json:
        emit({"fields": [field.model_dump(mode="json") for field in fields]})
        return
    table = list_table("", "name", "type", "question", "")
    for field in fields:
        marks = [word for word, holds in (("required", field.required), ("several", field.several)) if holds]
        table.add_row(str(field.position + 1), field.name, field.type, field.question, ", ".join(marks))
    print_list(table, "No fields. Import some: glossator fields import invoice")
