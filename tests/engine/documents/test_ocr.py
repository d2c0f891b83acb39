"""Pages without a text layer, read by Tesseract."""

from pathlib import Path

import pytest

from engine.documents.ocr import find_engine, parse_tsv
from engine.documents.page import ReadPage
from tests.support import made_documents as made

pytestmark = [pytest.mark.ocr, pytest.mark.usefixtures("tesseract")]


def text(page: ReadPage) -> list[str]:
    return [word.text for word in page.words]


def assert_reads_the_letter(page: ReadPage) -> None:
    assert page.text_source == "ocr"
    assert (page.width, page.height) == (1240, 900)
    assert text(page) == made.WORDS
    for row in range(len(made.LETTER)):  # lines are 80 pixels apart, the first at 80
        middles = [(word.box[1] + word.box[3]) / 2 for word in page.words if word.line == row]
        assert len(middles) == len(made.LETTER[row].split())
        assert all(80 + 80 * row < middle < 80 + 80 * row + 48 for middle in middles)
    assert all(word.confidence is not None and 0.3 <= word.confidence <= 1 for word in page.words)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_scan_is_turned_upright_and_read(read, tmp_path: Path, turn: int) -> None:
    (page,) = read(made.scanned_pdf(tmp_path / "scan.pdf", turn=turn), dpi=150).pages
    assert page.rotation == (360 - turn) % 360
    assert_reads_the_letter(page)


def test_a_picture_of_a_letter_is_read_in_its_own_pixels(read, tmp_path: Path) -> None:
    (page,) = read(made.image_file(tmp_path / "letter.png")).pages
    assert_reads_the_letter(page)


def test_a_stamp_printed_over_a_scan_does_not_hide_the_scan(read, tmp_path: Path) -> None:
    (page,) = read(made.scanned_pdf(tmp_path / "stamped.pdf", stamp="Page 7")).pages
    assert text(page) == [*made.WORDS, "Page", "7"]


def test_a_layer_of_garbage_is_replaced(read, tmp_path: Path) -> None:
    (page,) = read(made.unmapped_pdf(tmp_path / "garbage.pdf")).pages
    assert (page.text_source, text(page)) == ("ocr", made.WORDS)


def test_when_time_runs_out_the_pages_without_words_are_named(read, tmp_path: Path) -> None:
    path = made.scanned_pdf(tmp_path / "long.pdf", [made.LETTER * 3] * 24, height=24)
    document = read(path, seconds=6, dpi=50)
    without = [page.number for page in document.pages if page.text_source == "none"]
    assert len(document.pages) == 24 and without
    assert all(page.words for page in document.pages if page.text_source == "ocr")
    assert (
        f"ran out (6 s a document) before page{'s' if len(without) > 1 else ''} {', '.join(map(str, without[:20]))}"
        in document.warnings[0]
    )


def test_a_language_that_is_not_installed_leaves_a_warning_and_no_words(read, tmp_path: Path) -> None:
    document = read(made.image_file(tmp_path / "letter.png"), ocr_language="tlh")
    assert document.pages[0].text_source == "none"
    assert "tesseract-ocr-tlh" in document.warnings[0]


def test_of_two_languages_the_one_that_is_there_is_used() -> None:
    engine, sentence = find_engine("eng+tlh")
    assert engine is not None and engine.language == "eng"
    assert sentence is not None and "tlh" in sentence


def test_without_an_engine_pages_are_kept_and_a_warning_says_how_to_get_one(
    read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document = read(made.image_file(tmp_path / "letter.png"))
    assert document.pages[0].text_source == "none"
    assert "install Tesseract" in document.warnings[0]


def test_noise_and_empty_rows_are_no_words() -> None:
    head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    rows = ["4\t1\t1\t1\t1\t0\t0\t0\t90\t10\t-1\t"]
    rows += [
        f"5\t1\t1\t1\t1\t1\t{10 * i}\t0\t9\t10\t{sure}\t{word}"
        for i, (sure, word) in enumerate([(96, "Total"), (12, "smudge"), (50, "|"), (90, " "), (95, '"12'), (91, ":")])
    ]
    (line,) = parse_tsv(head + "\n".join(rows))
    assert [word.text for word in line.words] == ["Total", '"12', ":"]
    assert line.words[0].box == (0.0, 0.0, 9.0, 10.0)
