"""`glossator predictions import`: each line proposes answers for one document; a wrong line stores nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner, Result

from db.tables import OutsideAnswer
from engine.cli import app
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.support.factories import bill, make_document, make_project


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    opened = open_workspace(Settings())
    make_document(opened, make_project(opened).id, [bill(1)], name="first.png")
    yield opened
    opened.close()


def import_lines(*lines: object) -> Result:
    Path("predictions.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    words = ["predictions", "import", "predictions.jsonl", "--project", "bills", "--json"]
    return CliRunner().invoke(app, words)


def line(document: str, **prediction: str) -> dict[str, object]:
    return {
        "document": document,
        "model": "reader",
        "predictions": [{"question": "What is the total due?"} | prediction],
    }


def stored(workspace: Workspace) -> int:
    with workspace.database.read() as session:
        return session.scalar(select(func.count()).select_from(OutsideAnswer)) or 0


def test_a_file_of_predictions_becomes_proposals(workspace: Workspace) -> None:
    lines = line("first.png", text="11.50"), line("first.png", text="nowhere at all")
    result = import_lines(*lines)
    assert result.exit_code == 0, result.output
    counted = json.loads(result.stdout.strip().splitlines()[-1])
    assert counted == {"proposed": 1, "answered": 0, "not_found": 1}
    assert stored(workspace) == 1


def test_a_wrong_line_or_an_unknown_document_stores_nothing(workspace: Workspace) -> None:
    for wrong, sentence in (
        (line("second.png", text="11.50"), "no document 'second.png'"),
        ({"document": "first.png", "model": "reader"}, "line 2: predictions"),
        ([1], "line 2"),
    ):
        result = import_lines(line("first.png", text="11.50"), wrong)
        assert result.exit_code == 1 and sentence in " ".join(result.output.split()), result.output
    assert stored(workspace) == 0
