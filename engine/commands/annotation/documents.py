"""`glossator ingest` and `glossator documents`: add files to a project, and list its documents."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.annotation import bin as bin_of_project
from engine.commands.annotation import document_names, read_again, transfers
from engine.commands.common import console, emit, fail, here, list_table, output, print_list, progress, project_to_fill
from engine.commands.lookups import document_called
from engine.documents.file_sources import BucketFile, BucketFiles, LocalFile, TakenFile, file_parts, local_files
from engine.documents.lists.listing import document_lines
from engine.documents.lists.views import document_view
from engine.documents.originals import original_of
from engine.executors.choice import executor_of
from engine.executors.executor import run_parts
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.storage.object_store import is_address


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(ingest)
    documents = typer.Typer(
        no_args_is_help=True,
        help="List, show, rename, move, copy and remove documents, write marked PDFs, read again, compute signatures.",
    )
    documents.command("list")(list_documents)
    documents.command("show")(show_document)
    documents.command("marked")(write_marked)
    documents.command("original")(write_original)
    documents.command()(document_names.rename)
    transfers.add_to(documents)
    documents.command("remove")(bin_of_project.remove)
    documents.command("traces")(bin_of_project.show_traces)
    documents.command("sign")(sign_documents)
    read_again.register(documents)
    app.add_typer(documents, name="documents")


def ingest(
    files: Annotated[
        list[str],
        typer.Argument(help="PDF files, pictures, or folders; or addresses of a bucket, as s3://BUCKET/PREFIX."),
    ],
    project: Annotated[str, typer.Option(help="Name of the project; created if missing.")] = DEFAULT_NAME,
    licence: Annotated[str | None, typer.Option(help="Licence of the documents, exported with them.")] = None,
    refused_again: Annotated[
        bool, typer.Option("--refused-again", help="Of a bucket, read again what was refused before.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Add files to a project. Each becomes a document or is refused with a reason.

    Of a bucket, objects that were taken in before are not fetched again, unless their ETag, or time and size, changed.
    """
    paths, addresses = local_files(files), [place for place in files if is_address(place)]
    if not paths and not addresses:
        fail("No files found. Name files, or a folder that contains some.")
    with here() as workspace:
        user = ensure_local_user(workspace)
        project_id = project_to_fill(workspace, project, user.id)
        bucket_files = BucketFiles(workspace, project_id, addresses, refused_again=refused_again)
        sources: list[LocalFile | BucketFile] = [*map(LocalFile, paths), *bucket_files]
        with progress() as bar:
            task = bar.add_task("Reading", total=len(sources))
            executor = executor_of(workspace, lambda: None)
            parts = file_parts(
                workspace,
                executor,
                sources,
                project_id=project_id,
                user_id=user.id,
                licence=licence,
                on_begin=lambda file: bar.update(task, description=file.name[:40]),
            )
            outcomes = run_parts(executor, parts, on_result=lambda number, outcome: bar.advance(task))
        rows = [_row(file, outcome) for file, outcome in zip(sources, outcomes, strict=True)]
    _print_table(rows)
    taken = [row for row in rows if row["outcome"] != "refused"]
    refused = len(rows) - len(taken)
    if json:
        counts = {"documents": len(taken), "refused": refused, "known": bucket_files.known}
        emit({"project": project, **counts, "files": rows})
    if refused:
        console.print(f"{refused} of {len(rows)} files were refused.")
    if bucket_files.known:
        console.print(f"{bucket_files.known:,} objects of the bucket were taken in before.")
    if not taken and (rows or not bucket_files.known):
        raise typer.Exit(1)


def _row(file: LocalFile | BucketFile, outcome: TakenFile) -> dict[str, object]:
    row: dict[str, object] = {"file": file.place, "name": file.name, "seconds": outcome.seconds}
    if outcome.document_id is None:
        return row | {"outcome": "refused", "reason": outcome.reason, "sentence": outcome.sentence}
    return row | {
        "outcome": "new" if outcome.created else "already in the project",
        "document_id": outcome.document_id,
        "pages": outcome.pages,
        "words": outcome.words,
        "sentence": outcome.sentence,
    }


def _print_table(rows: list[dict[str, object]]) -> None:
    table = list_table()
    for column in ("File", "Outcome"):
        table.add_column(column, overflow="fold")
    for column in ("Pages", "Words", "Seconds"):
        table.add_column(column, justify="right")
    table.add_column("Notes", overflow="fold", ratio=1)
    for row in rows:
        table.add_row(
            str(row["name"]),
            str(row["outcome"]),
            str(row.get("pages", "")),
            str(row.get("words", "")),
            f"{row['seconds']:.1f}",
            str(row["sentence"]),
        )
    pages = sum(int(str(row.get("pages", 0))) for row in rows)
    words = sum(int(str(row.get("words", 0))) for row in rows)
    table.add_section()
    table.add_row(
        f"{len(rows)} files", "", str(pages), str(words), f"{sum(float(str(r['seconds'])) for r in rows):.1f}", ""
    )
    output.print(table)


def list_documents(
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """List the documents of a project, newest first."""
    with here() as workspace:
        lines = document_lines(workspace, project_named(workspace, project).id)
    if json:
        emit({"project": project, "documents": [line.model_dump(mode="json") for line in lines]})
        return
    table = list_table("document", "id")
    for title in ("pages", "words", "questions", "accepted"):
        table.add_column(title, justify="right")
    table.add_column("same as", overflow="fold")
    for line in lines:
        counts = (line.pages, line.words, line.questions, line.accepted)
        same = "in quarantine" if line.quarantined else line.same_as or ""
        table.add_row(line.name, line.id, *(str(count) for count in counts), same)
    print_list(table, "No documents yet. Add some: glossator ingest FILES --project PROJECT")
    for line in lines:
        if line.quarantined:
            output.print(
                f"{line.name} is in quarantine: it is used neither for training nor for judging.",
                soft_wrap=True,
            )


def show_document(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Show a document and its pages."""
    with here() as workspace:
        stored = document_called(workspace, project_named(workspace, project).id, document)
        view = document_view(workspace, stored.id)
    if json:
        emit(view.model_dump(mode="json"))
        return
    output.print(f"{view.name}  {view.id}")
    for warning in view.warnings:
        output.print(warning, style="dim")
    table = list_table("page", "id", "size", "words", "words from")
    for page in view.pages:
        table.add_row(str(page.number), page.id, f"{page.width} x {page.height}", str(page.words), page.text_source)
    output.print(table)


def write_marked(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    out: Annotated[Path, typer.Argument(help="PDF file to write.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write a document as a PDF with highlights and notes of its accepted answers."""
    from engine.interchange.marked_pdf.accepted import write_accepted

    if out.exists():
        fail(f"{out} exists. Name a new file.")
    with here() as workspace:
        stored = document_called(workspace, project_named(workspace, project).id, document)
        try:
            written = write_accepted(workspace, stored.id, None, out)
        except OSError as error:
            fail(f"{out} cannot be written: {error.strerror}.")
    if json:
        emit({"document_id": stored.id, "file": str(out), "from_images": written.from_images, "note": written.note})
        return
    output.print(f"{out} was written.")
    if written.note:
        output.print(written.note)


def write_original(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    out: Annotated[Path, typer.Argument(help="File to write.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write the file of a document as it was uploaded."""
    if out.exists():
        fail(f"{out} exists. Name a new file.")
    with here() as workspace:
        stored = document_called(workspace, project_named(workspace, project).id, document)
        try:
            shutil.copyfile(original_of(workspace, stored.id).path, out)
        except OSError as error:
            fail(f"{out} cannot be written: {error.strerror}.")
    if json:
        emit({"document_id": stored.id, "file": str(out)})
        return
    output.print(f"{out} was written.")


def sign_documents(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Compute missing page signatures, which detect near-duplicates. The worker does this when it starts."""
    from engine.documents.duplicates.signature_backfill import sign

    with here() as workspace, progress() as bar:
        task = bar.add_task("Computing page signatures", total=None)
        done = sign(workspace, lambda at, total: bar.update(task, completed=at, total=total))
    if json:
        emit({"documents": done.documents, "quarantined": done.quarantined})
        return
    output.print(f"Page signatures of {count(done.documents, 'document')} were computed.")
    for name in done.quarantined:
        output.print(f"{name} was quarantined; glossator documents show gives the reason.", soft_wrap=True)
