"""Pages without a text layer, read by RapidOCR and by Tesseract."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from engine.documents.ocr import pages as ocr_pages
from engine.documents.ocr import tesseract
from engine.documents.ocr.choose import find_engine
from engine.documents.ocr.engine import OcrFailed, OcrOutOfTime
from engine.documents.ocr.rapid import RapidOcr, half_width
from engine.documents.reading.page import ReadPage
from tests.support import made_documents as made

pytestmark = pytest.mark.ocr


@pytest.fixture(params=["rapidocr", "tesseract"])
def ocr(request: pytest.FixtureRequest) -> str:
    if request.param == "tesseract":
        request.getfixturevalue("tesseract")
    return str(request.param)


def text(page: ReadPage) -> list[str]:
    return [word.text for word in page.words]


def assert_reads_the_letter(page: ReadPage) -> None:
    assert page.text_source == "ocr"
    assert (page.width, page.height) == made.PAPER
    assert text(page) == made.WORDS
    for row in range(len(made.LETTER)):  # lines are 80 pixels apart, the first at 80
        middles = [(word.box[1] + word.box[3]) / 2 for word in page.words if word.line == row]
        assert len(middles) == len(made.LETTER[row].split())
        assert all(80 + 80 * row < middle < 80 + 80 * row + 48 for middle in middles)
    assert all(word.confidence is not None and 0.3 <= word.confidence <= 1 for word in page.words)


@pytest.mark.parametrize("turn", [0, pytest.param(90, marks=pytest.mark.long_case), 180, 270])
def test_a_scan_is_turned_upright_and_read(read, tmp_path: Path, turn: int, ocr: str) -> None:
    (page,) = read(made.scanned_pdf(tmp_path / "scan.pdf", turn=turn), dpi=150, ocr=ocr).pages
    assert page.rotation == (360 - turn) % 360
    assert_reads_the_letter(page)


def test_a_picture_of_a_letter_is_read_in_its_own_pixels(read, tmp_path: Path, ocr: str) -> None:
    (page,) = read(made.image_file(tmp_path / "letter.png"), ocr=ocr).pages
    assert_reads_the_letter(page)


def test_white_letters_on_black_are_read(read, tmp_path: Path) -> None:
    (page,) = read(made.image_file(tmp_path / "night.png", ImageOps.invert(made.text_image().convert("L")))).pages
    assert_reads_the_letter(page)


def test_a_page_fed_askew_is_read_and_its_boxes_follow_the_lines(read, tmp_path: Path) -> None:
    askew = made.text_image().convert("L").rotate(3, Image.Resampling.BICUBIC, fillcolor=255)
    (page,) = read(made.image_file(tmp_path / "askew.png", askew)).pages
    assert sorted(text(page)) == sorted(made.WORDS)
    first = next(word for word in page.words if word.text == made.WORDS[0])
    assert first.box[3] - first.box[1] < 80  # not as high as the whole slanted line


def test_boxes_of_words_hold_their_ink_and_none_of_their_neighbours(read, tmp_path: Path) -> None:
    (page,) = read(made.image_file(tmp_path / "letter.png")).pages
    ink = np.asarray(made.text_image().convert("L")) < 128
    covered = np.zeros_like(ink)
    for word in page.words:
        x0, y0, x1, y1 = word.box
        covered[y0:y1, x0:x1] = True
        rows = np.flatnonzero(ink[y0:y1, x0:x1].any(axis=1))
        assert len(rows) and (rows[-1] - rows[0]) > 0.5 * (y1 - y0)
    assert (ink & ~covered).sum() < 0.02 * ink.sum()


def test_a_stamp_printed_over_a_scan_does_not_hide_the_scan(read, tmp_path: Path, ocr: str) -> None:
    (page,) = read(made.scanned_pdf(tmp_path / "stamped.pdf", stamp="Page 7"), ocr=ocr).pages
    assert text(page) == [*made.WORDS, "Page", "7"]


def test_a_layer_of_garbage_is_replaced(read, tmp_path: Path, ocr: str) -> None:
    (page,) = read(made.unmapped_pdf(tmp_path / "garbage.pdf"), ocr=ocr).pages
    assert (page.text_source, text(page)) == ("ocr", made.WORDS)


def test_when_time_runs_out_the_pages_without_words_are_named(read, tmp_path: Path, ocr: str) -> None:
    path = made.scanned_pdf(tmp_path / "long.pdf", [made.LETTER * 3] * 12, height=24)
    document = read(path, seconds=2, ocr_seconds=0.02, dpi=50, ocr=ocr)
    without = [page.number for page in document.pages if page.text_source == "none"]
    assert len(document.pages) == 12 and without
    assert all(page.words for page in document.pages if page.text_source == "ocr")
    assert (
        f"ran out (0.02 s a page) before page{'s' if len(without) > 1 else ''} {', '.join(map(str, without))}"
        in document.warnings[0]
    )


def test_a_page_on_which_the_engine_hangs_does_not_take_the_time_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of that name that knows a language and hangs."""
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1" = --list-langs ] && printf "List\\neng\\n" && exit 0\nexec sleep 600\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent) + ":/usr/bin:/bin")
    monkeypatch.setattr(ocr_pages, "PAGE_SECONDS", 0.5)
    engine, _ = find_engine("tesseract", "eng", 1)
    assert engine is not None
    with pytest.raises(OcrOutOfTime):
        ocr_pages.read_in_time(engine, made.text_image().convert("L"), float("inf"))


def test_a_long_scan_has_the_time_of_its_pages(read, tmp_path: Path) -> None:
    path = made.scanned_pdf(tmp_path / "long.pdf", [made.LETTER] * 8)
    document = read(path, seconds=5, ocr_seconds=20, dpi=100)
    assert document.warnings == () and all(page.words for page in document.pages)


@pytest.mark.usefixtures("tesseract")
def test_a_language_that_is_not_installed_leaves_a_warning_and_no_words(read, tmp_path: Path) -> None:
    document = read(made.image_file(tmp_path / "letter.png"), ocr="tesseract", ocr_language="tlh")
    assert document.pages[0].text_source == "none"
    assert "tesseract-ocr-tlh" in document.warnings[0]


@pytest.mark.usefixtures("tesseract")
def test_of_two_languages_the_one_that_is_there_is_used() -> None:
    engine, sentence = find_engine("tesseract", "eng+tlh", 1)
    assert engine is not None and engine.language == "eng"
    assert sentence is not None and "tlh" in sentence


def test_without_tesseract_pages_are_kept_and_a_warning_says_how_to_get_it(
    read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document = read(made.image_file(tmp_path / "letter.png"), ocr="tesseract")
    assert document.pages[0].text_source == "none"
    assert "Tesseract is not installed" in document.warnings[0]


def test_rapidocr_needs_nothing_beside_it(read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document = read(made.image_file(tmp_path / "letter.png"))
    assert_reads_the_letter(document.pages[0])
    assert document.warnings == ()


def test_letters_that_rapidocr_does_not_know_are_left_to_tesseract(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    def told(language: str) -> tuple[str | None, str | None, str | None]:
        engine, sentence = find_engine("auto", language, 1)
        return (engine.name, engine.language, sentence) if engine else (None, None, sentence)

    assert told("eng+deu+jpn") == ("rapidocr", "eng+deu+jpn", None)
    monkeypatch.setenv("PATH", str(tmp_path))  # no Tesseract
    name, language, sentence = told("eng+rus")
    assert (name, language) == ("rapidocr", "eng")
    assert sentence is not None and "tesseract-ocr-rus" in sentence
    name, language, sentence = told("ell")
    assert name is None and sentence is not None and "Tesseract is not installed" in sentence


def test_an_error_of_the_networks_costs_one_page_and_not_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    class OutOfNodes(Exception):
        """As the runtime's own errors: of no common type."""

    def fails(*_: object) -> None:
        raise OutOfNodes("bad allocation")

    engine = RapidOcr("eng", 1)
    monkeypatch.setattr(engine._recogniser, "recognize_txt", fails)
    with pytest.raises(OcrFailed, match="OutOfNodes: bad allocation"):
        engine.read_image(made.text_image().convert("L"), float("inf"))
    with pytest.raises(OcrOutOfTime):
        engine.read_image(made.text_image().convert("L"), 0.0)


def test_wide_signs_become_plain_ones_but_not_in_east_asian_lines() -> None:
    assert half_width("Total：（RM）") == "Total:(RM)"
    assert half_width("合計：１２") == "合計：１２"


def test_noise_and_empty_rows_are_no_words() -> None:
    head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    rows = ["4\t1\t1\t1\t1\t0\t0\t0\t90\t10\t-1\t"]
    rows += [
        f"5\t1\t1\t1\t1\t1\t{10 * i}\t0\t9\t10\t{sure}\t{word}"
        for i, (sure, word) in enumerate([(96, "Total"), (12, "smudge"), (50, "|"), (90, " "), (95, '"12'), (91, ":")])
    ]
    (line,) = tesseract.parse_tsv(head + "\n".join(rows))
    assert [word.text for word in line.words] == ["Total", '"12', ":"]
    assert line.words[0].box == (0.0, 0.0, 9.0, 10.0)
