"""A tab is fetched when it is opened, and again only when what it shows has changed while it is in sight."""

from playwright.sync_api import expect

from tests.browser.bench import Bench, invoice
from tests.browser.tabs import OWN, Asked, made, send, tab


def test_changes_are_on_the_tab_in_sight_and_on_others_when_they_are_opened(bench: Bench) -> None:
    page = bench.page
    project = made(bench, "changed elsewhere")
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    panels = {name: tab(page, name) for name in ("Export", "Quality", "Documents", "Questions")}
    asked = Asked(bench)
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
