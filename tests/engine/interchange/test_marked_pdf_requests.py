"""Marked PDFs over REST, by the client and on the command line."""

from pathlib import Path

import pymupdf
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from engine.cli import app
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.engine.commands.test_commands import last_line
from tests.support.accounts import here
from tests.support.factories import accept, line, make_document, make_project


def test_a_request_gets_a_pdf_as_a_download_with_the_accepted_answers(client: TestClient, tmp_path: Path) -> None:
    workspace = here(client)
    document = make_document(workspace, make_project(workspace).id, [line("Total 12.50")], name="a/b bill.png")
    accept(workspace, document, "What is due?", [1])
    answer = client.get(f"/api/documents/{document.id}/marked.pdf")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    assert answer.headers["content-disposition"] == f'attachment; filename="a-b-bill-{document.sha256[:16]}.pdf"'
    with pymupdf.open(stream=answer.content) as made:
        assert [annotation.info["content"] for annotation in made[0].annots()] == ["12.50"]
    assert client.get(f"/api/documents/{'0' * 32}/marked.pdf").status_code == 404


def test_a_command_writes_a_new_file_and_overwrites_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    workspace = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    document = make_document(workspace, create_project(workspace, "bills").id, [line("Total 12.50")], name="bill.png")
    accept(workspace, document, "What is due?", [1])
    workspace.close()
    command = ["documents", "marked", "bill.png", str(tmp_path / "out.pdf"), "--project", "bills", "--json"]
    made = CliRunner().invoke(app, command)
    assert made.exit_code == 0 and last_line(made)["from_images"] is True
    with pymupdf.open(tmp_path / "out.pdf") as opened:
        assert [annotation.info["title"] for annotation in opened[0].annots()] == ["What is due?"]
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 1 and "exists. Name a new file." in " ".join(again.output.split())
