"""The link to the program's source: on every tab, in the dialog of keys, and before anybody has logged in."""

import io
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.bench import Bench
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

TABS = ("Documents", "Questions", "Training", "Jobs", "Quality", "Table", "Export", "People")


def test_every_tab_and_the_dialog_of_keys_offer_the_source(bench: Bench) -> None:
    page = bench.page
    bench.keys.press("?")
    link = page.locator(".g-dialog").get_by_role("link", name="Source")
    expect(link).to_be_visible()
    expect(page.locator(".g-about")).to_contain_text("AGPL-3.0-or-later")
    assert link.get_attribute("href") == "/source"
    bench.keys.press("Escape")
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        shown = page.locator(".glossator-about").locator("visible=true")
        expect(shown).to_have_count(1)
        expect(shown).to_contain_text("AGPL-3.0-or-later")
    with page.expect_download() as begun:
        shown.get_by_role("link", name="Source").click()
    with zipfile.ZipFile(io.BytesIO(Path(begun.value.path()).read_bytes())) as packed:
        assert "glossator/annotator/static/main.js" in packed.namelist()


def test_who_has_not_logged_in_is_offered_the_source_too(
    server_with_login: tuple[Served, dict[str, str]], browser: Browser
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server_with_login[0].address}/login")
    with page.expect_download() as begun:
        page.get_by_role("link", name="Source").click()
    assert begun.value.suggested_filename.endswith("-source.zip")
    context.close()
