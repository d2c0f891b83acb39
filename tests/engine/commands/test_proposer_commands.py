"""`glossator proposers` sets another model, asks it with progress, and shows what it took."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from engine.workspace import Workspace
from tests.support.asked_models import make_asked_project
from tests.support.factories import bill, make_document
from tests.support.model_server import model_server


def call(*words: Any, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["proposers", *map(str, words)], input=given)


def test_a_model_is_set_asked_and_shown(
    sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_asked_project(sqlite_workspace)
    make_document(sqlite_workspace, project.id, [bill(1)], name="bill.pdf")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Copy what is printed.")
    here = ("--project", project.name)
    with model_server() as server:
        server.values = {"total": "11.50", "number": "B9999"}
        monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(sqlite_workspace.settings.data_dir))
        refused = call("set", f"{server.url}/v1", "reader", *here)
        assert refused.exit_code == 1 and "GLOSSATOR_PROPOSER_ADDRESSES" in refused.output
        monkeypatch.setenv("GLOSSATOR_PROPOSER_ADDRESSES", json.dumps([server.url]))
        made = call("set", f"{server.url}/v1", "reader", *here, "--prompt", prompt, "--key", "-", given="open-sesame\n")
        assert made.exit_code == 0, made.output
        asked = call("ask", "bill.pdf", *here, "--json")
        assert asked.exit_code == 0, asked.output
        result = json.loads(asked.stdout.splitlines()[-1])
        assert (result["status"], result["proposed"], result["not_found"], result["tokens"]) == ("done", 1, 1, 1025)
        assert server.keys == ["Bearer open-sesame"]
        shown = call("show", *here)
        assert "Copy what is printed." in shown.output and "1,000" in shown.output
        server.faults = [401]
        failed = call("ask", *here, "--again")
        assert (failed.exit_code, "refused the key" in failed.output) == (1, True)
        assert call("remove", *here).exit_code == 0
        assert json.loads(call("show", *here, "--json").stdout.splitlines()[-1])["proposer"] is None
    assert "sesame" not in made.output + asked.output + shown.output
