"""All blobs of a store: moved to another one, checked, and deleted where nothing names them."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner, Result

from db.blobs import BlobFolder, StoredBlob
from db.tables import AuditEntry, Document, ModelVersion, Page
from engine.cli import app
from engine.datasets.snapshots import freeze
from engine.models import registry
from engine.storage import whole_store
from engine.storage.named_blobs import named_blobs
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.factories import accept, bill, make_document, make_project

Run = Callable[..., Result]


def contents(blobs: BlobFolder) -> dict[str, bytes]:
    return {line.sha256: blobs.read(line.sha256) for line in blobs.list_blobs()}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `glossator` with a data folder of its own, and one document in it."""

    def call(*words: str, **names: str) -> Result:
        env = {"GLOSSATOR_DATA_DIR": str(tmp_path / "data"), **names}
        return CliRunner().invoke(app, list(words), env=env)

    assert call("ingest", str(pdf(tmp_path / "bill.pdf", "Invoice number 77"))).exit_code == 0
    return call


def figures(ended: Result) -> dict[str, object]:
    return dict(json.loads(ended.stdout.splitlines()[-1]))


def files(ended: Result) -> dict[str, object]:
    return dict(json.loads(ended.stdout.splitlines()[-1])["files"])


class Stopped(Exception):
    pass


def test_a_move_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    source, target = BlobFolder(tmp_path / "source"), BlobFolder(tmp_path / "target")
    for number in range(60):
        source.put(os.urandom(1000 + number))
    copied: list[StoredBlob] = []

    def stop(blob: StoredBlob) -> None:
        copied.append(blob)
        if len(copied) == 20:
            raise Stopped

    with pytest.raises(Stopped):
        whole_store.move(source, target, stop)
    before = len(contents(target))
    assert 20 <= before < 60
    moved = whole_store.move(source, target)
    assert (moved.copied, moved.known, moved.damaged) == (60 - before, before, [])
    assert contents(target) == contents(source) and len(contents(source)) == 60
    assert whole_store.move(source, target).copied == 0


def test_a_move_leaves_a_damaged_file_and_replaces_one_cut_off(tmp_path: Path) -> None:
    source, target = BlobFolder(tmp_path / "source"), BlobFolder(tmp_path / "target")
    names = [source.put(f"page {number}".encode()) for number in range(3)]
    source.path(names[0]).write_bytes(b"page X")
    target.put(b"page 1")
    moved = whole_store.move(source, target)
    assert moved.damaged == [names[0]] and moved.copied == 1
    assert contents(target) == {names[1]: b"page 1", names[2]: b"page 2"}


def test_files_move_to_an_object_store_and_back(run: Run, tmp_path: Path) -> None:
    address = f"file://{tmp_path}/bucket"
    before = contents(BlobFolder(tmp_path / "data" / "blobs"))
    moved = figures(run("blobs", "move", address, "--json"))
    assert moved["copied"] == len(before) > 1 and moved["to"] == address
    (tmp_path / "data" / "blobs").rename(tmp_path / "old")
    there = {"GLOSSATOR_BLOBS": address}
    checked = run("check", "--read-files", "--json", **there)
    assert checked.exit_code == 0 and files(checked)["blobs"] == len(before)
    assert run("blobs", "move", address, **there).exit_code == 1  # it is there
    assert figures(run("blobs", "move", "folder", "--json", **there))["copied"] == len(before)
    assert contents(BlobFolder(tmp_path / "data" / "blobs")) == before


def test_a_check_names_damaged_and_missing_files(run: Run, tmp_path: Path) -> None:
    assert run("check", "--read-files").exit_code == 0
    blobs = BlobFolder(tmp_path / "data" / "blobs")
    first, second, *_ = (line.sha256 for line in blobs.list_blobs())
    blobs.path(first).write_bytes(b"x" * (blobs.size(first) or 0))
    blobs.remove(second)
    ended = run("check", "--read-files", "--json")
    assert ended.exit_code == 1
    assert (files(ended)["damaged"], files(ended)["missing"]) == ([first], [second])
    assert files(run("check", "--json"))["damaged"] == []
    output = run("check", "--read-files").output
    assert f"{first}: damaged" in output and f"{second}: missing" in output
    assert run("check", "--project", "default").exit_code == 0  # files belong to no project


def test_a_check_names_damage_of_the_database_and_of_followers(run: Run, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "glossator.db")) as connection:
        connection.execute("UPDATE pages SET document_id = 'gone'")
        connection.execute("UPDATE followers SET cursor = 99999 WHERE name = (SELECT min(name) FROM followers)")
        connection.commit()
    ended = run("check", "--json")
    assert ended.exit_code == 1
    [fault], [follower] = (json.loads(ended.stdout.splitlines()[-1])[name] for name in ("database", "followers"))
    assert fault == "rows of pages name rows of documents that do not exist"
    assert "is at change 99999; the newest is" in follower
    assert f"The database is damaged: {fault}. Restore a backup." in run("check").output


def test_cleanup_deletes_old_files_that_nothing_names_and_no_others(run: Run, tmp_path: Path) -> None:
    blobs = BlobFolder(tmp_path / "data" / "blobs")
    named = contents(blobs)
    old, new = blobs.put(b"of nobody"), blobs.put(b"its row follows")
    for name in (*named, old):
        os.utime(blobs.path(name), (1e9, 1e9))
    looked = run("blobs", "cleanup", "--json")
    assert figures(looked) == {"deleted": False, "blobs": 1, "bytes": 9} and old in blobs
    assert figures(run("blobs", "cleanup", "--yes", "--json"))["blobs"] == 1
    assert old not in blobs and new in blobs
    assert contents(blobs) == named | {new: b"its row follows"}
    assert "deleted 1 files that nothing named" in run("audit").stdout


def test_all_files_of_snapshots_models_and_documents_are_named(sqlite_workspace: Workspace) -> None:
    workspace = sqlite_workspace
    project = make_project(workspace, "p")
    document = make_document(workspace, project.id, [bill(1), bill(2)])
    accept(workspace, document, "What is the total due?", [4])
    registry.ensure_shipped(workspace)
    frozen = freeze(workspace, project.id)
    with workspace.database.read() as session:
        named = {name.hex() for name in named_blobs(session, workspace.blobs)}
        direct = {frozen.sha256, *session.scalars(select(Document.sha256)), *session.scalars(select(Page.image_sha256))}
        direct |= set(session.scalars(select(ModelVersion.checkpoint_sha256)))
    stored = {line.sha256 for line in workspace.blobs.list_blobs()}
    assert direct <= named and stored <= named
    assert stored - direct, "the snapshot has parts and words, which its head alone names"


def test_a_hash_in_any_other_json_counts_as_a_name(sqlite_workspace: Workspace) -> None:
    name = sqlite_workspace.blobs.put(b"of a run")
    with sqlite_workspace.database.write() as session:
        session.add(AuditEntry(actor_id=None, action="x", subject="x", details={"deep": [{"in": name}]}))
    with sqlite_workspace.database.read() as session:
        assert bytes.fromhex(name) in named_blobs(session, sqlite_workspace.blobs)
