"""Upgrades from every schema, back again, and while people work with the version before."""

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from db import migrate
from db.session import Database
from db.tables import Revision
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.support.made_papers import bill_pdf
from tests.support.repository import ROOT
from tests.support.schema_samples import SCHEMAS, known_of, unpack_schema
from tests.support.server_process import Served
from tests.support.upgraded import assert_is_whole, rows_of
from tests.support.waiting import wait_until

pytestmark = pytest.mark.migrates


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_database_of_each_schema_is_upgraded_and_goes_back(
    schema: str, empty_database_url: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=empty_database_url, _env_file=None)
    unpack_schema(schema, settings)
    workspace = open_workspace(settings)
    assert_is_whole(workspace, known_of(schema))
    written = {"pages": 1, "words": 9, "annotations": 3, "documents": 1, "revisions": 0}
    written["revisions"] = known_of(schema)["rows"]["revisions"] + 1  # of assert_is_whole
    migrate.downgrade(workspace.database, schema)
    assert rows_of(workspace, list(written)) == written
    migrate.upgrade(workspace.database)
    assert rows_of(workspace, list(written)) == written
    assert migrate.differences(workspace.database) == []
    workspace.close()


@pytest.fixture
def previous(tmp_path: Path) -> Iterator[Path]:
    """The newest code of the schema before this one, checked out."""
    [newest] = (ROOT / "migrations/versions").glob(f"{migrate.head()}_*.py")
    added = _git("log", "--diff-filter=A", "--format=%H", "-1", "--", str(newest.relative_to(ROOT)))
    folder = tmp_path / "previous"
    if not added or _git("worktree", "add", "--detach", str(folder), f"{added}^") is None:
        pytest.skip("There is no history of git that holds the version before the newest migration.")
    yield folder
    _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> str | None:
    """Return what git says; None where it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


class Annotator:
    """A person who saves one answer again and again, and asks questions, by REST.

    Attributes:
        acknowledged: numbers of the revisions that a server has acknowledged.
        failures: what else servers said.
    """

    def __init__(self, address: str, document: str, question: str) -> None:
        self.address, self.document, self.question = address, document, question
        self.acknowledged: list[int] = []
        self.failures: list[str] = []
        asked = call(address, "POST", f"documents/{document}/ask", {"question": question})
        self.annotation: str = asked["id"]
        [self.page] = (page["id"] for page in call(address, "GET", f"documents/{document}")["pages"])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def saves(self, number: int) -> Callable[[], bool]:
        """Return whether it has saved so often from now on."""
        wanted = len(self.acknowledged) + number
        return lambda: len(self.acknowledged) >= wanted or bool(self.failures)

    def stop(self) -> None:
        """End its work."""
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopped.is_set():
            base = max(self.acknowledged, default=0)
            change = {"add": [base % 5]} if base % 2 else {"remove": [(base - 1) % 5]}
            request = {
                "idempotency_key": uuid.uuid4().hex,
                "base": base,
                "action": "accept" if base % 3 == 0 else "edit",
                "edits": [{"op": "words", "page": self.page, **change}],
            }
            try:
                saved = call(self.address, "PUT", f"annotations/{self.annotation}/revisions", request)
                self.acknowledged.append(saved["revision"])
                if base % 4 == 0:
                    call(
                        self.address, "POST", f"documents/{self.document}/ask", {"question": f"{self.question} {base}"}
                    )
            except urllib.error.HTTPError as error:
                self.failures.append(f"{error.code} {error.read().decode()[:500]}")
                return


def call(address: str, method: str, path: str, body: Any = None) -> Any:
    """Return what a server answers to a request by REST. Raises HTTPError."""
    request = urllib.request.Request(f"{address}/api/{path}", method=method)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, None if body is None else json.dumps(body).encode(), timeout=120) as answer:
        return json.loads(answer.read())


def upload(address: str, project: str, content: bytes) -> str:
    """Add a PDF to a project by REST; return the id of its document."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="bill.pdf"\r\n'
    body = head.encode() + b"Content-Type: application/pdf\r\n\r\n" + content + f"\r\n--{boundary}--\r\n".encode()
    request = urllib.request.Request(f"{address}/api/projects/{project}/documents", body, method="POST")
    request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return str(json.loads(answer.read())["documents"][0]["document_id"])


def test_people_save_and_ask_by_the_version_before_while_this_one_migrates(
    previous: Path, empty_database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    shared = {"GLOSSATOR_DATA_DIR": str(tmp_path / "data"), "GLOSSATOR_DATABASE_URL": empty_database_url}
    old = Served(tmp_path / "old", {**shared, "PYTHONPATH": str(previous)})
    new = Served(tmp_path / "new", shared)
    people: list[Annotator] = []
    try:
        old.start()
        [project] = (project["id"] for project in call(old.address, "GET", "projects"))
        document = upload(old.address, project, bill_pdf(7))
        ann = Annotator(old.address, document, "What is the total?")
        people.append(ann)
        wait_until(ann.saves(5))
        command = [sys.executable, "-m", "engine.cli", "db", "upgrade"]
        done = subprocess.run(command, cwd=tmp_path, env=new.environment, capture_output=True, text=True, check=True)
        assert f"schema {migrate.head()}" in done.stdout
        wait_until(ann.saves(10))
        new.start()
        ben = Annotator(new.address, document, "Who is the customer?")
        people.append(ben)
        wait_until(ann.saves(10))
        wait_until(ben.saves(10))
        ann.stop()
        old.stop()
        wait_until(ben.saves(5))
        ben.stop()
        assert [person.failures for person in people] == [[], []]
        seen = call(new.address, "GET", f"annotations/{ann.annotation}")
        assert seen["head"] == max(ann.acknowledged)
    finally:
        for person in people:
            person.stop()
        old.stop()
        new.stop()
    database = Database(empty_database_url)
    with database.read() as session:
        for person in people:
            chosen = select(Revision.number).where(Revision.annotation_id == person.annotation)
            assert set(session.scalars(chosen)) >= set(person.acknowledged)
    database.dispose()
    check = [sys.executable, "-m", "engine.cli", "check"]
    checked = subprocess.run(check, cwd=tmp_path, env=new.environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout[-3000:]
