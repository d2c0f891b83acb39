"""The fields of a project on the tab Questions: made, moved and saved with a preview; nothing typed is lost."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.bench import Bench
from tests.browser.standard_list import Listed
from tests.browser.stored_invoice import Invoiced
from tests.browser.tabs import send, tab
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser


def opened(bench: Bench) -> Locator:
    """Open the tab, and return the card of the fields."""
    name = next(each["name"] for each in bench.get("/projects") if each["id"] == bench.project)
    card = tab(bench.page, "Questions").locator(".g-fields")
    expect(card.get_by_role("heading", name=f"Fields of {name}", exact=True)).to_be_visible()
    return card


def names(bench: Bench) -> list[str]:
    return [field["name"] for field in bench.get(f"/projects/{bench.project}/fields")]


def test_a_date_field_with_a_rule_is_saved_after_its_preview(bench: Bench, listed: Listed) -> None:
    card = opened(bench)
    card.get_by_role("combobox", name="Ready set").select_option("invoice")
    card.get_by_role("button", name="Add field").click()
    card.get_by_label("Question", exact=True).fill("What is the delivery date?")
    expect(card.get_by_label("Name", exact=True)).to_have_value("delivery_date")
    card.get_by_label("Type", exact=True).select_option("date")
    card.get_by_label("Kind of the rule").select_option("range")
    card.get_by_role("button", name="Add rule").click()
    card.get_by_role("button", name="Preview and save").click()
    expect(card.get_by_text("Write the lowest value, the highest, or both.")).to_be_visible()
    card.get_by_label("Lowest value").fill("2020-01-01")
    card.get_by_label("Guideline").fill("The **printed** date.")
    expect(card.locator(".g-guideline-preview strong")).to_have_text("printed")
    card.get_by_role("button", name="Preview and save").click()
    preview = card.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("delivery_date")
    expect(preview).to_contain_text("get a task for it.")
    assert names(bench) == ["total"]
    preview.get_by_role("button", name="Save", exact=True).click()
    expect(card.get_by_text("The fields were saved.")).to_be_visible()
    stored = bench.get(f"/projects/{bench.project}/fields")[1]
    assert (stored["name"], stored["type"]) == ("delivery_date", "date")
    assert stored["rules"] == [{"rule": "range", "least": "2020-01-01", "most": None}]
    plain = bench.page.get_by_role("textbox", name="Standard questions")
    expect(plain).to_have_value("What is the total?\nWhat is the delivery date?")
    card.get_by_role("button", name="Undo").click()
    expect(card.get_by_text("The fields are as they were before.")).to_be_visible()
    assert names(bench) == ["total"]
    expect(plain).to_have_value("What is the total?")


def test_a_file_of_fields_is_previewed_then_saved_as_one_step(bench: Bench, listed: Listed, tmp_path: Path) -> None:
    listed.put("What is the total?", "Who signed it?")
    card = opened(bench)
    with bench.page.expect_download() as download:
        card.get_by_role("link", name="Export fields").click()
    text = download.value.path().read_text("utf-8")
    file = tmp_path / "fields.yaml"
    file.write_text(text.replace("signed", "paid") + "- {question: When?, type: days}\n", "utf-8")
    chooser = card.get_by_label("File of fields")
    chooser.set_input_files(file)
    said = card.get_by_text("Nothing was imported.")
    expect(said).to_contain_text("fields.yaml, line 6: the field \"when\", type: 'days' is none of the types")
    file.write_text(text.replace("signed", "paid") + "- {question: When?, type: date}\n", "utf-8")
    chooser.set_input_files(file)
    expect(said).to_be_hidden()
    preview = card.get_by_role("region", name="Preview")
    for kind, name in {"added": "paid", "removed": "signed"}.items():
        expect(preview.locator(f"[data-kind={kind}]").filter(has_text=name)).to_be_visible()
    assert names(bench) == ["total", "signed"]
    preview.get_by_role("button", name="Save", exact=True).click()
    expect(card.get_by_text("The fields were saved.")).to_be_visible()
    assert names(bench) == ["total", "paid", "when"]
    toast = card.locator(".g-toast", has_text="The fields were saved.")
    toast.get_by_role("button", name="Undo").click()
    plain = bench.page.get_by_role("textbox", name="Standard questions")
    expect(plain).to_have_value("What is the total?\nWho signed it?")
    wait_until(lambda: names(bench) == ["total", "signed"])


def test_a_conflict_over_a_field_keeps_what_was_typed(bench: Bench, listed: Listed) -> None:
    card = opened(bench)
    card.get_by_role("button", name="Edit total").click()
    card.get_by_label("Question", exact=True).fill("What is the grand total?")
    path = f"/projects/{bench.project}/fields"
    field = bench.get(path)[0]
    wanted = {"id": field["id"], "name": "total", "question": "What is the total?", "type": "currency"}
    send(bench, "PUT", path, {"fields": [wanted, {"name": "signer", "question": "Who signed it?"}]})
    expect(card.get_by_text("Somebody else has changed the fields meanwhile.")).to_be_visible()
    card.get_by_role("button", name="Preview and save").click()
    card.get_by_role("button", name="Save", exact=True).click()
    expect(card.get_by_label("Question", exact=True)).to_have_value("What is the grand total?")
    assert names(bench) == ["total", "signer"]
    card.get_by_role("button", name="Take over their changes").click()
    expect(card.get_by_text("Both of you changed total; the list shows your version.")).to_be_visible()
    expect(card.get_by_role("button", name="Edit signer")).to_be_visible()
    card.get_by_role("button", name="Preview and save").click()
    card.get_by_role("button", name="Save", exact=True).click()
    expect(card.get_by_text("The fields were saved.")).to_be_visible()
    assert [field["question"] for field in bench.get(path)] == ["What is the grand total?", "Who signed it?"]


def test_a_table_gets_its_columns_by_keyboard(bench: Bench, listed: Listed) -> None:
    listed.put("What was bought?")
    card, page = opened(bench), bench.page
    card.get_by_role("button", name="Edit bought").click()
    card.get_by_label("Type", exact=True).select_option("table")
    card.get_by_role("button", name="Preview and save").click()
    expect(card.get_by_text("Add at least one column.")).to_be_visible()
    for number, heading in enumerate(("Unit price", "Item"), 1):
        card.get_by_role("button", name="Add column").press("Enter")
        expect(card.get_by_label(f"Heading of column {number}")).to_be_focused()
        page.keyboard.type(heading)
    expect(card.get_by_label("Key of column 1")).to_have_value("unit_price")
    card.get_by_label("Type of column 1").select_option("currency")
    card.get_by_label("Heading of column 2").press("Alt+ArrowUp")
    expect(card.get_by_label("Heading of column 1")).to_be_focused()
    expect(card.get_by_label("Heading of column 1")).to_have_value("Item")
    card.get_by_label("Key of column 1").fill("unit_price")
    card.get_by_role("button", name="Preview and save").click()
    expect(card.get_by_text("Another column has this key.").first).to_be_visible()
    card.get_by_label("Key of column 1").fill("item")
    card.get_by_role("button", name="Preview and save").click()
    card.get_by_role("button", name="Save", exact=True).click()
    expect(card.get_by_text("The fields were saved.")).to_be_visible()
    path = f"/projects/{bench.project}/fields"
    wait_until(lambda: bench.get(path)[0]["columns"])  # the sentence may still be that of an earlier save
    [field] = bench.get(path)
    assert [(column["name"], column["question"], column["type"]) for column in field["columns"]] == [
        ("item", "Item", "string"),
        ("unit_price", "Unit price", "currency"),
    ]


def test_a_field_moves_by_keyboard_and_keeps_the_focus(bench: Bench, listed: Listed) -> None:
    listed.put("What is the total?", "Who signed it?", "When?")
    card, page = opened(bench), bench.page
    moved = card.get_by_role("button", name="Edit total")
    expect(moved).to_be_visible()
    moved.focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(card.get_by_role("listitem").nth(1)).to_contain_text("What is the total?")
    expect(moved).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    expect(card.get_by_text("total is now 3 of 3.")).to_be_attached()
    card.get_by_role("button", name="Preview and save").click()
    expect(card.get_by_text("Only the order changes. No answer is touched.")).to_be_visible()
    card.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("textbox", name="Standard questions")).to_have_value(
        "Who signed it?\nWhen?\nWhat is the total?"
    )
    assert listed.texts() == ["Who signed it?", "When?", "What is the total?"]


def test_the_guideline_of_a_field_stands_at_its_task_and_runs_nothing(invoiced: Invoiced) -> None:
    bench = invoiced("What is the total?")
    page = bench.page
    guideline = page.locator(".g-guideline")
    expect(guideline).to_be_hidden()
    text = "Take the **gross** amount.\n\n<img src=x onerror='window.ran = true'>"
    field = {"name": "total", "question": "What is the total?", "guideline": text}
    send(bench, "PUT", f"/projects/{bench.project}/fields", {"fields": [field]})
    expect(guideline.locator("strong")).to_have_text("gross")  # without a reload
    expect(guideline.get_by_text("<img src=x onerror='window.ran = true'>")).to_be_visible()
    assert page.evaluate("window.ran === undefined && !document.querySelector('.g-guideline img')")
    guideline.get_by_text("Guideline", exact=True).click()
    expect(guideline.locator("strong")).to_be_hidden()
    page.reload()
    page.wait_for_selector(".glossator[data-started]")
    expect(guideline).to_be_visible()
    expect(guideline.locator("strong")).to_be_hidden()
