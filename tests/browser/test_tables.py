"""The table of an answer: its grid over the page, its cells beside it, and what hands and keys do to rows."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from engine.annotation.change import state_of
from engine.annotation.state import AnswerValue, Cell, PageMark, to_patch
from engine.workspace import Workspace
from model.masks import rasterise
from tests.browser.bench import Bench
from tests.browser.stored_invoice import SIZE, printed
from tests.browser.tabs import OWN
from tests.browser.window import Window
from tests.support.factories import accept, boxes_of, make_document, pages_of

pytestmark = pytest.mark.browser
QUESTION = "What are the line items?"
COLUMNS = [
    {"name": "item", "question": "Item"},
    {"name": "quantity", "question": "Quantity", "type": "integer"},
    {"name": "amount", "question": "Amount", "type": "number"},
]
LINES = ("Paper 2 40.00", "Pens 10 12.50", "Folders 4 9.80", "Stamps 3 7.10")
LEFT = (100, 400, 600)  # of the columns, in pixels of the page
Tabled = Callable[..., Bench]


@pytest.fixture
def tabled(request: pytest.FixtureRequest, window: Window, stored: Workspace) -> Tabled:
    """Open a page with a table of four lines, of which the first rows are cells of the answer."""

    def open_one(rows: int = 3) -> Bench:
        project = window.make_project(request.node.name)
        field = {"name": "lines", "question": QUESTION, "type": "table", "columns": COLUMNS}
        answer = window.profile.request.put(
            f"{window.server}/api/projects/{project}/fields", data={"fields": [field]}, headers=OWN
        )
        assert answer.ok, answer.text()
        words = [
            word
            for at, line in enumerate(LINES)
            for text, x in zip(line.split(), LEFT, strict=True)
            for word in printed(text, x, 200 + 60 * at)
        ]
        document = make_document(stored, project, [words], size=SIZE)
        [page] = pages_of(stored, document.id)
        boxes = boxes_of(stored, page.id)
        cells = []
        for number in range(3 * rows):
            patch = to_patch(rasterise([boxes[number]], (page.height, page.width)))
            place = Cell(row=number // 3, column=str(COLUMNS[number % 3]["name"]))
            cells.append(AnswerValue(pages={page.id: PageMark(words=[number], mask=patch)}, cell=place))
        state = state_of(cells, no_answer=False)
        drafted = accept(stored, document, QUESTION, state=state, status="draft")
        bench = window.open(project, f"&document={document.id}&annotation={drafted.id}")
        bench.ready()
        bench.settled()
        expect(bench.page.locator(".g-cells")).to_be_visible()
        return bench

    return open_one


def expect_rows(bench: Bench, *rows: str) -> None:
    """Wait until the rows beside the page are these; "·" stands for an empty cell, and words are joined by "_"."""
    wanted = [[cell.replace("·", "").replace("_", " ") for cell in row.split()] for row in rows]
    bench.page.wait_for_function(
        "(wanted) => JSON.stringify([...document.querySelectorAll('.g-cells-lines > *')].map((row) => "
        "[...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent))) === JSON.stringify(wanted)",
        arg=wanted,
    )


def stored_cells(bench: Bench) -> dict[tuple[int, str], Any]:
    """Values of the stored answer by row and column."""
    bench.settled()
    values = bench.annotation()["values"]
    return {(each["cell"]["row"], each["cell"]["column"]): each["value"] for each in values}


def take(bench: Bench, row: int, column: int) -> None:
    """Take a cell in hand, beside the page."""
    bench.page.locator(".g-cells-lines > *").nth(row).get_by_role("gridcell").nth(column).click()


def test_a_cell_is_corrected_by_typing_and_read_as_its_column(tabled: Tabled) -> None:
    bench = tabled()
    take(bench, 1, 2)
    bench.keys.type("13,5")
    bench.keys.press("Enter")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 13,5", "Folders 4 9.80")
    expect(bench.page.get_by_role("gridcell", name="9.80")).to_have_attribute("aria-selected", "true")
    assert stored_cells(bench)[1, "amount"] == "13.5"
    take(bench, 0, 1)
    bench.keys.type("two")
    bench.keys.press("Enter")
    unread = bench.page.get_by_role("gridcell", name="two")
    expect(unread).to_have_attribute("data-state", "unreadable")
    bench.keys.press("Control+z")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 13,5", "Folders 4 9.80")


def test_words_of_the_page_go_into_the_cell_in_hand_and_out_of_others(tabled: Tabled) -> None:
    bench = tabled()
    take(bench, 0, 0)
    bench.click("Pens")
    expect_rows(bench, "Paper_Pens 2 40.00", "· 10 12.50", "Folders 4 9.80")
    bench.click("Pens")
    expect_rows(bench, "Paper 2 40.00", "· 10 12.50", "Folders 4 9.80")
    bench.keys.press("Control+z")
    bench.keys.press("Control+z")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 12.50", "Folders 4 9.80")
    assert stored_cells(bench)[1, "item"] == "Pens"


def test_a_row_is_added_by_clicking_its_words(tabled: Tabled) -> None:
    bench = tabled()
    take(bench, 2, 0)
    bench.keys.press("Alt+ArrowDown")
    for word in ("Stamps", "3", "7.10"):
        bench.click(word)
        bench.page.locator(".g-cells").focus()
        bench.keys.press("ArrowRight")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 12.50", "Folders 4 9.80", "Stamps 3 7.10")
    assert stored_cells(bench)[3, "amount"] == "7.1"


def test_rows_merge_split_and_go_by_keys_and_each_step_is_undone(tabled: Tabled) -> None:
    bench = tabled()
    before = stored_cells(bench)
    take(bench, 1, 0)
    bench.keys.press("Alt+ArrowUp")
    expect_rows(bench, "Paper_Pens 2_10 40.00_12.50", "Folders 4 9.80")
    bench.keys.press("Alt+Enter")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 12.50", "Folders 4 9.80")
    bench.keys.press("Alt+Delete")
    expect_rows(bench, "Pens 10 12.50", "Folders 4 9.80")
    assert set(stored_cells(bench)) == {place for place in before if place[0] < 2}
    for _ in range(3):
        bench.keys.press("Control+z")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 12.50", "Folders 4 9.80")
    assert stored_cells(bench) == before


def test_a_dragged_edge_moves_words_to_the_next_row_and_undo_moves_them_back(tabled: Tabled) -> None:
    bench = tabled()
    x0, y0, _, y1 = bench.box("Pens")
    edge = (x0 - 30, (bench.box("Paper")[3] + y0) / 2)  # beside the table, where no word lies
    bench.page.mouse.move(*bench.at(*edge))
    expect(bench.page.locator(".g-canvas")).to_have_attribute("data-edge", "row")
    bench.drag(edge, (edge[0], y1 + 8))
    expect_rows(bench, "Paper_Pens 2_10 40.00_12.50", "Folders 4 9.80")
    assert stored_cells(bench)[1, "item"] == "Folders"
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("Control+z")
    expect_rows(bench, "Paper 2 40.00", "Pens 10 12.50", "Folders 4 9.80")
    between = ((bench.box("Folders")[2] + bench.box("10")[0]) / 2, bench.box("Paper")[1] - 20)
    bench.drag(between, (bench.box("10")[2] + 40, between[1]))
    expect_rows(bench, "Paper_2 · 40.00", "Pens_10 · 12.50", "Folders_4 · 9.80")


def test_a_table_without_rows_says_how_to_begin(tabled: Tabled) -> None:
    bench = tabled(rows=0)
    expect(bench.page.get_by_text("No rows found. Mark the cells of")).to_be_visible()
    bench.click("Paper")
    expect_rows(bench, "Paper · ·")
    assert stored_cells(bench) == {(0, "item"): "Paper"}


def test_the_other_rows_are_proposed_from_the_first_as_a_step_that_undo_takes_back(tabled: Tabled) -> None:
    bench = tabled(rows=1)
    expect(bench.page.get_by_text("Row 1 is made or corrected by hand.")).to_be_visible()
    bench.page.get_by_role("button", name="Propose the other rows").click()
    expect_rows(bench, *LINES)
    expect(
        bench.page.get_by_role("button", name="Propose the other rows")
    ).to_be_visible()  # the first row stays theirs
    assert stored_cells(bench)[3, "amount"] == "7.1"
    bench.page.locator(".g-canvas").focus()
    bench.keys.press("Control+z")
    expect_rows(bench, LINES[0])
    assert set(stored_cells(bench)) == {(0, str(column["name"])) for column in COLUMNS}


def test_rows_that_cannot_be_proposed_are_said_in_a_sentence(tabled: Tabled) -> None:
    bench = tabled(rows=1)
    bench.page.route("**/table", lambda route: route.abort("connectionreset"))
    bench.page.locator(".g-cells").focus()
    bench.keys.press("Alt+r")
    expect(bench.page.get_by_text("The other rows could not be proposed.")).to_be_visible()
    bench.page.unroute("**/table")
    bench.keys.press("Alt+r")
    expect_rows(bench, *LINES)
    expect(bench.page.get_by_text("The other rows could not be proposed.")).to_be_hidden()
