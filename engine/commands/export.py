"""`glossator export`: accepted answers as files."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from engine import audit
from engine.commands.common import emit, here, output, progress
from engine.people import ensure_local_user
from engine.projects import DEFAULT_NAME, project_named


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new or empty folder.")],
    form: Annotated[Literal["coco"], typer.Option("--format", help="How to write it.")] = "coco",
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    everything: Annotated[bool, typer.Option("--all", help="Also drafts, submitted and rejected answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")] = False,
) -> None:
    """Export a project's accepted answers with their page images, whole or not at all."""
    from engine.curation.labels import ACCEPTED
    from engine.interchange import coco

    statuses = (*ACCEPTED, "draft", "submitted", "rejected") if everything else ACCEPTED
    with here() as workspace:
        there = project_named(workspace, project)
        with progress() as bar:
            task = bar.add_task("Answers")
            written = coco.export(
                workspace,
                there.id,
                out,
                statuses=statuses,
                on_progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
            by = ensure_local_user(workspace).id
            answers = written.counts["annotations"]
            audit.note(workspace, by, "exports.make", written.snapshot_sha256, there.id, format=form, answers=answers)
    if as_json:
        emit(
            {
                "format": form,
                "folder": str(written.folder),
                "snapshot_sha256": written.snapshot_sha256,
                "counts": written.counts,
                "sha256s": written.sha256s,
            }
        )
    else:
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in written.counts.items())
        output.print(f"{written.folder}: {counts}.", markup=False, soft_wrap=True)
