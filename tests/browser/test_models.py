"""The tab Training: the weights of a model are deleted after a question, or a sentence says what needs them."""

import re

import pytest
from playwright.sync_api import expect

from db.blobs import BlobFolder
from tests.browser.bench import Bench
from tests.browser.tabs import made
from tests.support.server_process import Served

pytestmark = [pytest.mark.browser, pytest.mark.own_page]


def test_weights_are_deleted_after_a_question_and_those_in_use_stay(bench: Bench, served: Served) -> None:
    page, project = bench.page, made(bench, "with models")
    blobs = BlobFolder(served.data / "blobs")
    [(shipped,)] = served.rows("SELECT checkpoint_sha256 FROM model_versions WHERE project_id IS NULL")
    own = blobs.put(b"weights of v2")
    for number, sha256 in enumerate((shipped, own), 1):
        served.write(
            "INSERT INTO model_versions (id, project_id, number, checkpoint_sha256, code_version, optimizer, figures,"
            " created_at) VALUES (?, ?, ?, ?, 'test', '{}', '{}', '2026-11-30 00:00:00.000000')",
            f"{number:032}", project, number, sha256,
        )  # fmt: skip
    page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    page.get_by_role("tab", name="Training", exact=True).click()
    page.get_by_role("button", name="Delete the weights of v1").click()
    dialog = page.get_by_role("dialog", name="Delete the weights of v1?")
    dialog.get_by_role("button", name="Delete the weights").click()
    expect(dialog.get_by_role("alert")).to_have_text("v1 has weights in common with nano, so they stay.")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Delete the weights of v2").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the weights").click()
    expect(page.get_by_text("v2, no weights")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Delete the weights of"))).to_have_count(1)
    assert own not in blobs and shipped in blobs
