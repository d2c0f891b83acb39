"""A new SQLite database is a copy of one at the schema of now: migrating one from nothing takes longer than most tests.

Each process of tests migrates one from nothing, the one that is copied. Tests of how a database comes to be use the
mark `migrates`.
"""

from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from db.session import Database, sqlite_file
from engine import workspace
from engine.settings import Settings


class _Copies:
    used = True


@pytest.fixture(scope="session", autouse=True)
def _copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Copies]:
    """Copy the database of a workspace that is opened first."""
    copies, really_open = _Copies(), workspace._open_database
    migrated: list[bytes] = []

    def open_database(settings: Settings, upgrade: bool) -> Database:
        file = sqlite_file(make_url(settings.url))
        if copies.used and upgrade and file is not None and file.parent.is_dir() and not file.exists():
            if not migrated:
                first = tmp_path_factory.mktemp("schema") / "glossator.db"
                really_open(Settings(data_dir=first.parent, _env_file=None), True).dispose()
                migrated.append(first.read_bytes())
            file.touch(0o600)
            file.write_bytes(migrated[0])
        return really_open(settings, upgrade)

    workspace._open_database = open_database
    yield copies
    workspace._open_database = really_open


@pytest.fixture(autouse=True)
def _migrates(request: pytest.FixtureRequest, _copies: _Copies) -> None:
    """Migrate from nothing, where a test says so."""
    _copies.used = request.node.get_closest_marker("migrates") is None
