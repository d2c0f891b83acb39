"""An installation with documents and answers, and the programs of PostgreSQL."""

from pathlib import Path

import pytest

from engine.settings import Settings
from engine.workspace import Workspace
from tests.conftest import fresh_database
from tests.support.factories import bill, make_document, make_project
from tests.support.installation import Installation, path_with_postgresql


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of the PostgreSQL that tests start: of the version that its server has."""
    monkeypatch.setenv("PATH", path_with_postgresql())


@pytest.fixture
def installation(workspace: Workspace, tmp_path: Path, request: pytest.FixtureRequest) -> Installation:
    """Documents and answers on each kind of database, and an empty one of the same kind."""
    url = ""
    if workspace.database.dialect == "postgresql":
        request.getfixturevalue("programs")
        url = fresh_database(request.getfixturevalue("postgresql_address"))
    new = Settings(data_dir=tmp_path / "new", database_url=url, _env_file=None)
    made = Installation(workspace, tmp_path / "backups", new)
    make_project(workspace, "bills")
    made.add_document(1)
    return made


@pytest.fixture
def sqlite_installation(sqlite_workspace: Workspace, tmp_path: Path) -> Installation:
    """A document on SQLite alone, and an empty place."""
    make_document(sqlite_workspace, make_project(sqlite_workspace, "bills").id, [bill(1)])
    return Installation(sqlite_workspace, tmp_path / "backups", Settings(data_dir=tmp_path / "new", _env_file=None))
