"""A tab is fetched when it is opened, and again only when what it shows has changed while it is in sight."""

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench, invoice
from tests.browser.tabs import OF_GRADIO, OWN, TABS, Asked, made, send, tab


def test_opening_the_page_asks_nothing_for_a_tab_and_opening_a_tab_asks_once(bench: Bench) -> None:
    page, asked = bench.page, Asked(bench.page)
    page.reload()
    page.wait_for_selector(".glossator[data-started]")
    for name in TABS:
        tab(page, name)
    assert asked.events == len(OF_GRADIO)
    asked.paths.clear()
    for name in TABS:
        tab(page, name)
    page.get_by_role("tab", name="Annotate", exact=True).click()
    expect(page.locator(".g-canvas")).to_be_visible()
    # The workspace looks at the projects, and the browser loads a picture when it comes into sight.
    assert not [path for path in asked.paths if path != "/api/projects" and not path.endswith("/thumbnail")]


def test_changes_are_on_the_tab_in_sight_and_on_others_when_they_are_opened(bench: Bench) -> None:
    page = bench.page
    project = made(bench, "changed elsewhere")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panels = {name: tab(page, name) for name in ("Export", "Quality", "Documents", "Questions")}
    asked = Asked(page)
    expect(panels["Questions"]).to_contain_text("No standard questions yet.")
    send(bench, "PUT", f"/projects/{project}/standard-questions", {"questions": ["Who pays?", "Until when?"]})
    expect(panels["Questions"].get_by_label("Standard questions")).to_have_value("Who pays?\nUntil when?")
    tab(page, "Documents")
    file = {"name": "from another window.pdf", "mimeType": "application/pdf", "buffer": invoice()}
    uploaded = page.request.post(
        f"{bench.server}/api/projects/{project}/documents",
        multipart={"files": file},  # type: ignore[dict-item]
        headers=OWN,
    )
    assert uploaded.ok
    document = bench.get(f"/projects/{project}/documents")[0]["id"]
    row = panels["Documents"].get_by_role("row", name="from another window.pdf")
    expect(row).to_contain_text("from another window.pdf")
    expect(row.get_by_role("cell").nth(3)).to_have_text("2")
    tab(page, "Questions")
    expect(panels["Questions"]).to_contain_text("2 open")
    tab(page, "Quality")
    expect(panels["Quality"].locator(".glossator-plot", has_text="Queue depth")).to_contain_text("2 tasks to answer")
    # Out of sight, Export asks for nothing; opened, it shows what there is.
    asked.paths.clear()
    asking = page.request.post(
        f"{bench.server}/api/documents/{document}/ask", data={"question": "Who pays?"}, headers=OWN
    )
    answer = bench.get(f"/documents/{document}")["annotations"][0]
    accepted = {"idempotency_key": "accepted elsewhere", "base": answer["head"], "action": "accept", "edits": []}
    assert asking.ok
    send(bench, "PUT", f"/annotations/{answer['id']}/revisions", accepted)
    expect(panels["Quality"].locator(".glossator-plot", has_text="Queue depth")).to_contain_text("1 task to answer")
    assert "/app/gradio_api/queue/join" in asked.paths and not any("exports" in path for path in asked.paths)
    tab(page, "Export")
    expect(panels["Export"]).to_contain_text("1 answer on 1 document")


@pytest.mark.own_profile
def test_a_page_left_alone_for_a_minute_asks_for_nothing(bench: Bench) -> None:
    page = bench.page
    page.clock.install()
    page.reload()
    page.wait_for_selector(".glossator[data-started]")
    for name in (*TABS, "Jobs", "Quality", "Documents"):
        tab(page, name)
    page.clock.run_for(2_000)
    asked = Asked(page)
    page.clock.run_for(60_000)
    assert asked.paths == []


def test_a_tab_keeps_what_the_reader_has_opened_and_begun_to_write(bench: Bench) -> None:
    """Also while others change the same project."""
    page = bench.page
    project = made(bench, "kept under changes")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    documents = tab(page, "Documents")
    documents.get_by_label("New project").fill("not made yet")
    questions = tab(page, "Questions")
    written = questions.get_by_label("Standard questions")
    written.fill("Who owes?")
    send(bench, "PATCH", f"/projects/{project}/settings", {"review_required": True})
    expect(questions.get_by_label("Review required")).to_be_checked()
    expect(written).to_have_value("Who owes?")
    send(bench, "PUT", f"/projects/{project}/standard-questions", {"questions": ["Who pays?"]})
    tab(page, "Documents")
    expect(documents.get_by_label("New project")).to_have_value("not made yet")
    jobs = tab(page, "Jobs")
    jobs.get_by_text("Change", exact=True).click()
    jobs.get_by_label("Newly accepted answers that start a retraining").fill("77")
    send(bench, "PATCH", f"/projects/{project}/settings", {"retrain_after": 5})
    expect(jobs.locator(".g-triggers")).to_contain_text("5 newly accepted answers")
    expect(jobs.get_by_label("Newly accepted answers that start a retraining")).to_have_value("77")
