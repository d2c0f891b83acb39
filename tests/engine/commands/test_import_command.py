"""`glossator import` and `glossator export` as people call them: there and back in two commands."""

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from engine.cli import app
from engine.interchange.exports import export
from engine.workspace import Workspace

RUN = CliRunner()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder that commands use."""
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"


def test_what_was_exported_moves_to_another_machine_in_one_command(
    answered_on_file: tuple[Workspace, str], tmp_path: Path, elsewhere: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    done = RUN.invoke(app, ["import", "--project", "bills", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert "Created project 'bills'." in done.stderr and "There is no project" not in done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "format": "grounded",
        "documents": 2,
        "known": 0,
        "pages": 3,
        "read": 0,
        "answers": 3,
        "no_answer": 1,
        "proposals": 0,
        "lost": {},
        "bad": 0,
        "bad_entries": [],
    }
    again = RUN.invoke(app, ["import", "--format", "grounded", "--project", "bills", str(out)])
    assert "0 new documents (2 existed)" in again.output and "Created" not in again.output
    back = RUN.invoke(app, ["export", "--format", "yolo", "--project", "bills", str(tmp_path / "back")])
    assert back.exit_code == 0 and "Mean IoU of the exported masks: 0." in back.output


def test_the_command_says_what_was_left_out_and_why(elsewhere: Path, tmp_path: Path) -> None:
    Image.new("RGB", (200, 100), "white").save(tmp_path / "one.png")
    words = [{"text": "7", "box": [at, 10, at + 8, 20]} for at in (10, 40)]
    questions = [{"question_id": "q", "question": "How many?", "answers": [[0]]}]
    page = {"page_id": "one", "image": "one.png", "width": 200, "height": 100, "words": words, "questions": questions}
    page["answered"] = [{"status": "automatic"}]
    (tmp_path / "pages.jsonl").write_text(json.dumps(page) + "\n")
    done = RUN.invoke(app, ["import", "--format", "grounded", str(tmp_path)])
    assert "Left out: automatic answers (1)." in " ".join(done.output.split())


def test_a_set_that_is_wrong_makes_no_project(elsewhere: Path, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('{"page_id": "a"}\n')
    done = RUN.invoke(app, ["import", "--format", "grounded", "--project", "bills", str(tmp_path)])
    assert done.exit_code == 1 and "pages.jsonl, line 1" in done.output and "Nothing was imported." in done.output
    listed = RUN.invoke(app, ["export", "--project", "bills", str(tmp_path / "out")])
    assert listed.exit_code == 1 and "There is no project" in listed.output


def test_both_say_which_formats_there_are(elsewhere: Path, tmp_path: Path) -> None:
    taken = RUN.invoke(app, ["import", "--format", "tiff", str(tmp_path)])
    assert taken.exit_code == 1 and "choose from coco, grounded" in taken.output
