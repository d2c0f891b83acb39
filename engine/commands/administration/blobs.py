"""`glossator blobs`: move files to another store, and delete those that nothing names."""

import json
from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated

import typer

from db.blobs import BlobStore
from engine import audit, blob_turns
from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, fail, here, list_files, output, progress
from engine.errors import Refused
from engine.jobs import presence
from engine.plurals import count
from engine.storage import store_at, whole_store
from engine.storage.named_blobs import named_blobs, needed_blobs
from engine.workspace import Workspace

blobs = typer.Typer(help="Move and clean up the files: uploads, page images, weights.", no_args_is_help=True)

FOLDER = "folder"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(blobs, name="blobs")


@blobs.command()
def move(
    to: Annotated[str, typer.Argument(metavar="TO", help=f"s3://BUCKET/PREFIX, gs://, az://; {FOLDER}: data folder.")],
    options: Annotated[
        str | None, typer.Option(help="As GLOSSATOR_BLOBS_OPTIONS, of the new store; default: as that of the old one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy all files to another store. Repeat the command to go on where it was stopped, or with what is new.

    The old files stay. The server may run; run the command once more after stopping it, then set GLOSSATOR_BLOBS.
    """
    with here() as workspace:
        target = _store(workspace, to, options)
        if target.address == workspace.blobs.address:
            fail(f"The files are in {target.address} already. Name another store.")
        with progress() as bar:
            task = bar.add_task("Copying", total=None)
            moved = whole_store.move(workspace.blobs, target, lambda _: bar.advance(task))
    if as_json:
        emit({"from": workspace.blobs.address, "to": target.address, **asdict(moved)})
    else:
        output.print(
            f"Copied {count(moved.copied, 'file')}, {moved.bytes / 1e6:,.1f} MB, to {target.address}; "
            f"{moved.known:,} were there.",
            soft_wrap=True,
        )
    if moved.damaged:
        list_files(moved.damaged, "damaged, so not copied; restore it from a backup", as_json)
        raise typer.Exit(1)


@blobs.command()
def cleanup(
    hours: Annotated[float, typer.Option(min=1, help="Spare files written less than so many hours ago.")] = 24,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, only list what would be deleted.")] = False,
    as_json: Json = False,
) -> None:
    """Delete files that nothing in the database names. Stop servers and workers first: an upload may just use one."""
    deleted, size = 0, 0
    with here() as workspace:
        with workspace.database.read() as session:
            living = presence.load_presence(session).living
        if yes and living:
            raise Refused(f"{count(len(living), 'worker')} of this database still run. Stop servers and workers first.")
        with ExitStack() as stack:
            if yes:
                stack.enter_context(blob_turns.turn(workspace.database, "cleanup of files"))
            named, needed = _names(workspace)
            bar = stack.enter_context(progress())
            task = bar.add_task("Deleting" if yes else "Looking", total=None)
            for blob in whole_store.unnamed(workspace.blobs, named | needed, hours):
                if yes:
                    workspace.blobs.remove(blob.sha256)
                deleted += 1
                size += blob.bytes
                bar.advance(task)
        if yes and deleted:
            by = ensure_local_user(workspace).id
            audit.note(workspace, by, "blobs.cleanup", "blobs", blobs=deleted, megabytes=round(size / 1e6))
    if as_json:
        emit({"deleted": yes, "blobs": deleted, "bytes": size})
        return
    total = f"{count(deleted, 'file')}, {size / 1e6:,.1f} MB"
    output.print(f"Deleted {total}." if yes else f"Would delete {total}. Delete with --yes.")


def _store(workspace: Workspace, to: str, options: str | None) -> BlobStore:
    try:
        chosen = workspace.settings.blobs_options if options is None else json.loads(options)
    except json.JSONDecodeError:
        fail(
            '--options is no JSON object. Write for example \'{"endpoint_url": "https://minio.example.org"}\'.', code=2
        )
    settings = workspace.settings.model_copy(update={"blobs_options": chosen})
    return store_at(settings, "" if to == FOLDER else to)


def _names(workspace: Workspace) -> tuple[set[bytes], set[bytes]]:
    with workspace.database.snapshot_read() as session:
        return named_blobs(session, workspace.blobs), needed_blobs(session)
