"""What takes its time is told, and stopped at a wish: imports, the reading of a long document, messages."""

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, expect

from tests.browser.bench import Bench, invoice

pytestmark = pytest.mark.browser


def wordless(path: Path, pages: int) -> Path:
    """A set of pages without words, which take a while each, for they are read; one of them is answered."""
    images = [{"id": at, "file_name": f"{at}.png", "width": 300, "height": 200} for at in range(1, pages + 1)]
    answered = {"images": images, "categories": [{"id": 1, "name": "Where is the seal?"}]}
    answered |= {"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 30, 20]}]}
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("annotations.json", json.dumps(answered))
        for at in range(1, pages + 1):
            picture = io.BytesIO()
            Image.new("RGB", (300, 200), (255, pages, at)).save(picture, "PNG")
            packed.writestr(f"{at}.png", picture.getvalue())
    return path


def test_the_reading_of_a_long_document_is_stopped_and_resumed(bench: Bench) -> None:
    file: FilePayload = {"name": "long.pdf", "mimeType": "application/pdf", "buffer": invoice(pages=60)}
    bench.page.set_input_files("input[type=file]", [file])
    strip = bench.page.locator(".g-strip-head")
    expect(strip.locator("h3")).to_contain_text("of 60")
    strip.get_by_role("button", name="Stop reading").click()
    expect(strip.get_by_role("button", name="Read the rest")).to_be_visible(timeout=30_000)
    expect(bench.page.locator(".g-toast")).to_contain_text("of 60 pages were read: reading was stopped.")
    expect(strip.locator("h3")).not_to_contain_text("of 60")
    strip.get_by_role("button", name="Read the rest").click()
    expect(strip.get_by_role("button", name="Stop reading")).to_be_visible()
    expect(strip.locator("h3")).to_have_text("Pages · 60", timeout=60_000)
    expect(strip.get_by_role("button")).to_have_count(0)


@pytest.mark.own_profile
def test_an_error_stays_longer_and_while_somebody_reads_it(bench: Bench) -> None:
    bench.page.clock.install()
    bench.page.evaluate(
        """() => { const { toasts } = document.querySelector('.glossator').workspace;
          toasts.show('It went well until 14:03:22 UTC.'); toasts.show('It went wrong.', 'error'); }"""
    )
    here = bench.page.evaluate(
        """() => { const at = new Date(); at.setUTCHours(14, 3, 22);
          return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }); }"""
    )
    expect(bench.page.locator(".g-toast").first).to_have_text(re.compile(f"until {here}\\."))
    bench.page.clock.fast_forward(10_000)
    expect(bench.page.locator(".g-toast")).to_have_text("It went wrong.")
    bench.page.locator(".g-toast").hover()
    bench.page.clock.fast_forward(60_000)
    expect(bench.page.locator(".g-toast")).to_have_text("It went wrong.")
    bench.page.mouse.move(5, 5)
    bench.page.clock.fast_forward(5_000)
    expect(bench.page.locator(".g-toast")).to_have_count(0)


def test_the_import_form_tells_how_far_it_is(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    page.get_by_role("tab", name="Documents", exact=True).click()
    form = page.locator("form[data-import]")
    form.get_by_label("Zip file").set_input_files(wordless(tmp_path / "set.zip", 4))
    heard = """(output) => { window.heard = [];
      new MutationObserver(() => window.heard.push(output.textContent)).observe(output, { childList: true }); }"""
    form.locator("output").evaluate(heard)
    form.get_by_role("button", name="Import").click()
    expect(form.locator("output")).to_contain_text("Imported as coco: 4 documents")
    steps = [
        each for each in page.evaluate("window.heard") if re.match(r"(Checking the pages|Storing): [0-4] of 4\. ", each)
    ]
    stored = [int(re.search(r"(\d) of", each)[1]) for each in steps if each.startswith("Storing")]  # type: ignore[index]
    assert len(stored) >= 2 and stored == sorted(stored), page.evaluate("window.heard")


def test_an_import_is_stopped_from_its_form_and_after_a_reload_from_the_list(bench: Bench, tmp_path: Path) -> None:
    page, many = bench.page, wordless(tmp_path / "many.zip", 60)
    page.get_by_role("tab", name="Documents", exact=True).click()
    form, under_way = page.locator("form[data-import]"), page.get_by_role("list", name="Running imports")

    def begin() -> None:
        form.get_by_label("Zip file").set_input_files(many)
        form.get_by_role("button", name="Import").click()
        expect(form.locator("output")).to_contain_text("Storing")
        expect(under_way).to_be_hidden()  # its own form tells of it

    begin()
    form.get_by_role("button", name="Stop").click()
    expect(form.locator("output")).to_contain_text("Stopped")
    expect(form.locator("output")).not_to_have_class(re.compile("g-wrong"))
    expect(form.get_by_role("button", name="Stop")).to_be_hidden()
    begin()
    page.reload()
    page.get_by_role("tab", name="Documents", exact=True).click()
    expect(under_way).to_contain_text("many.zip")
    under_way.get_by_role("button", name="Stop").click()
    expect(under_way).to_be_hidden()
    documents = bench.get(f"/projects/{form.get_attribute('data-import')}/documents")
    assert "60.png" not in [each["name"] for each in documents]
