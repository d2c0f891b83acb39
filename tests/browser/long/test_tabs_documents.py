"""The tabs Documents and Questions: a table comes in pages, and numbers add up."""

import re

from playwright.sync_api import FilePayload, expect

from engine.documents.lists.listing import document_lines
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.benchmarks.growth.project import grow
from tests.browser.bench import Bench, invoice
from tests.browser.slow_connection import Line
from tests.browser.tabs import OWN, made, send, tab
from tests.support.server_process import Served


def pdf(name: str) -> FilePayload:
    return {"name": name, "mimeType": "application/pdf", "buffer": invoice()}


def test_the_table_of_documents_comes_in_pages_and_is_searched(bench: Bench, served: Served) -> None:
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    project = grow(workspace, 120, name="in pages").project
    names = [line.name for line in document_lines(workspace, project)]
    workspace.close()
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panel = tab(page, "Documents")
    rows, shown = panel.locator("tbody tr"), panel.locator(".glossator-range")
    previous, following = (panel.get_by_role("button", name=name) for name in ("Previous", "Next"))
    expect(panel.locator(".glossator-figures")).to_contain_text(re.compile(r"120\s*documents\s*240\s*pages"))
    expect(rows).to_have_count(50)
    expect(previous).to_be_disabled()
    following.click()
    expect(shown).to_have_text("Documents 51 to 100 of 120")
    expect(rows.first).to_contain_text(names[50])
    following.click()
    expect(shown).to_have_text("Documents 101 to 120 of 120")
    expect(following).to_be_disabled()
    previous.click()
    expect(shown).to_have_text("Documents 51 to 100 of 120")
    panel.get_by_label("Search documents").fill("NOTE 00009")
    expect(shown).to_have_text("Documents 1 to 11 of 11")
    expect(following).to_be_hidden()
    panel.get_by_label("Search documents").fill("no such name")
    expect(panel).to_contain_text("No documents found.")
    panel.get_by_label("Search documents").fill("")
    panel.get_by_label("Order").click()
    page.get_by_role("option", name="Name").click()
    expect(rows.first).to_contain_text(min(names))


def test_a_page_is_turned_while_the_table_is_being_fetched(bench: Bench, served: Served) -> None:
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    project = grow(workspace, 120, name="turned meanwhile").project
    workspace.close()
    page = bench.page
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panel = tab(page, "Documents")
    shown = panel.locator(".glossator-range")
    previous, following = (panel.get_by_role("button", name=name) for name in ("Previous", "Next"))
    expect(shown).to_have_text("Documents 1 to 50 of 120")
    line = Line(page, project)
    page.evaluate("window.Glossator.refreshTab('documents')")
    line.wait()
    following.dblclick()
    line.free()
    expect(shown).to_have_text("Documents 51 to 100 of 120")
    previous.click()
    expect(shown).to_have_text("Documents 1 to 50 of 120")  # two clicks had turned one page


def test_figures_of_the_queue_and_of_documents_add_up(bench: Bench) -> None:
    page = bench.page
    project = made(bench, "it adds up")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    for number in range(3):
        uploaded = page.request.post(
            f"{bench.server}/api/projects/{project}/documents",
            multipart={"files": pdf(f"sum {number}.pdf")},
            headers=OWN,
        )
        assert uploaded.ok
    send(bench, "PUT", f"/projects/{project}/standard-questions", {"questions": ["Who pays?", "How much?"]})
    send(bench, "POST", f"/projects/{project}/queue/next", {})  # one task is in somebody's hands
    document = bench.get(f"/projects/{project}/documents")[0]["id"]
    send(bench, "POST", f"/documents/{document}/ask", {"question": "Who signed?"})
    figures = tab(page, "Questions").locator(".glossator-figures > div")
    expect(figures.last).to_contain_text("6 in total")
    counts = {each.split(maxsplit=1)[1]: int(each.split()[0]) for each in figures.all_inner_texts()}
    total = counts.pop("in total")
    assert counts["in progress"] == 1 and sum(counts.values()) == total, counts
    row = tab(page, "Documents").get_by_role("row", name="sum 2.pdf")
    cells = dict(zip(("questions", "accepted"), row.get_by_role("cell").all_inner_texts()[3:5], strict=True))
    assert cells == {"questions": "3", "accepted": "0"}  # two standard ones, and one that was asked
