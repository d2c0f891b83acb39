"""`glossator documents read-again` on a page whose words OCR reads as they are."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from tests.support import made_documents as made


def command(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_pages_are_read_again_by_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    assert command("ingest", made.text_pdf(tmp_path / "letter.pdf")).exit_code == 0
    result = command("documents", "read-again", "letter.pdf", "--page", 1, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout.strip().splitlines()[-1])
    assert said == {"pages": 1, "new": 0, "gone": 0, "answers": [], "not_read": []}
    shown = json.loads(command("documents", "show", "letter.pdf", "--json").stdout.strip().splitlines()[-1])
    assert [(page["words"], page["text_source"]) for page in shown["pages"]] == [(len(made.WORDS), "ocr")]


def test_a_page_without_its_document_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    result = command("documents", "read-again", "--page", 1)
    assert result.exit_code == 1 and "Name the document of this page." in result.output
