"""PostgreSQL behind PgBouncer in transaction mode, and processes that start together."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import func, select, text

from db import migrate
from db.session import Database
from db.tables import ModelVersion, Page, Project
from engine.accounts.login_throttle import FREE_FAILURES_PAIR
from engine.accounts.sessions import log_in
from engine.accounts.users import add_user
from engine.errors import TooMany
from engine.followers import catch_up
from engine.jobs import queue
from engine.settings import Settings
from engine.tasks.opening import task_changes
from engine.workspace import Workspace, open_workspace
from tests.conftest import fresh_database
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.pgbouncer import pooled
from tests.support.repository import ROOT

PASSWORD = "correct horse battery"


@pytest.fixture
def behind_pooler(postgresql_address: str, migrated_database: str, tmp_path: Path) -> Iterator[Workspace]:
    with pooled(fresh_database(postgresql_address, migrated_database)) as address:
        opened = open_workspace(Settings(data_dir=tmp_path / "data", database_url=address, _env_file=None))
        yield opened
        opened.close()


@pytest.mark.postgresql
def test_transactions_may_each_run_on_another_connection(behind_pooler: Workspace) -> None:
    """Many more threads than connections of the pooler; each asks the same statements often enough to prepare them."""
    database = behind_pooler.database
    project = make_project(behind_pooler)
    documents = [make_document(behind_pooler, project.id, [bill(1)]) for _ in range(3)]

    def work(number: int) -> int:
        for turn in range(12):
            with database.write() as session:
                session.add(Project(name=f"project {number} {turn}"))
            with database.snapshot_read() as session:
                assert session.scalar(select(func.count(Project.id))) == session.scalar(select(func.count(Project.id)))
            with database.autocommit_read() as session:
                assert session.scalar(select(func.count(Page.id))) is not None
        return number

    with ThreadPoolExecutor(12) as threads:
        assert sum(threads.map(work, range(12))) == 66
    with database.read() as session:
        assert session.scalar(select(func.count(Project.id))) == 1 + 12 * 12
    job = queue.enqueue(behind_pooler, "read")
    leased = queue.lease(behind_pooler, "a worker", ["read"])
    assert leased is not None and leased.id == job.id
    for document in documents:
        accept(behind_pooler, document, "What is the total?", [1])
    catch_up(behind_pooler)
    task_changes.go_on(behind_pooler)


@pytest.mark.postgresql
def test_prepared_statements_would_fail_behind_the_pooler(behind_pooler: Workspace) -> None:
    """Otherwise the test above would pass whatever the program does."""
    address = behind_pooler.database.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def work(_: int) -> None:
        with psycopg.connect(address) as connection:
            for number in range(40):
                connection.execute("SELECT count(*) FROM projects WHERE name <> %s", [str(number)])
                connection.commit()

    with ThreadPoolExecutor(6) as threads, pytest.raises(psycopg.errors.Error, match="prepared statement"):
        list(threads.map(work, range(6)))


@pytest.mark.postgresql
def test_statements_are_prepared_without_a_pooler(postgresql_address: str) -> None:
    database = Database(postgresql_address)
    with database.read() as session:
        raw = session.connection().connection.driver_connection
        assert isinstance(raw, psycopg.Connection) and raw.prepare_threshold == 5
    database.dispose()


def test_processes_that_start_together_make_one_schema(empty_database_url: str, tmp_path: Path) -> None:
    """Two web processes of two machines, each with an empty database before it."""
    start = (
        "from annotator.app import create_app; from engine.settings import Settings; import sys;"
        "create_app(Settings(data_dir=sys.argv[1], database_url=sys.argv[2], _env_file=None), with_page=False)"
    )
    command = [sys.executable, "-c", start, str(tmp_path / "data"), empty_database_url]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    endings = [(process.communicate()[1], process.returncode) for process in started]
    assert [code for _, code in endings] == [0, 0], endings
    database = Database(empty_database_url)
    assert migrate.current(database) == migrate.head()
    with database.read() as session:
        assert session.scalar(select(func.count(Project.id))) == 1
        assert session.scalar(select(func.count(ModelVersion.id))) == 1
        assert session.scalar(text("SELECT count(*) FROM users")) == 1
    database.dispose()


def test_wrong_passwords_at_one_process_count_at_another(workspace: Workspace) -> None:
    add_user(workspace, "ann", PASSWORD, "annotator")
    other = open_workspace(workspace.settings)
    for _ in range(FREE_FAILURES_PAIR):
        assert log_in(workspace, "ann", "wrong", client="", address="10.0.0.9") is None
    workspace.deferred_writes.flush()
    with pytest.raises(TooMany):
        log_in(other, "ann", PASSWORD, client="", address="10.0.0.9")
    other.close()
