"""`glossator export`: export reviewed answers as a dataset."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from engine import audit
from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, fail, here, output, progress
from engine.interchange.formats import DEFAULT, EXPORTED
from engine.private_files import users_umask
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.text import join_names


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export")(export)


def export(
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="New or empty folder; or an address, as s3://BUCKET/PREFIX.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"{join_names(EXPORTED, 'or')}.",
        ),
    ] = DEFAULT,
    project: Annotated[str, typer.Option("--project", help="Name of the project.")] = DEFAULT_NAME,
    everything: Annotated[bool, typer.Option("--all", help="Include drafts, submitted and rejected answers.")] = False,
    statuses: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            help="Status to export, as accepted; repeatable. automatic: adds unreviewed, auto-accepted answers.",
        ),
    ] = None,
    splits: Annotated[
        list[str] | None, typer.Option("--split", help="Split to export: train, recent or frozen; repeatable.")
    ] = None,
    questions: Annotated[list[str] | None, typer.Option("--question", help="Question to export; repeatable.")] = None,
    since: Annotated[str | None, typer.Option(help="First day, as 2026-11-22, UTC.")] = None,
    until: Annotated[str | None, typer.Option(help="Day after the last one, UTC.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Beginning of a version's SHA-256: edits of its proposals, and its automatic answers. Repeatable.",
        ),
    ] = None,
    agreement: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum weight of an answer, or confidence of an automatic one, 0 to 1."),
    ] = None,
    fit: Annotated[bool, typer.Option("--fit", help="Exclude labels unfit for training.")] = False,
    snapshot: Annotated[
        str | None, typer.Option(metavar="SHA256", help="Beginning of the SHA-256 of an existing snapshot.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Export accepted answers with their page images.

    The same answers give the same bytes. The export is complete or absent; repeat the command to resume an interrupted
    one.
    """
    from db.statuses import ACCEPTED
    from engine.datasets.filters import Filters
    from engine.datasets.snapshot_views import snapshot_named
    from engine.interchange import buckets, exports
    from engine.storage.object_store import ObjectStore, is_address

    if everything and statuses:
        fail("--all and --status exclude each other. Use one of them.", code=2)
    chosen = tuple(statuses or ((*ACCEPTED, "draft", "submitted", "rejected") if everything else ACCEPTED))
    with here() as workspace:
        chosen_project = project_named(workspace, project)
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
        with ExitStack() as ending, progress() as bar:
            bucket = ObjectStore(out, workspace.settings.blobs_options) if is_address(out) else None
            folder = Path(out)
            if bucket is not None:
                buckets.check_free(bucket)
                folder = Path(ending.enter_context(TemporaryDirectory(prefix="glossator-"))) / "export"
            choosing, writing = bar.add_task("Choosing answers", total=None), bar.add_task("Writing", total=None)
            with users_umask():
                written = exports.export(
                    workspace,
                    chosen_project.id,
                    form,
                    folder,
                    filters=None if snapshot else filters,
                    snapshot=snapshot_named(workspace, chosen_project.id, snapshot) if snapshot else None,
                    on_freezing=lambda done, total: bar.update(choosing, completed=done, total=total or None),
                    on_progress=lambda done, total: bar.update(writing, completed=done, total=total),
                )
            if bucket is not None:
                uploading = bar.add_task("Uploading", total=None)
                buckets.upload_export(
                    bucket,
                    written.folder,
                    written.manifest_sha256,
                    lambda done, total: bar.update(uploading, completed=done, total=total),
                )
            place = str(written.folder) if bucket is None else bucket.address
        by = ensure_local_user(workspace).id
        audit.note(
            workspace,
            by,
            "exports.make",
            written.snapshot_sha256,
            chosen_project.id,
            format=form,
            answers=written.answers,
        )
    if as_json:
        emit(
            {
                "format": form,
                "folder": place,
                "snapshot_sha256": written.snapshot_sha256,
                "counts": written.counts,
                "loss": written.loss,
                "manifest_sha256": written.manifest_sha256,
            }
        )
        return
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in written.counts.items())
    output.print(f"{place}: {counts}.", soft_wrap=True)
    if written.lossy:
        held = f" Mean IoU of the exported masks: {written.loss['mean_iou']:.4f}." if "mean_iou" in written.loss else ""
        output.print(f"{written.lossy}{held}", soft_wrap=True)
