"""Settings, database and blobs, opened together and handed to every service."""

from dataclasses import dataclass

from db import migrate
from db.blobs import BlobStore
from db.session import Database
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
    """Open what `settings` name; with `upgrade`, migrate the database first. Refused when the database is of a newer version."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    database = Database(settings.url)
    at, newest = migrate.current(database), migrate.head()
    if at is not None and at not in migrate.known():
        database.dispose()
        raise Refused(
            f"The database is at schema {at}, which this version of Glossator (schema {newest}) does not know; "
            "start the newer version, or restore an older backup."
        )
    if at != newest:
        if not upgrade:
            database.dispose()
            raise Refused(f"The database is at schema {at}, this version needs {newest}; run: glossator db upgrade")
        migrate.upgrade(database)
    return Workspace(settings, database, BlobStore(settings.data_dir / "blobs"))
