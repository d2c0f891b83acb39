"""Files that are sent under names of every kind: taken under a name that is safe, or refused in a sentence."""

import shutil
import tempfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.interchange.exports import export
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.accounts import here
from tests.support.factories import accept, line, make_document, make_project

NAMES = {
    "the folder above": b"..",
    "the folder": b".",
    "nothing": b"",
    "300 letters": b"x" * 300 + b".zip",
    "300 letters of three bytes": "あ".encode() * 300,
    "a zero": b"a\0b.zip",
    "folders": b"../../a.zip",
    "other folders": b"..\\\\..\\\\..",
    "an absolute path": b"/etc/passwd",
    "control characters": b"a\x01\x1b[31m.zip",
    "letters turned round": "a\u202epiz.exe".encode(),
    "half a character": b"a\xed\xa0\x80.zip",
    "no UTF-8": b"\xff\xfe.zip",
    "blanks": b"   ",
}
BOUNDARY = b"----line"


def send(client: TestClient, path: str, field: bytes, name: bytes, content: bytes):
    """Send a file under a name of these very bytes."""
    head = b'--%b\r\nContent-Disposition: form-data; name="%b"; filename="%b"\r\n\r\n' % (BOUNDARY, field, name)
    return client.post(
        path,
        content=head + content + b"\r\n--%b--\r\n" % BOUNDARY,
        headers={"content-type": f"multipart/form-data; boundary={BOUNDARY.decode()}"},
    )


def harmless(name: str) -> bool:
    return len(name.encode()) <= 255 and not set(name) & set("/\\\0\u202e\x01\x1b") and name.strip(".") != ""


def test_imports_under_names_of_every_kind_come_in_or_are_refused_in_a_sentence(
    client: TestClient, answered_on_file: tuple[Workspace, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out)).read_bytes()
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(aside))
    project = project_named(here(client), DEFAULT_NAME).id
    for kind, name in NAMES.items():
        for query in ("", "?progress=true"):
            said = send(client, f"/api/projects/{project}/import{query}", b"file", name, packed)
            assert said.status_code in (200, 400, 422), (kind, said.text)
            assert "server failed" not in said.text, (kind, said.text)
            assert said.status_code == 200 or said.json()["detail"], kind
            assert not list(aside.iterdir()), kind
        bad = send(client, f"/api/projects/{project}/import", b"file", name, b"no set")
        assert bad.status_code in (400, 422) and bad.json()["detail"], kind


def test_documents_under_names_of_every_kind_are_stored_under_safe_ones(client: TestClient, tmp_path: Path) -> None:
    project = project_named(here(client), DEFAULT_NAME).id
    address = f"/api/projects/{project}/documents"
    for number, (kind, name) in enumerate(NAMES.items()):
        content = pdf(tmp_path / f"{number}.pdf", f"Page {number}").read_bytes()
        said = send(client, address, b"files", name, content)
        assert said.status_code in (200, 400, 422), (kind, said.text)
        if said.status_code == 200:
            assert all(harmless(one["name"]) for one in said.json()["documents"]), (kind, said.text)
    assert all(harmless(one["name"]) for one in client.get(address).json())


def test_a_project_is_exported_whatever_it_is_called(client: TestClient) -> None:
    workspace = here(client)
    for name in ("あ" * 100, "../" * 30, "🙂" * 50, "...", "a b/c\\d"):
        project = make_project(workspace, name)
        accept(workspace, make_document(workspace, project.id, [line("Total due: 7.00")]), "What is the total?", [2])
        said = client.get(f"/api/projects/{project.id}/export", params={"format": "csv"})
        assert said.status_code == 200, said.text
        named = said.headers["content-disposition"]
        assert named.startswith("attachment; filename") and len(named) < 800 and not set(named) & set("/\\\n\r")
    for odd in ("..", "x" * 300, "a\0b", "%", "\u202e"):
        for parameters in ({"format": odd}, {"snapshot": odd}):
            wrong = client.get(f"/api/projects/{project.id}/export", params=parameters)
            assert wrong.status_code in (404, 422) and wrong.json()["detail"], (odd, wrong.text)
