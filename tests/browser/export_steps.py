"""Steps of the tests of the tab Export."""

import io
import json
import zipfile

from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.bench import Bench
from tests.browser.tabs import OWN, made


def packed() -> bytes:
    """A dataset of one page with one answer."""
    picture = io.BytesIO()
    Image.new("RGB", (200, 100), "white").save(picture, "PNG")
    answered = {"images": [{"id": 1, "file_name": "a.png", "width": 200, "height": 100}]}
    answered |= {"categories": [{"id": 1, "name": "Where is the seal?"}]}
    answered |= {"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 30, 20]}]}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("annotations.json", json.dumps(answered))
        archive.writestr("a.png", picture.getvalue())
    return content.getvalue()


def opened(bench: Bench, name: str) -> str:
    """Make a project with one answer, and open the tab Export; return the address of its exports."""
    page, api = bench.page, f"{bench.server}/api"
    project = made(bench, name)
    file = {"name": "set.zip", "mimeType": "application/zip", "buffer": packed()}
    address = f"{api}/projects/{project}/import?ocr=false"
    assert page.request.post(address, multipart={"file": file}, headers=OWN).ok  # type: ignore[dict-item]
    shown(page, project, name)
    return f"{api}/projects/{project}/exports"


def shown(page: Page, project: str, name: str) -> None:
    """Open the tab Export with a project."""
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    page.get_by_role("tab", name="Export", exact=True).click()
    expect(page.get_by_label("Project").locator("visible=true")).to_have_value(name)
