"""Settings, database and blobs, opened together and handed to every service."""

import shutil
from dataclasses import dataclass

from sqlalchemy.exc import OperationalError

from db import migrate
from db.blobs import BlobStore
from db.session import Database
from engine import reserve
from engine.errors import Refused
from engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a service works on. One a process."""

    settings: Settings
    database: Database
    blobs: BlobStore

    def close(self) -> None:
        """Close the database's connections."""
        self.database.dispose()


def open_workspace(settings: Settings, *, upgrade: bool = True) -> Workspace:
    """Open what `settings` name; with `upgrade`, migrate the database first.

    Refused when the database is of a newer version, or the disk is too full to open it.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    try:
        database = _opened(settings, upgrade)
    except OperationalError as error:
        if shutil.disk_usage(settings.data_dir).free > reserve.BYTES // 8:
            raise
        if not reserve.give_up(settings.data_dir):
            raise Refused(
                f"The disk of {settings.data_dir} is full, and the database cannot be opened: make room."
            ) from error
        database = _opened(settings, upgrade)
    if database.dialect == "sqlite":
        reserve.keep(settings.data_dir)
    return Workspace(settings, database, BlobStore(settings.data_dir / "blobs"))


def _opened(settings: Settings, upgrade: bool) -> Database:
    database = Database(settings.url)
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
