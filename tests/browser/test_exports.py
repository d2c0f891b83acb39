"""The tab Export: an export is started, listed, downloaded and stopped, and what is wrong with one is said there."""

import re
import zipfile
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.export_steps import opened
from tests.browser.tabs import OWN
from tests.support.server_process import Served

pytestmark = [pytest.mark.browser, pytest.mark.own_page]  # its list does not load in a page where the tab was open


def test_an_export_is_started_and_downloaded(bench: Bench) -> None:
    page = bench.page
    opened(bench, "to be exported")
    listed = page.get_by_role("list", name="Exports")
    expect(page.get_by_text("No exports yet.")).to_be_visible()
    page.get_by_role("button", name="Export as COCO").click()
    row = listed.get_by_role("listitem")
    expect(row).to_contain_text(re.compile(r"1 answer · [\d.]+ KB · kept until"))
    expect(row).to_contain_text("done")
    expect(page.get_by_text("No exports yet.")).to_be_hidden()
    with page.expect_download() as download:
        row.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "to-be-exported-coco.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {"annotations.json", "manifest.json"} <= set(archive.namelist())


def test_an_export_and_its_snapshot_are_deleted_after_a_question(bench: Bench, served: Served) -> None:
    page = bench.page
    address = opened(bench, "to be deleted")
    page.get_by_role("button", name="Export as COCO").click()
    exports, frozen = (page.get_by_role("list", name=name).get_by_role("listitem") for name in ("Exports", "Snapshots"))
    expect(exports).to_contain_text("kept until")
    expect(frozen).to_contain_text("1 answer on 1 document, frozen")
    name = str(frozen.locator("b").text_content())
    file = served.data / "exports" / f"{page.request.get(address).json()[0]['id']}.zip"
    assert file.exists() and list((served.data / "blobs").glob(f"*/{name}*"))
    question = page.get_by_role("dialog", name="Delete this export?")
    for answer, left in (("Keep it", 1), ("Delete", 0)):
        exports.get_by_role("button", name="Delete").click()
        expect(question).to_contain_text("deleted for good")
        question.get_by_role("button", name=answer, exact=True).click()
        expect(question).to_have_count(0)
        expect(exports).to_have_count(left)
    assert not file.exists() and page.request.get(address).json() == []
    page.get_by_role("button", name=f"Delete the snapshot {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No snapshots yet.")).to_be_visible()
    assert list((served.data / "blobs").glob(f"*/{name}*")) == []


def test_an_export_that_fails_says_why_and_one_that_waits_can_be_stopped(bench: Bench, served: Served) -> None:
    page = bench.page
    address = opened(bench, "to be stopped")
    row = page.get_by_role("list", name="Exports").get_by_role("listitem")
    job = page.request.post(f"{address}?until=2000-01-01&format=csv", headers=OWN).json()["id"]
    expect(row).to_contain_text("no accepted answer matches the filter")
    expect(row).to_contain_text("CSV of questions and answers")
    expect(row).to_contain_text("before 2000-01-01 · started by local")
    expect(row.get_by_role("button", name="Stop")).to_be_hidden()
    expect(row.get_by_role("link", name="Download")).to_be_hidden()
    later = "2099-01-01 00:00:00.000000"  # no worker takes it before
    served.write("UPDATE jobs SET status = 'waiting', finished_at = NULL, run_after = ? WHERE id = ?", later, job)
    told = "INSERT INTO changes (project_id, topic, subject_id, created_at) SELECT project_id, 'jobs', id, ? FROM jobs"
    served.write(f"{told} WHERE id = ?", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}", job)
    expect(row).to_contain_text("Waiting for other exports.")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    row.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("No exports yet.")).to_be_visible()
    assert served.rows("SELECT status FROM jobs WHERE id = ?", job) == [("cancelled",)]


def test_an_export_beyond_those_that_may_wait_is_refused_in_a_sentence(bench: Bench, served: Served) -> None:
    page = bench.page
    address = opened(bench, "too many")
    failed = page.request.post(f"{address}?until=2000-01-01", headers=OWN).json()["id"]
    row = page.get_by_role("list", name="Exports").get_by_role("listitem")
    expect(row).to_contain_text("no accepted answer matches the filter")
    columns = [
        name for _, name, *_ in served.rows("PRAGMA table_info(jobs)") if name not in ("id", "status", "run_after")
    ]
    named = ", ".join(columns)
    for number in range(8):
        served.write(
            f"INSERT INTO jobs (id, status, run_after, {named})"
            f" SELECT ?, 'waiting', '2099-01-01 00:00:00.000000', {named} FROM jobs WHERE id = ?",
            f"{number:032}", failed,
        )  # fmt: skip
    page.get_by_role("button", name="Export as COCO").click()
    expect(page.locator(".g-say:visible")).to_have_text("Too many exports are waiting. Try again in a minute.")
    served.write("UPDATE jobs SET status = 'cancelled' WHERE kind = 'export' AND status = 'waiting'")
    page.get_by_role("button", name="Export as COCO").click()
    expect(page.locator(".g-say:visible")).to_have_count(0)
    expect(row.filter(has_text="1 answer")).to_be_visible()
