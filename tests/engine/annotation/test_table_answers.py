"""A field that is a table is answered by rows of cells, and a corrected row has the others proposed anew."""

from collections.abc import Sequence
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.annotation.page_cache import PageWords
from engine.annotation.proposal import ProposedCell, table_state
from engine.annotation.table_answers import GivenRow, answer_table
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from tests.support.raw_tables import COLUMNS, HEADINGS, ROWS, TOTAL, Lines, table_pdf, table_words

QUESTION = "What was bought?"
FIELD = FieldDefinition.model_validate({"name": "lines", "question": QUESTION, "type": "table", "columns": COLUMNS})
BOUGHT = [
    {"item": "Copper tube", "quantity": "4", "amount": "10.00"},
    {"item": "Brass valve with a long stem", "quantity": "1", "amount": "80.00"},
    {"item": "Gasket", "quantity": "10", "amount": "4.00"},
]


def rows_of(cells: Sequence[ProposedCell]) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = [{} for _ in range(1 + max((cell.row for cell in cells), default=-1))]
    for cell in cells:
        rows[cell.row][cell.column] = cell.text
    return rows


def rows_on(*pages: Lines, given: Sequence[GivenRow] = ()) -> list[dict[str, str]]:
    words = {f"page {number}": table_words(lines) for number, lines in enumerate(pages, 1)}
    return rows_of(answer_table(FIELD, words, given).answer.cells)


def numbers_of(page: PageWords, text: str) -> list[int]:
    wanted = text.split()
    return [number for number, word in zip(page.numbers, page.words, strict=True) if word.text in wanted]


def test_rows_are_found_below_their_headings_without_the_total() -> None:
    assert rows_on([HEADINGS, *ROWS, TOTAL]) == BOUGHT


def test_a_table_goes_on_on_the_next_page_below_its_heading_and_without() -> None:
    more = [("4", "Washer", "7", "0.10", "0.70"), ("5", "Nut", "8", "0.10", "0.80")]
    for second in ([HEADINGS, *more, TOTAL], [*more, TOTAL]):
        assert [row["item"] for row in rows_on([HEADINGS, *ROWS], second)][3:] == ["Washer", "Nut"]


def test_groups_are_no_rows_and_empty_cells_are_left_out() -> None:
    group = ("Pipes and their fittings", "", "", "", "")
    lines = [HEADINGS, group, ("1", "Tube", "", "2.50", "10.00"), ("2", "Bend", "3", "2.00", "6.00")]
    assert rows_on(lines) == [
        {"item": "Tube", "amount": "10.00"},
        {"item": "Bend", "quantity": "3", "amount": "6.00"},
    ]


def test_a_paper_without_a_table_marks_nothing() -> None:
    prepared = answer_table(FIELD, {"p": table_words([("", "Dear Ms Smith,", "", "", "")])})
    assert not prepared.answer.cells and not prepared.answer.mask.counts and prepared.answered == 0.0
    assert answer_table(FIELD, {"p": PageWords([], [], [])}).answer.cells == []


def test_the_answer_marks_its_cells_on_their_pages() -> None:
    cells = answer_table(FIELD, {"p": table_words([HEADINGS, *ROWS])}).answer.cells
    state = table_state(cells)
    page = table_words([HEADINGS, *ROWS])
    assert sorted(state.pages["p"].words) == sorted(number for cell in cells for number in cell.words)
    [valve] = [part for part in state.single_values() if part.cell and (part.cell.row, part.cell.column) == (1, "item")]
    assert valve.pages["p"].words == numbers_of(page, "Brass valve with a long stem")


def test_a_given_row_says_where_the_columns_are_and_stays() -> None:
    lines = [ROWS[0], *ROWS[1:]]
    page = table_words(lines)
    given = {"item": "Gasket", "quantity": "10", "amount": "4.00"}
    row = {name: {"page 1": numbers_of(page, text)} for name, text in given.items()}
    assert rows_on(lines, given=[row]) == BOUGHT
    # The price of the row, said to be its amount: the others follow.
    row = {"item": row["item"], "amount": {"page 1": numbers_of(page, "0.40")}}
    assert [found["amount"] for found in rows_on(lines, given=[row])] == ["2.50", "80.00", "0.40"]


def test_rows_of_two_lines_look_like_the_given_one() -> None:
    spots = [
        (("1", "Morning news", "07:15", "", "20.00"), ("", "AB 4711", "", "2", "")),
        (("2", "Evening film with a friend", "20:15", "", "80.00"), ("", "CD 12", "", "14", "")),
        (("3", "Night", "23:30", "", "5.00"), ("", "EF 815", "", "1", "")),
    ]
    lines = [line for spot in spots for line in spot]
    page = table_words(lines)
    field = FieldDefinition.model_validate(
        {
            "name": "spots",
            "question": "Spots?",
            "type": "table",
            "columns": [{"name": name, "question": name} for name in ("title", "code", "spots", "amount")],
        }
    )
    first = {"title": "Morning news", "code": "AB 4711", "amount": "20.00"}
    given = {name: {"p": numbers_of(page, text)} for name, text in first.items()}
    given["spots"] = {"p": [numbers_of(page, "2")[0]]}
    cells = answer_table(field, {"p": page}, [given]).answer.cells
    assert rows_of(cells) == [
        {"title": title, "code": code, "spots": count, "amount": amount}
        for (_, title, _, _, amount), (_, code, _, count, _) in spots
    ]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"colour": {"page 1": [100]}}, "no words in a column"),
        ({"item": {"page 9": [100]}}, "a page that is not"),
        ({"item": {"page 1": [7]}}, "no words in a column"),
        ({"item": {"page 1": []}}, "no words"),
    ],
)
def test_a_given_row_that_cannot_be_is_refused(row: GivenRow, says: str) -> None:
    with pytest.raises(Refused, match=says):
        rows_on([HEADINGS, *ROWS], given=[row])


def test_a_table_is_asked_proposed_anew_saved_and_extracted(client: TestClient) -> None:
    project = str(client.get("/api/projects").json()[0]["id"])
    fields = [FIELD.model_dump(mode="json")]
    assert client.put(f"/api/projects/{project}/fields", json={"fields": fields}).status_code == 200
    files = [("files", ("paper.pdf", table_pdf(), "application/pdf"))]
    uploaded = client.post(f"/api/projects/{project}/documents", files=files).json()
    document = uploaded["documents"][0]["document_id"]

    extracted = client.post(f"/api/documents/{document}/extract", json={}).json()["fields"]["lines"]
    assert extracted["rows"][1] == {"item": "Brass valve with a long stem", "quantity": "1", "amount": "80"}
    assert extracted["values"][0]["cell"] == {"row": 0, "column": "item"} and extracted["values"][0]["pages"]

    [field] = client.post(f"/api/documents/{document}/form", json={}).json()["fields"]
    answer: dict[str, Any] = client.get(f"/api/annotations/{field['annotation_id']}").json()
    assert (answer["proposal"]["source"], answer["proposal"]["text"], answer["head"]) == ("table", "3 rows", 0)
    assert [column["name"] for column in answer["field"]["columns"]] == ["item", "quantity", "amount"]
    values = {(value["cell"]["row"], value["cell"]["column"]): value["value"] for value in answer["values"]}
    assert values[1, "amount"] == "80" and len(values) == 9
    more = client.post(f"/api/annotations/{answer['id']}/ask-more", json={}).json()
    assert more["proposal"]["prediction_id"] == answer["proposal"]["prediction_id"]

    [page] = answer["state"]["pages"]
    amount = answer["state"]["values"][2]["pages"][page]["words"]
    given = {"rows": [{"cells": {"quantity": {page: amount}}}]}
    proposed = client.post(f"/api/annotations/{answer['id']}/table", json=given).json()
    first = {(cell["row"], cell["column"]): cell["text"] for cell in proposed["cells"]}
    assert first[0, "quantity"] == "10.00"
    unsaved = client.get(f"/api/annotations/{answer['id']}").json()["proposal"]
    assert unsaved["prediction_id"] == answer["proposal"]["prediction_id"], "nobody has taken the other rows yet"

    edits = [{"op": "remove_value", "place": 8}, {"op": "cell", "place": 0, "cell": {"row": 0, "column": "amount"}}]
    body = {"idempotency_key": "table-000000001", "base": 0, "action": "accept", "edits": edits}
    body["prediction_id"] = answer["proposal"]["prediction_id"]
    assert client.put(f"/api/annotations/{answer['id']}/revisions", json=body).status_code == 200
    state = client.get(f"/api/annotations/{answer['id']}").json()["state"]
    assert len(state["values"]) == 8 and state["values"][0]["cell"] == {"row": 0, "column": "amount"}
    taken = {"idempotency_key": "table-000000002", "base": 1, "action": "accept", "edits": []}
    taken["prediction_id"] = proposed["prediction_id"]
    assert client.put(f"/api/annotations/{answer['id']}/revisions", json=taken).status_code == 200
    shown = client.get(f"/api/annotations/{answer['id']}").json()["proposal"]
    assert shown["prediction_id"] == proposed["prediction_id"]
    assert shown["cells"] == [cell for cell in proposed["cells"] if cell["row"] > 0], "the given row is the person's"
    extracted = client.post(f"/api/documents/{document}/extract", json={}).json()["fields"]["lines"]
    assert extracted["status"] == "accepted" and extracted["rows"][2] == {"item": "Gasket", "quantity": "10"}

    other = client.post(f"/api/documents/{document}/ask", json={"question": "What is the total?"}).json()
    refused = client.post(f"/api/annotations/{other['id']}/table", json={"rows": []})
    assert "no table" in refused.json()["detail"]


def test_a_large_table_is_built_and_loses_its_first_row_in_a_save_each(client: TestClient) -> None:
    project = str(client.get("/api/projects").json()[0]["id"])
    columns = [{"name": name, "question": name} for name in "abcd"]
    field = {"name": "long", "question": "Long?", "type": "table", "columns": columns}
    assert client.put(f"/api/projects/{project}/fields", json={"fields": [field]}).status_code == 200
    files = [("files", ("paper.pdf", table_pdf(), "application/pdf"))]
    uploaded = client.post(f"/api/projects/{project}/documents", files=files).json()
    document = uploaded["documents"][0]["document_id"]
    answer = client.post(f"/api/documents/{document}/ask", json={"question": "Long?"}).json()
    page = client.get(f"/api/documents/{document}").json()["pages"][0]["id"]

    edits: list[dict[str, Any]] = [{"op": "remove_value"}] * max(1, len(answer["state"].get("values", [])))
    for place in range(1600):
        cell = {"row": place // 4, "column": "abcd"[place % 4]}
        x, y = place % 40 * 10, place // 40 * 4
        mask = {"box": [x, y, x + 9, y + 3], "counts": [0, 27]}
        edits += [{"op": "add_value", "place": place, "cell": cell}] if place else [{"op": "cell", "cell": cell}]
        edits.append({"op": "mask", "place": place, "page": page, "words": [], "mask": mask})
    body: dict[str, Any] = {"idempotency_key": "table-000000001", "base": 0, "edits": edits}
    saved = client.put(f"/api/annotations/{answer['id']}/revisions", json=body)
    assert saved.status_code == 200, saved.text[:300]
    assert len(saved.json()["state"]["values"]) == 1600

    moved = [{"op": "cell", "place": at, "cell": {"row": at // 4, "column": "abcd"[at % 4]}} for at in range(1596)]
    body = {"idempotency_key": "table-000000002", "base": 1, "edits": [{"op": "remove_value"}] * 4 + moved}
    values = client.put(f"/api/annotations/{answer['id']}/revisions", json=body).json()["state"]["values"]
    assert [values[0]["cell"], values[-1]["cell"]] == [{"row": 0, "column": "a"}, {"row": 398, "column": "d"}]
    assert values[0]["pages"][page]["mask"]["box"] == [40, 0, 49, 3]
