"""`glossator webhooks`: made, listed, switched off, tried and removed in a shell."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app

HOOK = "https://webhooks.invalid/hook"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Result:
        return CliRunner().invoke(app, ["webhooks", *words])

    return command


def test_a_webhook_is_managed_in_a_shell(run) -> None:
    def answer(*words: str) -> dict:
        result = run(*words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout.strip().splitlines()[-1])

    assert CliRunner().invoke(app, ["projects", "create", "default"]).exit_code == 0
    made = answer("add", HOOK, "--event", "answer.accepted", "--event", "export.ready")
    assert made["secret"].startswith("whsec_")
    [line] = answer("list")["webhooks"]
    assert (line["events"], "secret" in line) == (["answer.accepted", "export.ready"], False)
    assert run("secret", made["id"]).stdout.startswith("whsec_")
    assert run("callback-secret").stdout.startswith("whsec_")
    assert run("test", made["id"]).exit_code == 0
    [delivery] = answer("deliveries")["deliveries"]
    assert (delivery["event"], delivery["state"]) == ("webhook.test", "waiting")
    assert answer("deliveries", "--failed")["deliveries"] == []
    assert run("send", delivery["id"]).exit_code == 0
    assert "now off" in run("off", made["id"]).stdout
    refused = run("send", delivery["id"])
    assert refused.exit_code == 1 and "Switch it on first." in refused.output
    assert "now on" in run("on", made["id"]).stdout
    assert run("remove", made["id"]).exit_code == 0 and answer("list")["webhooks"] == []
    assert "There is no event 'answer.lost'." in run("add", HOOK, "--event", "answer.lost").output
