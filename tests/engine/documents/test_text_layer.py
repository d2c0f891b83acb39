"""Words of the text layer, in pixels of the page as drawn."""

from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageChops

from engine.documents.limits import ReadLimits
from engine.documents.reading.page import ReadPage, ReadWord
from engine.documents.reading.render import PdfPages
from engine.documents.reading.source_words import clip
from tests.support import made_documents as made


def text(page: ReadPage) -> list[str]:
    return [word.text for word in page.words]


def assert_boxes_hold_the_ink(page: ReadPage) -> None:
    """Every box has ink in it, lies on the page, and next to no ink is left outside the boxes."""
    with Image.open(page.image_path) as stored:
        ink = ImageChops.invert(stored.convert("L")).point(lambda value: 255 if value > 128 else 0)
    assert ink.size == (page.width, page.height)
    everything = ink.histogram()[255]
    for word in page.words:
        x0, y0, x1, y1 = word.box
        assert 0 <= x0 < x1 <= page.width and 0 <= y0 < y1 <= page.height
        assert ink.crop(word.box).getbbox() is not None, f"nothing under {word}"
        ink.paste(0, word.box)
    assert ink.histogram()[255] < 0.02 * everything


def test_words_come_in_reading_order_with_boxes_on_their_ink(read, tmp_path: Path) -> None:
    document = read(made.text_pdf(tmp_path / "letter.pdf", [made.LETTER, ["Second page"]], title="A letter"))
    assert (document.media_type, document.title, document.warnings) == ("application/pdf", "A letter", ())
    assert [page.number for page in document.pages] == [1, 2]
    first, second = document.pages
    assert (first.width, first.height, first.text_source) == (1240, 1755, "layer")
    assert text(first) == made.WORDS
    assert text(second) == ["Second", "page"]
    assert [word.line for word in first.words][:7] == [0, 0, 0, 1, 1, 1, 2]
    assert all(word.confidence is None for word in first.words)
    assert_boxes_hold_the_ink(first)


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_rotated_page_is_turned_until_its_text_is_upright(read, tmp_path: Path, rotation: int) -> None:
    (page,) = read(made.text_pdf(tmp_path / "rotated.pdf", rotation=rotation)).pages
    assert page.rotation == 0  # as stored, the page was upright
    assert text(page) == made.WORDS
    assert_boxes_hold_the_ink(page)


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_sideways_text_on_an_upright_page_is_turned(read, tmp_path: Path, rotate: int) -> None:
    (page,) = read(made.sideways_pdf(tmp_path / "sideways.pdf", rotate)).pages
    assert page.rotation == rotate
    assert text(page) == made.WORDS
    assert_boxes_hold_the_ink(page)


def test_mirrored_text_is_not_stood_on_its_head(read, tmp_path: Path) -> None:
    (page,) = read(made.mirrored_pdf(tmp_path / "mirrored.pdf")).pages
    assert page.rotation == 0
    assert sorted(text(page)[:3]) == sorted(made.WORDS[:3])  # the first line comes first
    assert_boxes_hold_the_ink(page)


def test_a_crop_box_moves_the_words_with_the_page(read, tmp_path: Path) -> None:
    (page,) = read(made.text_pdf(tmp_path / "cropped.pdf", crop=(60, 50, 360, 250))).pages
    assert (page.width, page.height) == (625, 417)
    assert text(page) == made.WORDS
    assert_boxes_hold_the_ink(page)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("unit", ["0.5", "2"])
def test_pages_in_user_units_have_boxes_on_their_ink(tmp_path: Path, unit: str, rotation: int) -> None:
    path = made.text_pdf(tmp_path / "units.pdf", crop=(60, 50, 360, 250))
    with pymupdf.open(path) as document:
        document.xref_set_key(document[0].xref, "UserUnit", unit)
        document.xref_set_key(document[0].xref, "Rotate", str(rotation))
        document.save(tmp_path / "turned.pdf")
    sheet = PdfPages(tmp_path / "turned.pdf", ReadLimits()).read_page(1)
    image = tmp_path / "page.png"
    sheet.image.save(image)
    words = tuple(
        ReadWord(word.text, clip(word.box, sheet.image.size) or (0, 0, 1, 1), 0)
        for row in sheet.lines
        for word in row.words
    )
    page = ReadPage(1, *sheet.image.size, image, sheet.rotation, "layer", words)
    assert text(page) == made.WORDS
    assert_boxes_hold_the_ink(page)


def test_columns_of_prose_are_read_one_after_the_other(read, tmp_path: Path) -> None:
    (page,) = read(made.two_columns_pdf(tmp_path / "columns.pdf")).pages
    sides = [word.text for word in page.words if word.text in ("left", "right")]
    assert text(page)[:2] == ["The", "headline"]
    assert sides == ["left"] * 12 + ["right"] * 12
    assert len({word.line for word in page.words}) == 25


def test_words_that_nobody_can_see_are_no_words(read, tmp_path: Path) -> None:
    (page,) = read(made.hidden_words_pdf(tmp_path / "hidden.pdf")).pages
    assert text(page) == ["plain", "to", "see"]


def test_text_printed_twice_is_read_once(read, tmp_path: Path) -> None:
    (page,) = read(made.doubled_pdf(tmp_path / "doubled.pdf")).pages
    assert text(page) == ["Balance", "carried", "forward", "512"]


def test_a_poster_is_drawn_no_longer_than_the_longest_side(read, tmp_path: Path) -> None:
    (page,) = read(made.text_pdf(tmp_path / "poster.pdf", size=(7000, 3500)), long_side=1400).pages
    assert 1398 <= page.width <= 1400 and 699 <= page.height <= 701
    assert text(page) == made.WORDS


def test_a_blank_page_has_no_words_and_no_warning(read, tmp_path: Path) -> None:
    document = read(made.text_pdf(tmp_path / "blank.pdf", [[]]))
    assert [(page.text_source, page.words) for page in document.pages] == [("none", ())]
    assert document.warnings == ()


def test_a_repaired_file_is_read_with_a_warning(read, tmp_path: Path) -> None:
    document = read(made.truncated_pdf(tmp_path / "cut.pdf"))
    assert text(document.pages[0]) == made.WORDS
    assert "repaired" in document.warnings[0]
