"""Settings, database and blobs, opened together and handed to every service."""

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
from engine import disk_reserve
from engine.deferred_writes import DeferredWrites
from engine.errors import Refused
from engine.large_work import SerialQueue
from engine.login_attempts import LoginAttempts
from engine.settings import Settings

_log = logging.getLogger(__name__)
_FOLDERS = ("blobs", "runs", "thumbnails", ".glossator-tmp")  # in the data folder


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a service works on. One a process."""

    settings: Settings
    database: Database
    blobs: BlobStore
    large_saves: SerialQueue = field(default_factory=SerialQueue, compare=False)
    deferred_writes: DeferredWrites = field(init=False)
    login_attempts: LoginAttempts = field(init=False, default_factory=LoginAttempts)

    def __post_init__(self) -> None:
        """What is put off goes into this very database."""
        object.__setattr__(self, "deferred_writes", DeferredWrites(self.database))

    def close(self) -> None:
        """Write what was put off, and close the database's connections."""
        self.deferred_writes.close()
        self.database.dispose()


def open_workspace(settings: Settings, *, upgrade: bool = True) -> Workspace:
    """Open what `settings` name; with `upgrade`, migrate the database first.

    What other users of the machine could read, of an earlier version or copied there, is its owner's alone from then on.
    Refused when the database is of a newer version, or the disk is too full to open it.
    """
    private.make_folder(settings.data_dir)
    try:
        database = _opened(settings, upgrade)
    except OperationalError as error:
        if shutil.disk_usage(settings.data_dir).free > disk_reserve.BYTES // 8:
            raise
        if not disk_reserve.give_up(settings.data_dir):
            raise Refused(
                f"The disk of {settings.data_dir} is full, and the database cannot be opened: make room."
            ) from error
        database = _opened(settings, upgrade)
    if database.dialect == "sqlite":
        disk_reserve.keep(settings.data_dir)
    blobs = BlobStore(settings.data_dir / "blobs")
    blobs.sweep()
    return Workspace(settings, database, blobs)


def _opened(settings: Settings, upgrade: bool) -> Database:
    database = Database(settings.url)
    if opened := private.tighten(_confidential(settings, database)):
        names = ", ".join(str(path) for path in opened)
        _log.warning("Other users of this machine could read %s; from now on only the owner can.", names)
    try:
        at, newest = migrate.current(database), migrate.head()
        if at is not None and at not in migrate.known():
            raise Refused(
                f"The database is at schema {at}, which this version of Glossator (schema {newest}) does not know; "
                "start the newer version, or restore an older backup."
            )
        if at != newest:
            if not upgrade:
                raise Refused(f"The database is at schema {at}, this version needs {newest}; run: glossator db upgrade")
            migrate.upgrade(database)
    except BaseException:
        database.dispose()
        raise
    return database


def _confidential(settings: Settings, database: Database) -> Iterator[Path]:
    """What nobody else may read: the data folder, or where that is everybody's, or somebody's home, what lies in it; and the database."""
    folder = settings.data_dir.absolute()
    shared = folder in (Path.home(), Path(folder.anchor)) or folder.stat().st_mode & stat.S_ISVTX
    if not shared:
        yield folder
    yield from (folder / name for name in _FOLDERS)
    if file := sqlite_file(database.url):
        yield from (file.with_name(f"{file.name}{ending}") for ending in ("", "-wal", "-shm"))
