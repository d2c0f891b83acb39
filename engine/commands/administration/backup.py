"""`glossator backup` and `glossator restore`."""

from pathlib import Path
from typing import Annotated

import typer

from engine.commands.common import emit, fail, list_files, output, private_here, settings_here, step_bar
from engine.errors import Refused
from engine.lifecycle.backup import KEEP, Written, back_up
from engine.lifecycle.backup_folder import BackupFolder
from engine.lifecycle.restore import check_backup
from engine.lifecycle.restore import restore as restore_backup
from engine.plurals import count
from engine.workspace import open_workspace

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(backup)
    app.command()(restore)


def backup(
    to: Annotated[Path, typer.Argument(metavar="TO", help="Folder of backups, outside the data folder.")],
    keep: Annotated[int, typer.Option(min=1, help="Number of backups that stay in the folder.")] = KEEP,
    read_again: Annotated[
        bool, typer.Option("--read-again", help="Read the files of earlier backups too; copy damaged ones again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Back up database and files into a folder, while people work.

    Only files that no earlier backup of the folder has are copied. Settings, finished exports and thumbnails are not
    backed up. Exits with 1 if files are missing in the installation itself.
    """
    settings = settings_here()
    with private_here(settings):
        try:
            workspace = open_workspace(settings, upgrade=False)
            try:
                with step_bar() as on_step:
                    written = back_up(workspace, to, on_step, keep=keep, read_again=read_again)
            finally:
                workspace.close()
        except (Refused, ValueError) as error:
            fail(str(error))
    _report(written, as_json)
    if written.backup.manifest.missing:
        raise typer.Exit(1)


def restore(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="Folder of backups.")],
    name: Annotated[str | None, typer.Option("--backup", metavar="NAME", help="Default: the newest one.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Check all hashes; restore nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Restore a backup into an empty data folder. All hashes are checked first.

    First set GLOSSATOR_DATA_DIR to the new folder, and GLOSSATOR_DATABASE_URL and GLOSSATOR_BLOBS where they are used.
    Nothing is overwritten. A restore that was stopped goes on with the same command.
    """
    settings, ended = settings_here(), 0
    try:
        chosen = BackupFolder(source).read(name)
        with step_bar() as on_step:
            if check:
                check_backup(chosen, on_step)
            else:
                with private_here(settings):
                    ended = restore_backup(settings, chosen, on_step)
    except (Refused, ValueError) as error:
        fail(str(error))
    manifest = chosen.manifest
    if as_json:
        done = {"restored": not check, "ended_logins": ended}
        emit({"backup": str(chosen.folder), **done, **manifest.model_dump(mode="json")})
        return
    what = f"{count(manifest.blobs, 'file')}, {manifest.bytes / 1e6:,.1f} MB"
    if check:
        _say(f"The backup {chosen.folder} is whole: {what}. Its rows and files can be restored.")
        return
    _say(f"Restored the backup of {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC, {what}, to {settings.data_dir.absolute()}.")
    if ended:
        _say(f"{count(ended, 'login')} in browsers ended: people log in again. Tokens of programs still work.")
    if manifest.missing:
        _say(f"{count(len(manifest.missing), 'file')} were missing when it was made; glossator check lists them.")
    if manifest.settings:
        _say(f"That installation had set {', '.join(manifest.settings)}; their values are not in the backup.")
    _say("Next: glossator check, then glossator serve.")


def _report(written: Written, as_json: bool) -> None:
    made, manifest = written.backup, written.backup.manifest
    if as_json:
        figures = {"database_bytes": written.database_bytes, "copied": written.copied, "repaired": written.repaired}
        gone = written.forgotten
        more = {"copied_bytes": written.copied_bytes, "forgotten": gone.backups, "unreadable": gone.unreadable}
        emit({"backup": str(made.folder), **figures, **more, **manifest.model_dump(mode="json")})
        return
    _say(
        f"Backed up to {made.folder}: database {written.database_bytes / 1e6:,.1f} MB, "
        f"{count(manifest.blobs, 'file')}, of which {written.copied:,} new ({written.copied_bytes / 1e6:,.1f} MB)."
    )
    if written.repaired:
        _say(f"{count(written.repaired, 'file')} of earlier backups were damaged, and were copied again.")
    if written.forgotten.backups:
        _say(f"Deleted {count(len(written.forgotten.backups), 'older backup')}.")
    if unreadable := written.forgotten.unreadable:
        _say(
            f"Warning: earlier backups are damaged or of a newer version: {', '.join(unreadable)}. No file is deleted "
            "while they are there; move them away."
        )
    _say("Not in it: settings and secrets (environment, .env), finished exports, thumbnails.")
    list_files(manifest.missing, "missing or damaged here, so not in the backup")


def _say(sentence: str) -> None:
    output.print(sentence, soft_wrap=True)
