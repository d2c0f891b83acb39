"""Back up an installation while people work: the database first, then the blobs that its rows name.

Blobs are stored before the rows that name them, and nobody deletes any meanwhile (engine.blob_turns). So all that a
copy of the database names is there when the copy ends.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from db import migrate
from db.base import now
from db.blobs import BlobFolder
from engine import audit, blob_turns
from engine.accounts.users import ensure_local_user
from engine.errors import Refused
from engine.interchange import uploaded_sets
from engine.lifecycle.backup_folder import Backup, BackupFolder, Forgotten, Manifest
from engine.lifecycle.database_copies import FILES, copy_database, count_rows
from engine.outage import is_full
from engine.storage import whole_store
from engine.storage.named_blobs import named_blobs, needed_blobs
from engine.version import code_version
from engine.workspace import Workspace

KEEP = 7  # backups in a folder
SPARE_BYTES = 20_000_000  # of free space that a backup leaves
OnStep = Callable[[str, int, int | None], None]  # what is done, how much of it, and of how much where that is known


@dataclass(frozen=True, slots=True)
class Written:
    """What a backup wrote.

    Attributes:
        backup: the new backup.
        database_bytes: size of its database.
        copied, copied_bytes: number and size of the blobs that were not in the folder.
        repaired: blobs of the folder that were damaged and copied again, or deleted.
        forgotten: earlier backups that were deleted, and those that cannot be read.
    """

    backup: Backup
    database_bytes: int
    copied: int
    copied_bytes: int
    repaired: int
    forgotten: Forgotten


def back_up(workspace: Workspace, to: Path, on_step: OnStep, *, keep: int = KEEP, read_again: bool = False) -> Written:
    """Write a backup into a folder of backups. Only blobs that no earlier one has are copied.

    Args:
        workspace: what is backed up; others may write meanwhile.
        to: the folder, outside the data folder.
        on_step: called with the progress.
        keep: number of backups that stay, with the new one; older ones are deleted once the new one is whole.
        read_again: read the blobs of earlier backups too, and copy damaged ones again.

    Returns:
        What was written. Its manifest names blobs that are missing in the installation itself.

    Raises:
        Refused: The folder is neither empty nor one of backups, or it is in the data folder or around it; the disk is
            too full, the database is damaged, or its programs fail.
        Conflict: Another backup writes to the folder, or somebody deletes blobs.
        OSError, StoreUnavailable: A file cannot be read or written.
    """
    folder = BackupFolder(to)
    folder.check(workspace.settings.data_dir)
    with folder.locked(), _said_when_full(folder), blob_turns.turn(workspace.database, "backup"):
        store = folder.blobs()
        repaired = _repair(store, on_step) if read_again else 0
        made_at = now()
        new = folder.begin(made_at)
        file = new / FILES[workspace.database.dialect]
        with workspace.database.snapshot_read() as session:
            copy_database(session, workspace.database, file, lambda done, size: on_step("Database", done, size))
            on_step("Rows", 0, None)
            rows = count_rows(session)
            needed = needed_blobs(session)
            named = named_blobs(session, workspace.blobs) | needed
            awaited = uploaded_sets.awaited(session)
        uploads = _copy_uploads(workspace, store, awaited)
        copied = _copy_blobs(workspace, store, named, on_step)
        there = {blob.sha256: blob.bytes for blob in store.list_blobs() if bytes.fromhex(blob.sha256) in named}
        manifest = Manifest(
            made_at=made_at,
            version=code_version(),
            schema_revision=str(migrate.current(workspace.database)),
            database=workspace.database.dialect,
            rows=rows,
            blobs=len(there),
            bytes=sum(there.values()),
            uploads=uploads,
            missing=sorted(({name.hex() for name in needed} - there.keys()) | (awaited - set(uploads))),
            settings=sorted(f"GLOSSATOR_{name.upper()}" for name in workspace.settings.model_fields_set),
        )
        backup = folder.finish(new, manifest, sorted(there))
        size = (backup.folder / file.name).stat().st_size
        _audit(workspace, backup)
        forgotten = folder.forget(keep)
    return Written(backup, size, copied.copied, copied.bytes, repaired, forgotten)


def _repair(store: BlobFolder, on_step: OnStep) -> int:
    """Delete the damaged blobs of a folder of backups, so that they are copied again; return their number."""
    names = [blob.sha256 for blob in store.list_blobs()]
    read = 0

    def count_up(_name: str) -> None:
        nonlocal read
        read += 1
        on_step("Reading earlier files", read, len(names))

    damaged = whole_store.find_damaged(store, names, count_up)
    for name in damaged:
        store.remove(name)
    return len(damaged)


def _copy_uploads(workspace: Workspace, store: BlobFolder, awaited: set[str]) -> list[str]:
    """Copy the uploaded datasets of these names, which are no blobs yet; return the names of those that are there."""
    paths = {sha256: uploaded_sets.place_of(workspace, sha256) for sha256 in sorted(awaited)}
    return [sha256 for sha256, path in paths.items() if path.is_file() and store.put_file(path) == sha256]


def _copy_blobs(workspace: Workspace, store: BlobFolder, named: set[bytes], on_step: OnStep) -> whole_store.Moved:
    lacking = [blob for blob in whole_store.lacking(workspace.blobs, store) if bytes.fromhex(blob.sha256) in named]
    size = sum(blob.bytes for blob in lacking)
    free = shutil.disk_usage(store.folder).free
    if size + SPARE_BYTES > free:
        raise Refused(
            f"{store.folder.parent} has {free / 1e6:,.0f} MB free; the files that are not there yet need "
            f"{(size + SPARE_BYTES) / 1e6:,.0f} MB. Earlier backups are whole. Free disk space, or choose another disk."
        )
    copied = 0

    def count_up(_blob: object) -> None:
        nonlocal copied
        copied += 1
        on_step("Files", copied, len(lacking))

    return whole_store.copy(workspace.blobs, store, lacking, count_up)


@contextmanager
def _said_when_full(folder: BackupFolder) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise Refused(
            f"The disk of {folder.path} is full. No backup was made; earlier ones are whole. "
            "Free disk space, or choose another disk."
        ) from error


def _audit(workspace: Workspace, backup: Backup) -> None:
    by, manifest = ensure_local_user(workspace).id, backup.manifest
    audit.note(workspace, by, "backup", backup.name, blobs=manifest.blobs, megabytes=round(manifest.bytes / 1e6))
