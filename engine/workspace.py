"""Settings, database and blobs, opened together and passed to every service."""

import logging
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import OperationalError

from db import migrate, private
from db.blobs import BlobStore
from db.session import Database, sqlite_file
from engine import emergency_space
from engine.deferred_writes import DeferredWrites
from engine.errors import Refused
from engine.login_attempts import LoginAttempts
from engine.save_queue import SaveQueue
from engine.settings import Settings
from engine.storage import open_blobs

_log = logging.getLogger(__name__)
_FOLDERS = ("blobs", "blob-cache", "exports", "runs", "thumbnails", "uploads", ".glossator-tmp")  # in the data folder


class OtherSchema(Refused):
    """The database has the schema of another version."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Shared resources of the services; one per process."""

    settings: Settings
    database: Database
    blobs: BlobStore
    save_queue: SaveQueue = field(default_factory=SaveQueue, compare=False)
    deferred_writes: DeferredWrites = field(init=False)
    login_attempts: LoginAttempts = field(init=False, default_factory=LoginAttempts)

    def __post_init__(self) -> None:
        """Create the deferred writes of this database."""
        object.__setattr__(self, "deferred_writes", DeferredWrites(self.database))

    def close(self) -> None:
        """Perform the deferred writes, and close the database's connections."""
        self.deferred_writes.close()
        self.database.dispose()


def open_workspace(settings: Settings, *, upgrade: bool = True) -> Workspace:
    """Open the workspace of a deployment.

    Files that other users of the machine could read are made private.

    Args:
        settings: settings of the deployment.
        upgrade: migrate the database to the newest schema.

    Raises:
        OtherSchema: the database has an unknown schema, or an older one and `upgrade` is False.
        Refused: the disk is full, or the address of blobs is unknown or needs a package that is not installed.
    """
    private.make_folder(settings.data_dir)
    blobs = open_blobs(settings)
    try:
        database = _open_database(settings, upgrade)
    except OperationalError as error:
        if shutil.disk_usage(settings.data_dir).free > emergency_space.BYTES // 8:
            raise
        if not emergency_space.release(settings.data_dir):
            raise Refused(
                f"The disk of {settings.data_dir} is full, so the database cannot be opened. Free disk space."
            ) from error
        database = _open_database(settings, upgrade)
    if database.dialect == "sqlite":
        emergency_space.reserve(settings.data_dir)
    return Workspace(settings, database, blobs)


def _open_database(settings: Settings, upgrade: bool) -> Database:
    database = Database(settings.url)
    if opened := private.tighten(_confidential(settings, database)):
        names = ", ".join(str(path) for path in opened)
        _log.warning("Other users of this machine could read %s. Now only the owner can.", names)
    try:
        at, newest = migrate.current(database), migrate.head()
        if at is not None and at not in migrate.known_revisions():
            raise OtherSchema(
                f"The database has schema {at}, unknown to this version of Glossator (schema {newest}). "
                "Start the newer version, or restore an older backup."
            )
        if at != newest:
            if not upgrade:
                sentence = f"The database has schema {at}; this version needs {newest}. Run: glossator db upgrade"
                raise OtherSchema(sentence)
            migrate.upgrade(database)
    except BaseException:
        database.dispose()
        raise
    return database


def _confidential(settings: Settings, database: Database) -> Iterator[Path]:
    """Yield the private paths: data folder (or its subfolders, if shared or a home folder), and database."""
    folder = settings.data_dir.absolute()
    shared = folder in (Path.home(), Path(folder.anchor)) or folder.stat().st_mode & stat.S_ISVTX
    if not shared:
        yield folder
    yield from (folder / name for name in _FOLDERS)
    if file := sqlite_file(database.url):
        yield from (file.with_name(f"{file.name}{ending}") for ending in ("", "-wal", "-shm"))
