"""`glossator export`: curated answers as files."""

from pathlib import Path
from typing import Annotated

import typer

from engine import audit
from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, fail, here, output, progress
from engine.private_files import users_umask
from engine.projects.projects import DEFAULT_NAME, project_named


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new or empty folder.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="coco, parquet (Hugging Face), png, grounded, label-studio, boundingdocs, funsd, page-xml, yolo, csv or xlsx.",
        ),
    ] = "coco",
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    everything: Annotated[bool, typer.Option("--all", help="Also drafts, submitted and rejected answers.")] = False,
    statuses: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            help="Answers of this status alone, as accepted or fixed; automatic: those of the model that no person has looked at.",
        ),
    ] = None,
    splits: Annotated[
        list[str] | None, typer.Option("--split", help="Documents of this split alone: train, recent or frozen.")
    ] = None,
    questions: Annotated[list[str] | None, typer.Option("--question", help="Answers to this question alone.")] = None,
    since: Annotated[str | None, typer.Option(help="Answers given from this day on, as 2026-11-22, UTC.")] = None,
    until: Annotated[str | None, typer.Option(help="Answers given before this day.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Corrections of this version's proposals, and its automatic answers: how its SHA-256 begins.",
        ),
    ] = None,
    agreement: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least weight of an answer, 0 to 1; of an automatic one its confidence."),
    ] = None,
    fit: Annotated[bool, typer.Option("--fit", help="Leave out what is unfit to teach, see the tab Quality.")] = False,
    snapshot: Annotated[
        str | None, typer.Option(metavar="SHA256", help="A snapshot that was frozen before, by how it begins.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")] = False,
) -> None:
    """Export a project's accepted answers with their page images, whole or not at all.

    The same answers give the same bytes. An export that was interrupted goes on where it was when the same command is given again.
    """
    from engine.datasets.filters import Filters
    from engine.datasets.snapshot_views import snapshot_named
    from engine.interchange import exports
    from engine.statuses import ACCEPTED

    if everything and statuses:
        fail("Give either --all or --status.", code=2)
    chosen = tuple(statuses or ((*ACCEPTED, "draft", "submitted", "rejected") if everything else ACCEPTED))
    with here() as workspace:
        there = project_named(workspace, project)
        filters = Filters(
            statuses=chosen,
            splits=tuple(splits) if splits else None,
            questions=tuple(questions) if questions else None,
            since=since,
            until=until,
            models=tuple(models) if models else None,
            agreement=agreement,
            quarantined=True,
            unfit=not fit,
        )
        with progress() as bar:
            task = bar.add_task("Answers")
            with users_umask():
                written = exports.export(
                    workspace,
                    there.id,
                    form,
                    out,
                    filters=filters,
                    snapshot=snapshot_named(workspace, there.id, snapshot) if snapshot else None,
                    on_progress=lambda done, total: bar.update(task, completed=done, total=total),
                )
        by = ensure_local_user(workspace).id
        audit.note(
            workspace, by, "exports.make", written.snapshot_sha256, there.id, format=form, answers=written.answers
        )
    if as_json:
        emit(
            {
                "format": form,
                "folder": str(written.folder),
                "snapshot_sha256": written.snapshot_sha256,
                "counts": written.counts,
                "loss": written.loss,
                "manifest_sha256": written.manifest_sha256,
            }
        )
        return
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in written.counts.items())
    output.print(f"{written.folder}: {counts}.", markup=False, soft_wrap=True)
    if written.lossy:
        held = f" Mean IoU of what it holds: {written.loss['mean_iou']:.4f}." if "mean_iou" in written.loss else ""
        output.print(f"{written.lossy}{held}", markup=False, soft_wrap=True)
