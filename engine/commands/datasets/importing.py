"""`glossator import`: import a dataset of another program, or an export of Glossator."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from engine import audit
from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, here, output, progress, project_to_fill
from engine.interchange.formats import IMPORTED
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.text import join_names


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_)


def import_(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="File, folder or zip file; or an address, as s3://BUCKET/PREFIX.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"{join_names(IMPORTED, 'or')}; auto detects it.",
        ),
    ] = "auto",
    project: Annotated[str, typer.Option("--project", help="Name of the project; created if missing.")] = DEFAULT_NAME,
    status: Annotated[
        Literal["draft", "submitted", "accepted"], typer.Option(help="Status of the imported answers.")
    ] = "accepted",
    ocr: Annotated[bool, typer.Option(help="Read pages without words by OCR, one or two seconds per page.")] = True,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out entries with an error, and import the rest.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Import pages and answers. A dataset with an error is refused as a whole, unless --skip-bad leaves it out.

    Importing a dataset again adds missing parts. The local user becomes the author of the answers.
    """
    from engine.interchange.buckets import fetched_set
    from engine.interchange.imports import import_set
    from engine.storage.object_store import is_address

    with here() as workspace:
        by = ensure_local_user(workspace).id

        with ExitStack() as ending, progress() as bar:
            options = workspace.settings.blobs_options
            place = ending.enter_context(fetched_set(path, options)) if is_address(path) else Path(path)
            task = bar.add_task("Checking the pages")
            imported = import_set(
                workspace,
                partial(project_to_fill, workspace, project, by),
                form,
                place,
                user_id=by,
                status=status,
                ocr=ocr,
                skip_bad=skip_bad,
                on_progress=lambda what, done, total: bar.update(task, description=what, completed=done, total=total),
            )
        audit.note(
            workspace,
            by,
            "imports.make",
            Path(path).name[:60],
            project_named(workspace, project).id,
            format=imported.form,
            answers=imported.answers,
        )
    if as_json:
        emit(
            {
                "format": imported.form,
                "documents": imported.documents,
                "known": imported.known,
                "pages": imported.pages,
                "read": imported.read,
                "answers": imported.answers,
                "no_answer": imported.no_answer,
                "proposals": imported.proposals,
                "lost": imported.lost,
                "bad": imported.bad,
                "bad_entries": imported.bad_entries,
            }
        )
        return
    lost = "".join(f" Left out: {name} ({number:,})." for name, number in sorted(imported.lost.items()))
    proposals = f", {count(imported.proposals, 'proposal')} of models" if imported.proposals else ""
    read = f" ({imported.read:,} read by OCR)" if imported.read else ""
    for sentence in imported.bad_entries:
        output.print(f"Left out: {sentence}.", soft_wrap=True)
    if imported.bad > len(imported.bad_entries):
        output.print(f"Left out: {imported.bad - len(imported.bad_entries):,} more bad entries.")
    output.print(
        f"Imported as {imported.form}: {imported.documents:,} new documents ({imported.known:,} existed), "
        f"{imported.pages:,} pages{read}, "
        f"{imported.answers:,} answers, {imported.no_answer:,} questions without an answer"
        f"{proposals}.{lost}",
        soft_wrap=True,
    )
