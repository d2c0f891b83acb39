"""Backups of a real server while eight people work, some of them killed: each is restored elsewhere with all it must have."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select, text, update

from db.tables import Document, Revision
from engine import leases
from engine.lifecycle.backup_folder import BackupFolder
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.growth.project import grow
from tests.long.test_killed_saves import own_database
from tests.support.accounts import cookie_of, make_user
from tests.support.installation import path_with_postgresql
from tests.support.retrying_writers import Writer, wait_for_more
from tests.support.server_process import Served
from tests.support.waiting import wait_until

WRITERS = 8
DOCUMENTS = 300
BACKUPS = 5
KILLS = 3


@dataclass
class House:
    """A server with people at work, and its backups."""

    served: Served
    workspace: Workspace
    people: list[Writer]
    folder: Path

    def command(self, *words: str, **environment: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "engine.cli", *words]
        variables = {**self.served.environment, "PATH": path_with_postgresql(), **environment}
        return subprocess.Popen(
            command, env=variables, cwd=self.served.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def run(self, *words: str, **environment: str) -> str:
        """Run a command that must end well, and return what it printed."""
        process = self.command(*words, **environment)
        printed, _ = process.communicate()
        assert process.returncode == 0, printed
        return printed

    def acknowledged(self) -> set[str]:
        return {key for person in self.people for key in list(person.acknowledged)}


@contextmanager
def at_work(folder: Path, kind: str) -> Iterator[House]:
    """Eight people who answer tasks until the block ends."""
    over = threading.Event()
    with own_database(kind) as address:
        served = Served(folder, {"GLOSSATOR_AUTH": "login", "GLOSSATOR_DATABASE_URL": address})
        settings = Settings(data_dir=served.data, database_url=address, auth="login", _env_file=None)
        with closing(open_workspace(settings)) as workspace:
            grown = grow(workspace, DOCUMENTS)
            with workspace.database.write() as session:
                documents = session.scalars(select(Document.id)).all()
                contents = {document: workspace.blobs.put(document.encode() * 2000) for document in documents}
                session.execute(
                    update(Document), [{"id": document, "sha256": sha256} for document, sha256 in contents.items()]
                )
                pages = session.execute(text("SELECT document_id, id FROM pages WHERE number = 1"))
                first: dict[str, str] = dict(pages.tuples().all())
            users = [
                make_user(workspace, f"writer {number}", **{grown.project: "annotator"}) for number in range(WRITERS)
            ]
            served.start()
            people = [Writer(served.address, grown.project, cookie_of(workspace, user), first, over) for user in users]
            threads = [threading.Thread(target=person.work, daemon=True) for person in people]
            for thread in threads:
                thread.start()
            try:
                wait_for_more(people, 50, threads)
                yield House(served, workspace, people, folder / "backups")
                wait_for_more(people, 20, threads)
            finally:
                over.set()
                for thread in threads:
                    thread.join()
                served.stop()
        assert not [failure for person in people for failure in person.failures]


def restored(house: House, name: str, place: Path, kind: str) -> tuple[set[str], Any]:
    """Restore a backup and check it; return the keys of its revisions, and what the check printed."""
    with own_database(kind) as address:
        environment = {"GLOSSATOR_DATA_DIR": str(place), "GLOSSATOR_DATABASE_URL": address}
        house.run("restore", str(house.folder), "--backup", name, **environment)
        checked = json.loads(house.run("check", "--read-files", "--json", **environment).splitlines()[-1])
        settings = Settings(data_dir=place, database_url=address, _env_file=None)
        with closing(open_workspace(settings)) as workspace, workspace.database.read() as session:
            return set(session.scalars(select(Revision.idempotency_key))), checked


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_every_backup_during_work_has_what_was_acknowledged_before_it(tmp_path: Path, kind: str) -> None:
    required: dict[str, set[str]] = {}
    with at_work(tmp_path, kind) as house:
        for _ in range(BACKUPS):
            before = house.acknowledged()
            printed = house.run("backup", str(house.folder), "--json")
            required[json.loads(printed.splitlines()[-1])["backup"].rpartition("/")[2]] = before
        worked = house.acknowledged()
        for number, (name, before) in enumerate(required.items()):
            keys, checked = restored(house, name, tmp_path / f"restored {number}", kind)
            assert before <= keys, f"{len(before - keys)} acknowledged revisions are missing"
            assert checked["files"]["missing"] == checked["files"]["damaged"] == checked["database"] == []
    assert len(worked) > len(required[min(required)]) >= 50, "people worked during the backups"
    sizes = [len(before) for before in required.values()]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_killed_backups_leave_the_earlier_one_whole(tmp_path: Path, kind: str) -> None:
    rng = Random(5)
    with at_work(tmp_path, kind) as house:
        before = house.acknowledged()
        house.run("backup", str(house.folder))
        [first] = BackupFolder(house.folder).names()
        for _ in range(KILLS):
            process = house.command("backup", str(house.folder), "--read-again")
            wait_until(lambda: list(house.folder.glob(".new-*")) or process.poll() is not None)  # noqa: B023
            threading.Event().wait(rng.random() * 0.2)  # any moment of the copying
            process.kill()
            process.communicate()
            assert BackupFolder(house.folder).names()[:1] == [first]
            house.run("restore", str(house.folder), "--backup", first, "--check")
            with house.workspace.database.write() as session:  # as its clock does after a minute and a half
                leases.release(session, "blobs")
        house.run("backup", str(house.folder))
        assert not list(house.folder.glob(".new-*"))
        keys, checked = restored(house, first, tmp_path / "restored", kind)
        assert before <= keys and checked["files"]["missing"] == []
