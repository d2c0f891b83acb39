"""`glossator fields`: ready sets, files, a look before a change."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return command


def test_a_ready_set_is_changed_by_file(run, tmp_path: Path) -> None:
    def said(*words: object) -> dict:
        result = run(*words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout.strip().splitlines()[-1])

    assert "invoice" in said("fields", "sets")["sets"]
    stored = said("fields", "import", "invoice", "--project", "bills")
    assert [field["type"] for field in stored["fields"]].count("currency") == 3
    assert run("fields", "export", "fields.yaml", "--project", "bills").exit_code == 0
    text = Path("fields.yaml").read_text("utf-8").replace("name: total", "name: amount")
    Path("fields.yaml").write_text(text, "utf-8")
    dry = said("fields", "import", "fields.yaml", "--dry-run", "--project", "bills")
    assert (dry["changes"], dry["saved"]) == ([{"name": "amount", "kind": "changed", "documents": 0}], False)
    said("fields", "import", "fields.yaml", "--project", "bills")
    versions = said("fields", "versions", "amount", "--project", "bills")["versions"]
    assert [version["definition"]["name"] for version in versions] == ["amount", "total"]
    Path("more.yaml").write_text("- Who signed it?", "utf-8")
    added = said("fields", "import", "more.yaml", "--add", "--project", "bills")
    assert [field["name"] for field in added["fields"]][-2:] == ["amount", "signed"]
    schema = json.loads(run("fields", "export", "--schema", "--project", "bills").stdout)
    assert schema["properties"]["invoice_date"]["format"] == "date"


def test_what_is_no_list_of_fields_is_refused(run) -> None:
    assert "neither a file nor a ready set" in run("fields", "import", "letters").output
    Path("fields.yaml").write_text("- {question: 'One?', type: money}", "utf-8")
    result = run("fields", "import", "fields.yaml")
    assert result.exit_code == 1 and "is none of the types" in str(result.exception)
