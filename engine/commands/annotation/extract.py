"""`glossator extract`: the values of papers, as JSON, CSV or a table."""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import console, emit, fail, here, list_table, output, progress
from engine.commands.lookups import project_to_change
from engine.documents.file_sources import local_files
from engine.documents.incoming import take
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.extraction.view import Extraction
from engine.fields.definition import FieldDefinition
from engine.fields.field_files import read_fields
from engine.fields.project_fields import project_fields
from engine.fields.table_rows import rows_text
from engine.interchange.cells import harmless
from engine.interchange.value_sheets import columns_of, text_cells
from engine.models.registry import ensure_shipped
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME

if TYPE_CHECKING:
    from engine.annotation.answer_service import AnswerService


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(extract)


def extract(
    files: Annotated[list[str], typer.Argument(help="PDF files, pictures, or folders of them.")],
    project: Annotated[str, typer.Option(help="Name of the project whose fields are wanted.")] = DEFAULT_NAME,
    schema: Annotated[
        Path | None, typer.Option(help="JSON Schema or list of fields (YAML), in place of the project's fields.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="Id or name of the model version that answers; default: the one in use.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Store the files as documents of the project; else nothing is stored.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a file, with citations.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, a row a file.")] = False,
) -> None:
    """Print the values of the fields of papers, with their places as JSON.

    Exits with 1 when a file is refused; the others are printed all the same.
    """
    if as_json and as_csv:
        fail("Choose either --json or --csv.")
    paths = local_files(files)
    if not paths:
        fail("No files found. Name files, or a folder that contains some.")
    refused = 0
    with here() as workspace:
        from engine.annotation.answer_service import AnswerService

        project_id = project_to_change(workspace, project).id
        wanted = read_fields(schema) if schema is not None else None
        fields = wanted if wanted is not None else project_fields(workspace, project_id)
        ensure_shipped(workspace)
        service = AnswerService(workspace)
        table = csv.writer(sys.stdout)
        if as_csv:
            table.writerow(["file", *(column for field in fields for column in columns_of(field)), "unsure"])
        with progress() as bar:
            task = bar.add_task("Extracting", total=len(paths))
            for path in paths:
                bar.update(task, description=path.name[:40])
                try:
                    extraction = _extract(service, project_id, path, wanted, version, keep)
                except DocumentRefused as refusal:
                    refused += 1
                    console.print(str(refusal), soft_wrap=True)
                else:
                    if as_json:
                        emit(extraction.model_dump(mode="json"))
                    elif as_csv:
                        table.writerow([harmless(cell) for cell in _cells(extraction, fields)])
                    else:
                        _show(extraction)
                bar.advance(task)
    if refused:
        console.print(f"{refused} of {count(len(paths), 'file')} {'was' if refused == 1 else 'were'} refused.")
        raise typer.Exit(1)


def _extract(
    service: "AnswerService",
    project_id: str,
    path: Path,
    fields: Sequence[FieldDefinition] | None,
    version: str | None,
    keep: bool,
) -> Extraction:
    from engine.extraction.extract import extract_document, extract_file

    if not keep:
        return extract_file(service, project_id, path, path.name, fields=fields, version=version)
    user = ensure_local_user(service.workspace)
    taken = take(service.workspace, path, name=path.name, project_id=project_id, user_id=user.id)
    extraction = extract_document(service, taken.document_id, user.id, fields=fields, version=version)
    if not isinstance(extraction, Extraction):
        raise Refused(f"{path.name}: {extraction.detail}")
    return extraction


def _cells(extraction: Extraction, fields: Sequence[FieldDefinition]) -> list[str]:
    cells = [extraction.document.name]
    for field in fields:
        extracted = extraction.fields[field.name]
        values = [value.value for value in extracted.values if value.value is not None]
        if extracted.rows is not None:
            values = [rows_text(extracted.rows)] if extracted.rows else []
        cells += text_cells(field, values)
    return [*cells, ", ".join(extraction.unsure)]


def _show(extraction: Extraction) -> None:
    table = list_table(
        "field", "value", "printed", "page", "note", title=extraction.document.name, title_justify="left"
    )
    for name, field in extraction.fields.items():
        note = " ".join(field.unsure)
        if field.rows is not None:
            pages = ", ".join(sorted({str(place.page) for value in field.values for place in value.pages}, key=int))
            table.add_row(name, count(len(field.rows), "row"), "", pages, note)
            continue
        for value in field.values:
            shown = value.value
            text = " ".join(part for part in shown.values() if part) if isinstance(shown, dict) else shown
            pages = ", ".join(str(place.page) for place in value.pages)
            table.add_row(name, "" if text is None else str(text), value.printed, pages, note)
            note = ""
        if not field.values:
            table.add_row(name, "", "", "", note)
    for warning in extraction.warnings:
        console.print(warning, soft_wrap=True)
    output.print(table)
