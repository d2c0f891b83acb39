"""What is seen of the table of values is exported: its columns, filters and order."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from starlette.testclient import TestClient

from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.followers import catch_up
from engine.workspace import Workspace
from tests.support.annotators import answer
from tests.support.office import NUMBER, TOTAL, Office

FIELDS = (
    FieldDefinition(name="number", question=NUMBER),
    FieldDefinition.model_validate({"name": "total", "question": TOTAL, "type": "number"}),
)


@pytest.fixture
def office(client: TestClient) -> Office:
    """Three bills, two of them with an accepted total."""
    application: Any = client.app
    workspace: Workspace = application.state.answer_service.workspace
    office = Office(workspace, bills=3)
    replace_fields(workspace, office.project.id, FIELDS, office.rita.id)
    for task in office.tasks():
        if task.question_id == office.question(TOTAL) and task.document_id != office.documents[0].id:
            answer(workspace, task.id, office.rita)
    assert catch_up(workspace, patience=30)  # the server may be at it
    return office


def fetch(client: TestClient, office: Office, form: str, **asked: Any) -> bytes:
    path = f"/api/projects/{office.project.id}/values/export"
    got = client.get(path, params={"format": form, **asked})
    assert got.status_code == 200, got.text
    assert f"values.{form}" in got.headers["content-disposition"]
    return got.content


def test_a_csv_has_the_columns_filters_and_order_that_are_seen(client: TestClient, office: Office) -> None:
    seen = fetch(client, office, "csv", field=["total"], filter=["total:accepted"], sort="-value:total")
    rows = list(csv.DictReader(io.StringIO(seen.decode("utf-8-sig"))))
    assert [(row["document"], row["total"], row["not_accepted"]) for row in rows] == [
        ("bill 2.png", "12.5", ""),
        ("bill 1.png", "11.5", ""),
    ]
    assert "number" not in rows[0]


def test_a_sheet_has_typed_cells_and_empty_ones_last(client: TestClient, office: Office, tmp_path: Path) -> None:
    path = tmp_path / "seen.xlsx"
    path.write_bytes(fetch(client, office, "xlsx", sort="value:total"))
    heads, *rows = load_workbook(path).active.iter_rows(values_only=True)
    assert heads[:3] == ("document", "number", "total")
    assert [(row[0], row[2]) for row in rows] == [("bill 1.png", 11.5), ("bill 2.png", 12.5), ("bill 0.png", None)]


def test_an_unknown_filter_is_refused_in_a_sentence(client: TestClient, office: Office) -> None:
    refused = client.get(f"/api/projects/{office.project.id}/values/export", params={"filter": "loud"})
    assert refused.status_code == 422 and "There is no filter 'loud'" in refused.json()["detail"]
