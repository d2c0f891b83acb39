"""Exports of values: typed, with their evidence, equal on every server."""

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import openpyxl
import pytest

from engine.annotation.conventions import remember_convention
from engine.annotation.proposal import ProposedCell, table_state
from engine.annotation.state import to_patch
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.interchange import value_sheets
from engine.interchange.exports import export
from engine.interchange.formats.values import values_schema
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import make_person
from tests.support.factories import accept, boxes_of, line, make_document, make_project, pages_of

FIELDS = [
    FieldDefinition(name="number", question="What is the invoice number?", required=True),
    FieldDefinition(name="issued", question="What is the date?", type="date"),
    FieldDefinition(name="net", question="What is the subtotal?", type="currency"),
    FieldDefinition(
        name="total",
        question="What is the total amount?",
        type="currency",
        currency="EUR",
        rules=({"rule": "range", "most": "1000"},),  # type: ignore[arg-type]
    ),
    FieldDefinition(name="signed", question="Where is the signature?", type="signature"),
]


@pytest.fixture
def bills(sqlite_workspace: Workspace) -> str:
    """A project with a paper of which everything is accepted, and one of which nothing is sure."""
    workspace = sqlite_workspace
    project = make_project(workspace)
    rita = make_person(workspace, "Rita", project.id, "reviewer")
    replace_fields(workspace, project.id, FIELDS, rita.id)
    words = line("RE-17 04.03.2026 1.250,00 € 12,50 Rita", y=20)
    sure = make_document(workspace, project.id, [words], name="sure.png")
    answers: tuple[list[int], ...] = ([0], [1], [2, 3], [4], [5])
    for field, chosen in zip(FIELDS, answers, strict=True):
        accept(workspace, sure, field.question, chosen)
    unsure = make_document(workspace, project.id, [line("1.250 03/04/26 unknown", y=20)], name="=unsure.png")
    accept(workspace, unsure, FIELDS[0].question, [])
    accept(workspace, unsure, FIELDS[1].question, [1])
    accept(workspace, unsure, FIELDS[2].question, [2])
    accept(workspace, unsure, "Who wrote it?", [2])  # no field
    return project.id


def lines_of(folder: Path) -> dict[str, Any]:
    said = [json.loads(text) for text in (folder / "values.jsonl").read_text("utf-8").splitlines()]
    for paper in said:
        jsonschema.validate(paper, values_schema())
    return {paper["document"]["name"]: paper["fields"] for paper in said}


def test_json_has_values_with_their_citations(sqlite_workspace: Workspace, bills: str, tmp_path: Path) -> None:
    made = export(sqlite_workspace, bills, "values", tmp_path / "out")
    papers = lines_of(tmp_path / "out")
    total, issued = papers["sure.png"]["total"], papers["sure.png"]["issued"]
    assert total["values"][0]["value"] == {"amount": "12.50", "currency": "EUR"}
    assert (issued["values"][0]["value"], issued["values"][0]["printed"]) == ("2026-03-04", "04.03.2026")
    [place] = issued["values"][0]["pages"]
    shares = [
        edge / side for edge, side in zip(place["box_pixels"], (place["width"], place["height"]) * 2, strict=True)
    ]
    assert place["box"] == pytest.approx(shares, abs=1e-6)
    assert papers["sure.png"]["signed"]["values"][0]["value"] is True
    unsure = papers["=unsure.png"]
    assert unsure["number"]["values"][0]["answered"] is False
    assert unsure["number"]["broken_rules"] == ["number is required, and has no value."]
    assert unsure["issued"]["values"][0]["value"] is None and len(unsure["issued"]["values"][0]["readings"]) > 1
    assert unsure["net"]["values"][0]["reason"] and unsure["total"]["values"] == []
    assert made.counts == {
        "documents": 2, "values": 5, "ambiguous": 1, "unreadable": 1, "no_answer": 1, "broken_rules": 1,
    }  # fmt: skip


def test_the_locale_of_the_project_decides_and_the_snapshot_keeps_it(
    sqlite_workspace: Workspace, bills: str, tmp_path: Path
) -> None:
    change_settings(sqlite_workspace, bills, locale="en-GB")
    export(sqlite_workspace, bills, "values", tmp_path / "british")
    assert lines_of(tmp_path / "british")["=unsure.png"]["issued"]["values"][0]["value"] == "2026-04-03"
    change_settings(sqlite_workspace, bills, locale="", conventions={"date_order": "MDY"})
    export(sqlite_workspace, bills, "values", tmp_path / "american")
    assert lines_of(tmp_path / "american")["=unsure.png"]["issued"]["values"][0]["value"] == "2026-03-04"


def test_conventions_of_the_issuer_go_first_in_an_export(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project = make_project(sqlite_workspace).id
    rita = make_person(sqlite_workspace, "Rita", project, "reviewer").id
    issuer = FieldDefinition(name="supplier", question="Who is the supplier?", issuer=True)
    replace_fields(sqlite_workspace, project, [issuer, FIELDS[1]], rita)
    for name in ("ACME", "Zenith"):
        paper = make_document(sqlite_workspace, project, [line(f"{name} 03/04/26")], name=f"{name}.png")
        accept(sqlite_workspace, paper, issuer.question, [0])
        accept(sqlite_workspace, paper, FIELDS[1].question, [1])
    remember_convention(sqlite_workspace, project, {"date_order": "MDY"}, rita)
    remember_convention(sqlite_workspace, project, {"date_order": "DMY"}, rita, issuer="acme")
    export(sqlite_workspace, project, "values", tmp_path / "out")
    papers = lines_of(tmp_path / "out")
    days = {name: papers[f"{name}.png"]["issued"]["values"][0]["value"] for name in ("ACME", "Zenith")}
    assert days == {"ACME": "2026-04-03", "Zenith": "2026-03-04"}


def test_csv_has_a_row_a_document(sqlite_workspace: Workspace, bills: str, tmp_path: Path) -> None:
    export(sqlite_workspace, bills, "values-csv", tmp_path / "out")
    with (tmp_path / "out" / "values.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["document"]: row for row in csv.DictReader(file)}
    sure = rows["sure.png"]
    assert (sure["net"], sure["net_currency"], sure["issued"]) == ("1250.00", "EUR", "2026-03-04")
    unsure = rows["'=unsure.png"]
    assert (unsure["issued"], unsure["ambiguous"], unsure["unreadable"]) == ("", "issued", "net")
    assert unsure["broken_rules"] == "number is required, and has no value."


def test_xlsx_keeps_types_and_has_a_sheet_of_evidence(sqlite_workspace: Workspace, bills: str, tmp_path: Path) -> None:
    export(sqlite_workspace, bills, "values-xlsx", tmp_path / "out")
    book = openpyxl.load_workbook(tmp_path / "out" / "values.xlsx")
    heads, *rows = book["Values"].iter_rows(values_only=True)
    by_name = {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    assert by_name["sure.png"]["issued"] == datetime(2026, 3, 4)
    assert (by_name["sure.png"]["net"], by_name["sure.png"]["net_currency"]) == (1250, "EUR")
    heads, *rows = book["Evidence"].iter_rows(values_only=True)
    evidence = [dict(zip(heads, row, strict=True)) for row in rows]
    date = next(row for row in evidence if row["field"] == "issued" and row["document"] == "=unsure.png")
    assert (date["printed"], date["value"], date["page"]) == ("03/04/26", None, 1)
    assert "|" in date["readings"] and date["x1"] > date["x0"]


def test_questions_of_a_snapshot_without_fields_are_texts(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project = make_project(sqlite_workspace)
    document = make_document(sqlite_workspace, project.id, [line("RE-17")], name="a.png")
    accept(sqlite_workspace, document, "What is the invoice number?", [0])
    export(sqlite_workspace, project.id, "values", tmp_path / "out")
    [value] = lines_of(tmp_path / "out")["a.png"]["invoice_number"]["values"]
    assert (value["value"], value["rule"] != "") == ("RE-17", True)


def test_a_full_sheet_is_followed_by_another(
    sqlite_workspace: Workspace, bills: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_sheets, "MOST_ROWS", 4)
    export(sqlite_workspace, bills, "values-xlsx", tmp_path / "out")
    book = openpyxl.load_workbook(tmp_path / "out" / "values.xlsx")
    rows = [row[1] for title in book.sheetnames[1:] for row in list(book[title].values)[1:]]
    assert book.sheetnames == ["Values", "Evidence", "Evidence 2", "Evidence 3"]
    assert len(rows) == 8 and set(rows) == {"number", "issued", "net", "total", "signed"}


def test_a_table_has_rows_in_every_format(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    workspace = sqlite_workspace
    project = make_project(workspace)
    columns = [{"name": "item", "question": "Item"}, {"name": "price", "question": "Price", "type": "currency"}]
    table = FieldDefinition.model_validate({"name": "goods", "question": "Goods?", "type": "table", "columns": columns})
    rita = make_person(workspace, "Rita", project.id, "reviewer")
    replace_fields(workspace, project.id, [table], rita.id)
    words = [line("Tube 2.50€", y=20), line("=Bend unclear", y=50)]
    document = make_document(workspace, project.id, [[*words[0], *words[1]]], name="paper.png")
    [page] = pages_of(workspace, document.id)
    boxes = boxes_of(workspace, page.id)
    cells = [
        ProposedCell(
            row=at // 2,
            column=("item", "price")[at % 2],
            page_id=page.id,
            words=[at],
            mask=to_patch(rasterise([boxes[at]], (page.height, page.width))),
            text="",
        )
        for at in range(4)
    ]
    accept(workspace, document, table.question, state=table_state(cells))
    for form in ("values", "values-csv", "values-xlsx"):
        export(workspace, project.id, form, tmp_path / form)
    goods = lines_of(tmp_path / "values")["paper.png"]["goods"]
    assert goods["rows"] == [
        {"item": "Tube", "price": {"amount": "2.50", "currency": "EUR"}},
        {"item": "=Bend", "price": None},
    ]
    assert goods["values"][1]["cell"] == {"row": 0, "column": "price"} and goods["values"][1]["pages"]
    with (tmp_path / "values-csv" / "values.goods.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["document", "row", "item", "price", "price_currency"]
    assert rows[1] == ["paper.png", "1", "Tube", "2.50", "EUR"] and rows[2][2] != "=Bend"  # made harmless
    with (tmp_path / "values-csv" / "values.csv").open(encoding="utf-8-sig", newline="") as file:
        [paper] = csv.DictReader(file)
    assert json.loads(paper["goods"]) == goods["rows"] and paper["unreadable"] == "goods"
    book = openpyxl.load_workbook(tmp_path / "values-xlsx" / "values.xlsx")
    assert [[cell.value for cell in row] for row in book["goods"].rows][1] == ["paper.png", 1, "Tube", 2.5, "EUR"]
    assert [row[1].value for row in book["Evidence"].rows][1:] == ["goods.item", "goods.price"] * 2
