"""A bad file gets one sentence, costs bounded time and memory, and leaves nothing behind."""

import logging
import pickle
import time
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.refusal import DocumentRefused, Reason
from tests.support import made_documents as made

pytestmark = pytest.mark.own_readers  # their limits on memory, and how they end


def refusal(path: Path, name: str | None = None, **limits: Any) -> DocumentRefused:
    pages = path.parent / "pages"
    with pytest.raises(DocumentRefused) as caught:
        read_document(path, name=name or path.name, limits=ReadLimits(**limits), out_dir=pages)
    sentence = str(caught.value)
    assert list(pages.iterdir()) == [], "pages of a refused document were left behind"
    assert sentence.endswith(".") and "\n" not in sentence and "Traceback" not in sentence
    assert sentence.startswith('"')
    return caught.value


def test_an_empty_file(tmp_path: Path) -> None:
    refused = refusal(made.empty_file(tmp_path / "empty.pdf"))
    assert refused.reason == Reason.EMPTY
    assert '"empty.pdf" is empty' in str(refused)


def test_a_file_with_a_password(tmp_path: Path) -> None:
    refused = refusal(made.encrypted_pdf(tmp_path / "locked.pdf"))
    assert refused.reason == Reason.ENCRYPTED
    assert "password" in str(refused)


def test_a_broken_pdf(tmp_path: Path) -> None:
    assert refusal(made.broken_pdf(tmp_path / "broken.pdf")).reason == Reason.BROKEN


def test_a_pdf_without_pages(tmp_path: Path) -> None:
    assert refusal(made.pageless_pdf(tmp_path / "none.pdf")).reason == Reason.NO_PAGES


def test_more_pages_than_allowed(tmp_path: Path) -> None:
    refused = refusal(made.text_pdf(tmp_path / "long.pdf", [["x"]] * 4), pages=3)
    assert refused.reason == Reason.TOO_MANY_PAGES
    assert "4 pages" in str(refused)


def test_more_pages_than_allowed_in_a_tiff(tmp_path: Path) -> None:
    small = made.text_image(["x"], size=(60, 60), height=12, mode="1")
    assert refusal(made.tiff(tmp_path / "long.tif", [small] * 4), pages=3).reason == Reason.TOO_MANY_PAGES


def test_more_bytes_than_allowed(tmp_path: Path) -> None:
    refused = refusal(made.text_pdf(tmp_path / "fat.pdf"), bytes=500)
    assert refused.reason == Reason.TOO_LARGE
    assert "500 bytes" in str(refused)


def test_more_words_than_allowed(tmp_path: Path) -> None:
    assert refusal(made.text_pdf(tmp_path / "words.pdf"), words=20).reason == Reason.TOO_LARGE


def test_an_image_header_that_claims_too_many_pixels_is_refused_before_decoding(tmp_path: Path) -> None:
    refused = refusal(made.png_header(tmp_path / "huge.png", 60_000, 60_000), memory_mb=512)
    assert refused.reason == Reason.TOO_MANY_PIXELS
    assert "60,000 x 60,000" in str(refused)


def test_an_image_that_breaks_off(tmp_path: Path) -> None:
    assert refusal(made.png_header(tmp_path / "cut.png", 800, 600)).reason == Reason.BROKEN


def test_a_jpeg_that_breaks_off(tmp_path: Path) -> None:
    path = made.image_file(tmp_path / "cut.jpg")
    path.write_bytes(path.read_bytes()[:3000])
    assert refusal(path).reason == Reason.BROKEN


def test_a_page_that_takes_for_ever_is_stopped_in_time(tmp_path: Path) -> None:
    path = made.endless_pdf(tmp_path / "endless.pdf")
    start = time.monotonic()
    refused = refusal(path, seconds=1.5)
    assert refused.reason == Reason.TOO_SLOW
    assert time.monotonic() - start < 5


def test_more_memory_than_allowed(tmp_path: Path) -> None:
    image = made.text_image(size=(4900, 4900))
    refused = refusal(made.tiff(tmp_path / "wide.tif", [image], compression="tiff_deflate"), memory_mb=160)
    assert refused.reason == Reason.TOO_MUCH_MEMORY


def test_a_picture_that_unpacks_to_a_gigapixel_stays_within_its_memory(tmp_path: Path) -> None:
    path = made.picture_bomb_pdf(tmp_path / "bomb.pdf")
    try:
        document = read_document(path, name=path.name, limits=ReadLimits(memory_mb=400), out_dir=tmp_path / "pages")
    except DocumentRefused as refused:
        assert refused.reason == Reason.TOO_MUCH_MEMORY
    else:
        assert [(page.width, page.height) for page in document.pages] == [(1240, 1755)]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "HEIC"),
        (b"BM is no picture", "text file"),
        (b"Dear Sir or Madam,\n", "text file"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"\x07\x93\xfe\xff\x00\x11", "unknown"),
    ],
)
def test_other_kinds_are_named_whatever_their_extension_says(tmp_path: Path, head: bytes, kind: str) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(head + b" " * 40)
    refused = refusal(path)
    assert refused.reason == Reason.NOT_SUPPORTED
    assert kind in str(refused)


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (["[Content_Types].xml", "_rels/.rels", "docProps/app.xml", "word/document.xml"], "a Word document"),
        (["[Content_Types].xml", "xl/workbook.xml"], "an Excel workbook"),
        (["mimetype", "content.xml", "META-INF/manifest.xml"], "an OpenDocument file"),
        (["scans/1.png"], "a ZIP archive"),
    ],
)
def test_what_is_packed_as_zip_is_named_by_its_entries(tmp_path: Path, entries: list[str], kind: str) -> None:
    path = tmp_path / "letter.docx"
    with ZipFile(path, "w") as archive:
        for name in entries:
            archive.writestr(name, "x" * 5000)  # what tells stands behind the first bytes
    assert kind in str(refusal(path))


def test_the_content_decides_and_not_the_extension(read, tmp_path: Path) -> None:
    assert read(made.text_pdf(tmp_path / "really.png")).media_type == "application/pdf"


def test_the_sentence_shows_a_hostile_name_as_one_short_line(tmp_path: Path) -> None:
    refused = refusal(made.empty_file(tmp_path / "x.pdf"), name="a\nb\x1b[2J" + "long" * 100 + ".pdf")
    assert "\x1b" not in str(refused)
    assert len(str(refused)) < 250


def test_a_crash_of_the_reading_process_is_one_sentence_and_its_trace_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder of the same name first on the child's path stands in for a reader that dies at once.
    broken = tmp_path / "broken" / "pymupdf"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(
        "engine.documents.reading.open.environment",
        lambda: {"PYTHONPATH": f"{broken.parent}:{Path.cwd()}", "PATH": "/usr/bin"},
    )
    with caplog.at_level(logging.ERROR, logger="engine.documents.reading.open"):
        assert refusal(made.text_pdf(tmp_path / "crash.pdf")).reason == Reason.BROKEN
    assert "status -6" in caplog.text


def test_an_error_of_the_caller_stops_reading_and_comes_through(tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    def on_page(done: int, pages: int) -> None:
        assert (done, pages) == (1, 40)
        raise Cancelled

    path = made.text_pdf(tmp_path / "forty.pdf", [["x"]] * 40)
    with pytest.raises(Cancelled):
        read_document(path, name=path.name, limits=ReadLimits(), out_dir=tmp_path / "pages", on_page=on_page)
    assert list((tmp_path / "pages").iterdir()) == []


def test_progress_counts_every_page(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = made.text_pdf(tmp_path / "five.pdf", [["x"]] * 5)
    read_document(
        path, name="five", limits=ReadLimits(), out_dir=tmp_path / "pages", on_page=lambda *counts: told.append(counts)
    )
    assert told == [(number, 5) for number in range(1, 6)]


def test_a_missing_file_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_document(tmp_path / "gone.pdf", name="gone.pdf", limits=ReadLimits(), out_dir=tmp_path / "pages")


def test_a_refusal_can_be_sent_between_processes() -> None:
    refused = DocumentRefused(Reason.EMPTY, "a.pdf", "is empty.")
    again = pickle.loads(pickle.dumps(refused))
    assert (str(again), again.reason) == (str(refused), Reason.EMPTY)


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"pages": -1}, {"ocr_language": "eng; rm -rf /"}])
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="ReadLimits"):
        ReadLimits(**wrong)
