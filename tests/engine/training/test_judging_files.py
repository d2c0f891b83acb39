"""Files that judge the model: the shipped list is that of the marks, and what is on it teaches nothing."""

import shutil
from pathlib import Path

import pytest

from db.blobs import sha256_of
from engine.training import judging_files
from engine.training.evaluation.marks import read_marks
from tests.support.made_documents import text_pdf
from tests.support.repository import ROOT

MARKS = ROOT / "tests" / "data" / "marks" / "marks.jsonl"


def test_the_shipped_list_names_the_files_of_the_marks() -> None:
    assert {mark.sha256: mark.file for mark in read_marks(MARKS)}.items() <= judging_files.judging_files().items()


def test_every_mark_lies_on_its_page_and_no_question_comes_twice() -> None:
    marks = read_marks(MARKS)
    assert all(mark.pixels(mark.size).any() for mark in marks)
    assert len({(mark.sha256, mark.page, mark.question) for mark in marks}) == len(marks)


def test_a_judging_file_teaches_nothing_by_content_or_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marked = text_pdf(tmp_path / "marked.pdf")
    digest = sha256_of(marked)
    monkeypatch.setattr(judging_files, "judging_files", lambda: {digest: "marked.pdf"})
    renamed = Path(shutil.copy(marked, tmp_path / "renamed.pdf"))
    other = text_pdf(tmp_path / "other.pdf", [["Another page"]])
    changed = tmp_path / "later" / "marked.pdf"
    changed.parent.mkdir()
    text_pdf(changed, [["The same name, another content"]])

    kept, sentence = judging_files.without_judging([marked, other, renamed, changed])

    assert kept == [other]
    assert sentence == "marked.pdf, renamed.pdf, marked.pdf judge the model, so nothing is learned from them."
    assert judging_files.without_judging([other]) == ([other], None)
