"""Restore a backup into an empty data folder, and an empty PostgreSQL database where there is one.

All hashes are checked before anything is written. The database comes last, so a restore that was killed leaves no
database that a server could open; the same command goes on.
A backup of SQLite is restored to PostgreSQL row by row.
"""

import shutil
from pathlib import Path

from sqlalchemy import make_url, text, update

from db import migrate, private
from db.base import now
from db.blobs import BlobFolder, BlobStore, sha256_of
from db.session import Database, sqlite_file
from db.tables import LoginSession
from engine.errors import Refused
from engine.interchange import uploaded_sets
from engine.lifecycle.backup import SPARE_BYTES, OnStep
from engine.lifecycle.backup_folder import BLOBS, RESTORING, Backup, damaged, flush
from engine.lifecycle.database_copies import is_empty, load_dump, place_sqlite
from engine.lifecycle.moved_rows import move_rows
from engine.private_files import FOLDER as TEMPORARY
from engine.settings import Settings
from engine.storage import open_blobs, whole_store

_LOGS = ("-wal", "-shm", "-journal")  # of SQLite, beside its database
_SHOWN = 5  # hashes in a sentence


def check_backup(backup: Backup, on_step: OnStep) -> None:
    """Read a whole backup, and compare it with its hashes.

    Raises:
        Refused: A file is missing or damaged, or a newer version of Glossator made the backup.
    """
    manifest = backup.manifest
    if manifest.schema_revision not in migrate.known_revisions():
        raise Refused(
            f"Glossator {manifest.version} made this backup, with schema {manifest.schema_revision}, unknown to this "
            "version. Install that version or a newer one."
        )
    if not (backup.folder.parent / BLOBS).is_dir():
        raise damaged(backup.folder, f"{backup.folder.parent / BLOBS} is missing")
    for name, sha256 in backup.sums.items():
        path = backup.folder / name
        if not path.is_file() or sha256_of(path) != sha256:
            raise damaged(backup.folder, f"{name} is missing or was changed")
    read = 0

    def count_up(_name: str) -> None:
        nonlocal read
        read += 1
        on_step("Reading files", read, len(backup.blobs))

    if bad := whole_store.find_damaged(backup.store, backup.blobs, count_up):
        more = f" and {len(bad) - _SHOWN:,} more" if len(bad) > _SHOWN else ""
        raise damaged(backup.folder, f"missing or changed in {backup.store.folder}: {', '.join(bad[:_SHOWN])}{more}")


def restore(settings: Settings, backup: Backup, on_step: OnStep) -> int:
    """Restore a backup where the settings point to, and end the logins in browsers that are in it.

    Args:
        settings: data folder, database and store of blobs; each must be empty.
        backup: what is restored.
        on_step: called with the progress.

    Returns:
        Number of logins that ended.

    Raises:
        Refused: Something is there already, there is no PostgreSQL for its dump, the backup is damaged or of a newer
            version, or a program of PostgreSQL fails.
        OSError, StoreUnavailable: A file cannot be read or written.
    """
    database_file = _check_target(settings, backup)
    check_backup(backup, on_step)
    private.make_folder(settings.data_dir)
    _check_space(settings, backup)
    mark = settings.data_dir / RESTORING
    mark.write_text(_mark_of(backup))
    blobs = open_blobs(settings)
    _copy_blobs(backup, blobs, on_step)
    for sha256 in backup.manifest.uploads:
        with backup.store.open(sha256) as file:
            uploaded_sets.receive(settings.data_dir, file)
    on_step("Database", 0, None)
    if database_file is None:
        database = Database(settings.url)
        try:
            if backup.manifest.database == "sqlite":
                own = _copy_database(backup, settings.data_dir / f"{RESTORING}.sqlite")
                move_rows(own, database, lambda done, size: on_step("Rows", done, size))
                own.unlink()
            else:
                load_dump(database, backup.folder / backup.manifest.database_file, backup.manifest.rows)
        finally:
            database.dispose()
    else:
        private.make_folder(database_file.parent)
        own = _copy_database(backup, database_file.with_name(f".{database_file.name}.{RESTORING}"))
        place_sqlite(own, database_file, backup.manifest.rows)
        flush(database_file.parent)
    ended = _end_holders(settings)
    mark.unlink()
    flush(settings.data_dir)
    return ended


def _end_holders(settings: Settings) -> int:
    """Delete the leases, whose holders work elsewhere, and end the logins in browsers; return the number of those.

    Whoever logged out or was logged out since the backup would be logged in again. Tokens of programs stay.
    """
    moment = now()
    valid = (LoginSession.scope.is_(None), LoginSession.revoked_at.is_(None), LoginSession.expires_at > moment)
    database = Database(settings.url)
    try:
        with database.engine.begin() as connection:
            connection.execute(text("DELETE FROM leases"))
            ended = update(LoginSession).where(*valid).values(revoked_at=moment, id_token=None)
            return connection.execute(ended).rowcount
    finally:
        database.dispose()


def _check_space(settings: Settings, backup: Backup) -> None:
    """Refuse a data folder whose disk is too small, before anything is written."""
    database = (backup.folder / backup.manifest.database_file).stat().st_size
    size = database + (0 if settings.blobs else backup.manifest.bytes) + SPARE_BYTES
    free = shutil.disk_usage(settings.data_dir).free + sum(
        blob.bytes
        for blob in BlobFolder(settings.data_dir / "blobs").list_blobs()  # of a restore that was stopped
    )
    if size > free:
        raise Refused(
            f"{settings.data_dir.absolute()} has {free / 1e6:,.0f} MB free; the backup needs {size / 1e6:,.0f} MB. "
            "Nothing was restored. Choose another disk."
        )


def _copy_database(backup: Backup, own: Path) -> Path:
    """Copy the SQLite database of a backup to a new name, written through to the disk; return the name."""
    for left in own.parent.glob(f"{own.name}*"):  # of a restore that was killed
        left.unlink()
    private.make_file(own)
    shutil.copyfile(backup.folder / backup.manifest.database_file, own)
    if sha256_of(own) != backup.sums[backup.manifest.database_file]:
        raise damaged(backup.folder, f"{backup.manifest.database_file} was changed while it was copied")
    flush(own)
    return own


def _copy_blobs(backup: Backup, blobs: BlobStore, on_step: OnStep) -> None:
    wanted = set(backup.blobs) - set(backup.manifest.uploads)
    lacking = [blob for blob in whole_store.lacking(backup.store, blobs) if blob.sha256 in wanted]
    copied = 0

    def count_up(_blob: object) -> None:
        nonlocal copied
        copied += 1
        on_step("Files", copied, len(lacking))

    moved = whole_store.copy(backup.store, blobs, lacking, count_up)
    if moved.damaged:
        raise damaged(backup.folder, f"{moved.damaged[0]} was changed while it was copied")


def _check_target(settings: Settings, backup: Backup) -> Path | None:
    """Refuse a target that holds anything; return the file of its SQLite database, None to PostgreSQL."""
    folder, kind = settings.data_dir.absolute(), backup.manifest.database
    to_postgresql = settings.url.startswith("postgres")
    if kind == "postgresql" and not to_postgresql:
        raise Refused(
            "The backup is of PostgreSQL, but GLOSSATOR_DATABASE_URL names none. Create an empty database (createdb), "
            "and set it to postgresql://HOST/NAME."
        )
    goes_on = False
    if folder.is_dir():
        entries = {entry.name for entry in folder.iterdir()} - {TEMPORARY}
        goes_on = RESTORING in entries and (folder / RESTORING).read_text() == _mark_of(backup)
        if entries and not goes_on:
            raise Refused(f"{folder} holds {sorted(entries)[0]}. Restore into an empty or new folder.")
    elif folder.exists():
        raise Refused(f"{folder} is no folder.")
    if to_postgresql:
        database = Database(settings.url)
        try:
            if not is_empty(database):
                raise Refused(
                    f"The database {database.url.database} holds tables. Restore into an empty one (createdb NAME)."
                )
        finally:
            database.dispose()
        return None
    file = sqlite_file(make_url(settings.url))
    if file is None:
        raise Refused("The database address is no file. Set GLOSSATOR_DATABASE_URL to sqlite:///FILE.")
    if file.exists():
        raise Refused(f"There is a database at {file}. Restore to a name that is free.")
    for suffix in _LOGS:
        log = file.with_name(f"{file.name}{suffix}")
        if log.exists():  # SQLite would replay it into the restored database
            raise Refused(f"{log} is the log of an earlier database. Move it away, or restore to a name that is free.")
    return file


def _mark_of(backup: Backup) -> str:
    return f"{backup.folder.resolve()}\n"
