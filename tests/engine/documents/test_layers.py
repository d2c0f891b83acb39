"""Text layers are checked: what is not printed does not become a word, and what they lack is read by OCR."""

from pathlib import Path

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.ocr.pages import EngineLoading, Waiting, read_waiting, save_image
from engine.documents.reading.page import ReadPage
from engine.documents.reading.render import PdfPages
from engine.documents.reading.work_clock import CLOCK
from engine.documents.text_layer.doubts import Doubt
from tests.engine.documents.conftest import Read
from tests.support import made_documents as made
from tests.support import made_layers


def text(page: ReadPage) -> list[str]:
    return [word.text for word in page.words]


def test_an_archives_metadata_are_not_taken_for_print(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.archive_pdf(tmp_path / "archive.pdf")).pages
    assert (page.text_source, text(page)) == ("ocr", made.WORDS)


def test_a_good_layer_of_a_scan_is_kept(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.searchable_pdf(tmp_path / "good.pdf")).pages
    assert (page.text_source, text(page)) == ("layer", made.WORDS)
    assert all(word.confidence is None for word in page.words)


def test_a_layer_by_bad_ocr_is_replaced(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.searchable_pdf(tmp_path / "bad.pdf", made_layers.BAD_OCR)).pages
    assert (page.text_source, text(page)) == ("ocr", made.WORDS)


def test_what_a_layer_of_a_scan_lacks_is_read_and_joined(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.searchable_pdf(tmp_path / "part.pdf", made.LETTER[:3])).pages
    assert (page.text_source, text(page)) == ("layer+ocr", made.WORDS)
    from_layer = len(" ".join(made.LETTER[:3]).split())
    assert [word.confidence is None for word in page.words] == [at < from_layer for at in range(len(made.WORDS))]


def test_text_under_an_image_counts_only_where_the_image_shows_it(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.covered_pdf(tmp_path / "same.pdf", made.LETTER)).pages
    assert (page.text_source, text(page)) == ("layer", made.WORDS)
    (page,) = read(made_layers.covered_pdf(tmp_path / "other.pdf", ["Confidential draft of another letter"] * 7)).pages
    assert (page.text_source, text(page)) == ("ocr", made.WORDS)


def test_a_page_half_text_half_picture_has_the_words_of_both(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.half_picture_pdf(tmp_path / "half.pdf")).pages
    paragraphs = [word for row in range(8) for word in f"Paragraph {row} is stored as text".split()]
    assert (page.text_source, text(page)) == ("layer+ocr", paragraphs + made.WORDS)


def test_a_font_with_a_wrong_map_to_letters_is_read_by_ocr(read: Read, tmp_path: Path) -> None:
    (page,) = read(made_layers.wrong_map_pdf(tmp_path / "shifted.pdf")).pages
    assert (page.text_source, text(page)) == ("ocr", made.WORDS)


@pytest.mark.parametrize("codes", ["wrong", "unknown"])
def test_a_font_without_letters_is_read_by_ocr_and_the_others_are_kept(read: Read, tmp_path: Path, codes: str) -> None:
    amounts = ["4,120.50", "318.75", "92.40"]
    path = made_layers.unmapped_heading_pdf(tmp_path / "heading.pdf", "ANNUAL ACCOUNTS OF 1994", amounts, codes=codes)
    (page,) = read(path).pages
    words = text(page)
    assert page.text_source == "layer+ocr"
    assert words == ["ANNUAL", "ACCOUNTS", "OF", "1994", *made.WORDS, *amounts]
    assert [word.confidence is None for word in page.words] == [False] * 4 + [True] * len(made.WORDS) + [False] * 3


@pytest.mark.parametrize("dark", [False, True])
def test_a_few_words_in_a_picture_on_a_good_page_are_read(read: Read, tmp_path: Path, dark: bool) -> None:
    (page,) = read(made_layers.logo_pdf(tmp_path / "logo.pdf", "Harbour Museum", dark=dark)).pages
    assert (page.text_source, text(page)) == ("layer+ocr", ["Harbour", "Museum", *made.WORDS * 3])


def test_white_and_outlying_and_invisible_text_is_no_word_and_needs_no_ocr(read: Read, tmp_path: Path) -> None:
    (page,) = read(made.hidden_words_pdf(tmp_path / "hidden.pdf")).pages
    assert (page.text_source, text(page)) == ("layer", ["plain", "to", "see"])


def test_a_layer_that_time_did_not_reach_is_kept_and_its_page_named(tmp_path: Path) -> None:
    pages = PdfPages(made_layers.searchable_pdf(tmp_path / "late.pdf"), ReadLimits())
    sheet = pages.read_page(1)
    picture = save_image(sheet.image, tmp_path / "page.png")
    waiting = Waiting(1, picture, sheet.image.size, 0, sheet.lines, Doubt.HIDDEN)
    said: list[dict[str, object]] = []
    limits = ReadLimits()
    read = read_waiting(
        pages,
        [waiting],
        limits,
        CLOCK.seconds(),
        lambda **told: said.append(told),
        EngineLoading(limits),
    )
    assert list(read) == [(waiting, sheet.lines, "layer")]
    assert (
        len(said) == 2 and "before page 1." in str(said[0]["warning"]) and said[1] == {"unread": [1], "try_again": [1]}
    )
