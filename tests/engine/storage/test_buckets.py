"""Buckets: documents taken in by what is new, datasets exported into them and imported from them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from engine.errors import Refused
from engine.interchange import buckets
from engine.settings import Settings
from engine.storage.object_store import ObjectStore, objects_at
from engine.workspace import open_workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.factories import accept, bill, make_document, make_project

Run = Callable[..., Result]
pytestmark = pytest.mark.parametrize("settings", ["file", "s3"], indirect=True)  # as command lines share no memory


@pytest.fixture
def run(settings: Settings) -> Run:
    """Run `glossator` beside a bucket of each kind, whose files are in a folder of their own."""
    env = {"GLOSSATOR_DATA_DIR": str(settings.data_dir), "GLOSSATOR_BLOBS_OPTIONS": json.dumps(settings.blobs_options)}

    def call(*words: str) -> Result:
        return CliRunner().invoke(app, list(words), env=env)

    return call


@pytest.fixture
def bucket(settings: Settings) -> ObjectStore:
    return ObjectStore(settings.blobs, settings.blobs_options)


def figures(ended: Result) -> dict[str, object]:
    return dict(json.loads(ended.stdout.splitlines()[-1]))


def taken(ended: Result) -> tuple[object, ...]:
    told = figures(ended)
    return told["documents"], told["refused"], told["known"]


def test_of_a_bucket_only_what_is_new_is_read(
    run: Run, bucket: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(2):
        bucket.put_file(f"{at}/bill.pdf", pdf(tmp_path / f"{at}.pdf", f"Invoice number {at}"))
    bucket.put("notes.xyz", b"no document")
    assert taken(run("ingest", bucket.address, "--json")) == (2, 1, 0)
    fetched: list[str] = []
    fetch = ObjectStore.fetch

    def noting(self: ObjectStore, key: str, target: Path) -> None:
        fetched.append(key)
        fetch(self, key, target)

    monkeypatch.setattr(ObjectStore, "fetch", noting)
    again = run("ingest", bucket.address, "--json")
    assert again.exit_code == 0 and taken(again) == (0, 0, 3) and fetched == []
    bucket.put_file("0/bill.pdf", pdf(tmp_path / "changed.pdf", "A longer invoice, with another number"))
    bucket.put_file("2/bill.pdf", pdf(tmp_path / "2.pdf", "Invoice number 2"))
    assert taken(run("ingest", bucket.address, "--refused-again", "--json")) == (2, 1, 1)
    assert fetched == ["0/bill.pdf", "2/bill.pdf", "notes.xyz"]
    store, objects = objects_at(f"{bucket.address}/2/bill.pdf", bucket.options)
    assert [f"{store.address}/{line.key}" for line in objects] == [f"{bucket.address}/2/bill.pdf"]
    names = [line["name"] for line in figures(run("documents", "list", "--json"))["documents"]]  # type: ignore[attr-defined]
    assert names == ["bill.pdf"] * 4


def test_a_bucket_without_objects_is_refused(run: Run, bucket: ObjectStore) -> None:
    ended = run("ingest", f"{bucket.address}/nothing")
    assert ended.exit_code == 1 and "Nothing is at" in ended.output


def test_an_export_goes_into_a_bucket_and_comes_back(run: Run, bucket: ObjectStore, settings: Settings) -> None:
    workspace = open_workspace(settings.model_copy(update={"blobs": ""}))
    project = make_project(workspace, "bills")
    accept(workspace, make_document(workspace, project.id, [bill(1)]), "What is the total due?", [4])
    workspace.close()
    out = f"{bucket.address}/export"
    exported = run("export", out, "--project", "bills", "--format", "grounded", "--json")
    assert exported.exit_code == 0, exported.output
    assert figures(exported)["folder"] == out
    named = json.loads(b"".join(bucket.chunks("export/manifest.json")))["files"]
    keys = {line.key: line.bytes for line in bucket.list_objects("export")}
    assert keys.keys() == {f"export/{file['path']}" for file in named} | {"export/manifest.json"}
    assert all(keys[f"export/{file['path']}"] == file["bytes"] for file in named)
    full = run("export", out, "--project", "bills")
    assert full.exit_code == 1 and "is not empty" in full.output
    imported = figures(run("import", out, "--project", "copied", "--json"))
    assert (imported["documents"], imported["answers"]) == (1, 1)


def test_an_export_that_was_stopped_goes_on(
    bucket: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.json", "images/b.png", "manifest.json"):
        (tmp_path / "export" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "export" / name).write_text(name)
    put_file = ObjectStore.put_file
    written: list[str] = []

    def stopping(self: ObjectStore, key: str, source: Path) -> None:
        if key == "images/b.png" and not written.count(key):
            written.append(key)
            raise KeyboardInterrupt
        written.append(key)
        put_file(self, key, source)

    monkeypatch.setattr(ObjectStore, "put_file", stopping)
    with pytest.raises(KeyboardInterrupt):
        buckets.upload_export(bucket, tmp_path / "export", "f" * 64)
    keys = {line.key for line in bucket.list_objects()}
    assert "manifest.json" not in keys
    with pytest.raises(Refused, match="is not complete"), buckets.fetched_set(bucket.address, bucket.options):
        pass
    with pytest.raises(Refused, match="is not empty"):
        buckets.upload_export(bucket, tmp_path / "export", "e" * 64)
    assert buckets.upload_export(bucket, tmp_path / "export", "f" * 64) == 2
    assert written.count("a.json") == 1
    assert {line.key for line in bucket.list_objects()} == {"a.json", "images/b.png", "manifest.json"}
