"""`glossator extract`: values as JSON with citations, as CSV, and as a table."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from tests.support.made_papers import bill_pdf

FIELDS = """
- {name: bill_number, question: "What is the bill number?"}
- {name: total, question: "What is the total due?", type: currency}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return command


def test_papers_are_printed_as_json_csv_and_table_and_kept_on_request(run) -> None:
    Path("fields.yaml").write_text(FIELDS, "utf-8")
    assert run("fields", "import", "fields.yaml", "--project", "bills").exit_code == 0
    Path("bill.pdf").write_bytes(bill_pdf(7, "12.50 EUR"))
    Path("broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    result = run("extract", "bill.pdf", "broken.pdf", "--project", "bills", "--json")
    assert result.exit_code == 1 and "1 of 2 files was refused." in result.output
    [line] = [line for line in result.stdout.splitlines() if line.startswith("{")]
    values = {name: field["values"][0]["value"] for name, field in json.loads(line)["fields"].items()}
    assert values == {"bill_number": "B7", "total": {"amount": "12.50", "currency": "EUR"}}
    rows = list(csv.reader(run("extract", "bill.pdf", "--project", "bills", "--csv").stdout.splitlines()))
    assert rows[0][:2] == ["file", "bill_number"] and rows[1][:3] == ["bill.pdf", "B7", "12.50"]
    assert "bill.pdf" not in run("documents", "list", "--project", "bills").output
    kept = run("extract", "bill.pdf", "--project", "bills", "--keep")
    assert kept.exit_code == 0 and "12.50 EUR" in kept.stdout
    assert "bill.pdf" in run("documents", "list", "--project", "bills").output
    Path("see [2].pdf").write_bytes(bill_pdf(8, "[/red] 12.50"))
    shown = run("extract", "see [2].pdf", "--project", "bills")
    assert shown.exit_code == 0 and "see [2].pdf" in shown.stdout
