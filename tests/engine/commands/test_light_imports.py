"""What a server and the help of the commands may not import: it would take longer than all else that they need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from engine.cli import app
from engine.commands import COMMANDS
from tests.support.repository import ROOT

NETWORKS = {"open_clip", "scipy", "sklearn", "tensorly", "timm", "torch", "torchvision", "transformers"}
DATABASE = {"alembic", "fastapi", "gradio", "numpy", "pandas", "pydantic", "pymupdf", "sqlalchemy", "uvicorn"}
PROGRAM = "import json, sys; {}; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"


def packages_after(statement: str) -> set[str]:
    """The packages that a fresh process has imported after a statement."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_a_server_imports_no_network_before_it_serves_and_gradio_writes_no_stub_files() -> None:
    building = (
        "from annotator.app import create_app; import gradio.component_meta as meta; "
        "assert meta.create_or_modify_pyi.__module__ == 'annotator.gradio.stub_files'"
    )
    packages = packages_after(building)
    assert "gradio" in packages and "model" in packages
    assert not packages & NETWORKS


def test_the_help_of_the_commands_imports_neither_database_nor_network() -> None:
    packages = packages_after("from engine.cli import app; app(['--help'], standalone_mode=False)")
    assert "typer" in packages and not packages & (NETWORKS | DATABASE)


def test_the_help_of_all_has_the_first_sentence_of_each_command() -> None:
    group = get_command(app)
    context = typer.Context(group)
    for name, (_, sentence) in COMMANDS.items():
        command = group.get_command(context, name)  # type: ignore[attr-defined]
        assert (command.help or "").split("\n\n")[0].replace("\n", " ") == sentence, name
        assert command.callback is not None or command.commands, name


def test_a_misspelt_command_is_answered_with_its_neighbour(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app(["task"])
    assert "Did you mean" in capfd.readouterr().err


def test_the_files_of_commands_are_all_named() -> None:
    folder = ROOT / "engine" / "commands"
    files = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "def register(" in Path(path).read_text()
    }
    assert {file for file, _ in COMMANDS.values()} <= files
