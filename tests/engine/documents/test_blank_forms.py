"""A folder of fillable PDFs becomes templates; other files cost a sentence or are left out."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from engine.documents.blank_forms.forms import NoForms, blank_forms
from tests.support import made_documents as made
from tests.support.made_forms import office_form


def test_a_folder_gives_its_forms_in_the_order_of_names(tmp_path: Path) -> None:
    office_form().save(tmp_path / "forms" / "b.pdf")
    office_form().save(tmp_path / "forms" / "below" / "a.pdf")
    made.text_pdf(tmp_path / "forms" / "letter.pdf")
    (tmp_path / "forms" / "notes.txt").write_text("no form")
    files = []
    templates = blank_forms(tmp_path / "forms", on_file=lambda: files.append(1))
    assert [one.source for one in templates] == ["b.pdf", "a.pdf"]
    assert len(files) == 3


def test_damaged_and_locked_files_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    forms = tmp_path / "forms"
    office_form().save(forms / "good.pdf")
    made.broken_pdf(forms / "broken.pdf")
    made.encrypted_pdf(forms / "locked.pdf")
    (forms / "empty.pdf").touch()
    with caplog.at_level(logging.WARNING):
        assert [one.source for one in blank_forms(forms)] == ["good.pdf"]
    assert "broken.pdf was left out" in caplog.text and "locked.pdf was left out" in caplog.text


def test_a_file_that_ends_its_process_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        office_form().save(tmp_path / f"{name}.pdf")
    (tmp_path / "b.pdf").write_bytes((tmp_path / "b.pdf").read_bytes() + b"\n%" + b" " * 1000)
    # The child of a test: as the real one, but it dies while it reads the second file.
    monkeypatch.setattr("engine.documents.blank_forms.forms._command", _dying(tmp_path))
    assert [one.source for one in blank_forms(tmp_path)] == ["a.pdf", "c.pdf"]


def _dying(folder: Path):
    from engine.documents.blank_forms import forms as module

    usual = module._command
    code = (
        "import os, sys, engine.documents.blank_forms.pages as pages\n"
        "read = pages.read_templates\n"
        "pages.read_templates = lambda path, limits: os._exit(9) if path.name == 'b.pdf' else read(path, limits)\n"
        "from engine.documents.blank_forms.child import main\n"
        "main()\n"
    )
    return lambda batch, limits: [usual(batch, limits)[0], "-P", "-c", code, usual(batch, limits)[-1]]


@pytest.mark.parametrize("content", ["nothing", "a letter", "a set"])
def test_a_folder_without_forms_is_refused_in_one_sentence(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "folder"
    if content != "nothing":
        folder.mkdir()
    if content == "a letter":
        made.text_pdf(folder / "letter.pdf")
    if content == "a set":
        (folder / "pages.jsonl").write_text("{}\n")
    with pytest.raises(NoForms) as caught:
        blank_forms(folder)
    assert "folder of fillable PDF forms" in str(caught.value) and str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_kept_templates_need_the_folder_no_more(tmp_path: Path) -> None:
    office_form().save(tmp_path / "forms" / "a.pdf")
    first = blank_forms(tmp_path / "forms", tmp_path / "run" / "kept.jsonl")
    shutil.rmtree(tmp_path / "forms")
    again = blank_forms(tmp_path / "forms", tmp_path / "run" / "kept.jsonl")
    assert [one.source for one in again] == [one.source for one in first]
