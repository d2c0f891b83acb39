"""One file adds an export format: "Add an export format" in docs/architecture.md."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

# The whole module of a new format, as engine/interchange/formats/answer_list.py.
MODULE = r'''
"""A list of the answered questions, a line each."""

from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import Release


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write answers.txt."""
    counts = {"answers": 0}
    with to.text("answers.txt") as file:
        for _, items in release.documents():
            for item in items:
                file.write(f"{item.question}\n")
                counts["answers"] += 1
                tick()
    return Outcome(counts)


FORMATS = (Format("answer-list", "List of answers", write, lossy="Questions only.", pages=False),)
'''
# Where people meet a format, asked of an installation that has the module.
ASKED = """
import json, sys
from pathlib import Path

import gradio
from typer import Context
from typer.main import get_command

from annotator.app import create_app
from annotator.routes.exports import formats
from annotator.ui import documents, export
from engine.cli import app
from engine.interchange import exports
from engine.settings import Settings
from tests.support.factories import accept, bill, make_document, make_project

folder = Path(sys.argv[1])
server = create_app(Settings(data_dir=folder / "data", _env_file=None), with_page=False)
service = server.state.answer_service
with gradio.Blocks() as page:
    export.build(service)
choices = [part.choices for part in page.blocks.values() if getattr(part, "label", "") == "Format"]
routes = server.openapi()["paths"]
group = get_command(app)
helps = {
    command: [part.help for part in group.get_command(Context(group), command).params if part.name == "form"]
    for command in ("export", "import")
}
described = {
    path: [part["description"] for part in routes[f"/api/projects/{{project_id}}/{path}"][method]["parameters"]
           if part["name"] == "format"]
    for path, method in (("export", "get"), ("exports", "post"), ("import", "post"))
}
project = make_project(service.workspace)
accept(service.workspace, make_document(service.workspace, project.id, [bill(1)]), "What is the total due?", [4])
written = exports.export(service.workspace, project.id, "answer-list", folder / "out")
print(json.dumps({
    "choices": choices, "helps": helps, "described": described,
    "listed": [view.name for view in formats("")],
    "import form": documents.import_form(project.id), "counts": written.counts,
}))
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The source of Glossator with one more file."""
    folder = tmp_path / "source"
    formats = folder / "engine" / "interchange" / "formats"
    formats.mkdir(parents=True)
    for inner in (Path(), Path("engine"), Path("engine/interchange"), Path("engine/interchange/formats")):
        for path in (ROOT / inner).iterdir():
            if not (folder / inner / path.name).exists() and path.name != "__pycache__" and path.name[0] != ".":
                (folder / inner / path.name).symlink_to(path)
    (formats / "answer_list.py").write_text(MODULE.lstrip(), encoding="utf-8")
    return folder


def test_one_file_brings_a_format_to_commands_rest_and_tab(source: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", ASKED, str(tmp_path)],
        cwd=source, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    assert ["List of answers", "answer-list"] in told["choices"][0]
    assert "answer-list" in told["helps"]["export"][0]
    assert "answer-list" in told["described"]["export"][0] and "answer-list" in told["described"]["exports"][0]
    assert "answer-list" in told["listed"]
    assert told["counts"] == {"answers": 1}
    # It has no reader, so nobody is offered to import it.
    assert "answer-list" not in told["helps"]["import"][0] + told["described"]["import"][0] + told["import form"]
    assert 'value="coco"' in told["import form"]
