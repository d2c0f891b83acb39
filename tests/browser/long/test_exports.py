"""The tab Export: an export is there after a reload."""

import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.export_steps import opened, shown

pytestmark = pytest.mark.browser


def test_an_export_is_started_and_downloaded_also_after_a_reload(bench: Bench) -> None:
    page = bench.page
    address = opened(bench, "to be exported")
    listed = page.get_by_role("list", name="Exports")
    expect(page.get_by_text("No exports yet.")).to_be_visible()
    page.get_by_role("button", name="Export as COCO").click()
    row = listed.get_by_role("listitem")
    expect(row).to_contain_text(re.compile(r"1 answer · [\d.]+ KB · kept until"))
    expect(row).to_contain_text("done")
    expect(page.get_by_text("No exports yet.")).to_be_hidden()
    bench.reload()
    shown(page, address.split("/")[-2], "to be exported")
    expect(row).to_have_count(1)
    with page.expect_download() as download:
        row.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "to-be-exported-coco.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {"annotations.json", "manifest.json"} <= set(archive.namelist())
