"""Text that a page does not show is no word: under bars, boxes, shapes and pictures, or in the colour of its ground."""

import io
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from PIL import Image, ImageDraw

from engine.documents.limits import ReadLimits
from engine.documents.reading.render import PdfPages
from engine.documents.text_layer.doubts import drop_hidden_words, drop_words_without_ink
from tests.engine.documents.conftest import Read
from tests.support import made_documents as made
from tests.support import made_layers

NAME = "Margaret gypsy 40718"
Draw = Callable[[pymupdf.Page], None]


def words_of(path: Path, draw: Draw, rotation: int = 0) -> list[str]:
    """Return the words of a page, beside a line that everybody sees, with what `draw` adds to it."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 100), "Everybody may read this", fontsize=12)
        draw(page)
        page.set_rotation(rotation)
        document.save(path)
    sheet = PdfPages(path, ReadLimits()).read_page(1)
    lines = drop_hidden_words(drop_words_without_ink(sheet.lines, sheet.image.convert("L")))
    assert [word.text for word in lines[0].words] == ["Everybody", "may", "read", "this"]
    return [word.text for line in lines[1:] for word in line.words]


def name(page: pymupdf.Page, **options: object) -> None:
    page.insert_text((72, 200), NAME, fontsize=12, **options)


def box(page: pymupdf.Page, top: float, bottom: float, left: float = 60, right: float = 300, **options: object) -> None:
    page.draw_rect(pymupdf.Rect(left, top, right, bottom), **({"color": None, "fill": (0, 0, 0)} | options))


def picture(page: pymupdf.Page, image: Image.Image) -> None:
    stored = io.BytesIO()
    image.save(stored, "PNG")
    page.insert_image(pymupdf.Rect(60, 186, 300, 206), stream=stored.getvalue(), keep_proportion=False)


def noise() -> Image.Image:
    return Image.effect_noise((480, 40), 120)


def signature() -> Image.Image:
    """A blue stroke on nothing."""
    image = Image.new("RGBA", (480, 40), (0, 0, 0, 0))
    ImageDraw.Draw(image).line((0, 38, 480, 2), fill=(0, 0, 255, 255), width=4)
    return image


def square(page: pymupdf.Page) -> None:
    annotation = page.add_rect_annot(pymupdf.Rect(60, 186, 300, 206))
    annotation.set_colors(stroke=(0, 0, 0), fill=(0, 0, 0))
    annotation.update()


def polygon(page: pymupdf.Page) -> None:
    page.draw_polyline([(60, 180), (300, 184), (306, 206), (64, 210)], fill=(0.2, 0.2, 0.2), closePath=True)


HIDING: dict[str, Draw] = {
    "a_black_bar": lambda page: box(page, 186, 206),
    "a_bar_as_high_as_the_letters": lambda page: box(page, 190.5, 201),
    "a_white_box": lambda page: box(page, 186, 206, fill=(1, 1, 1)),
    "a_polygon": polygon,
    "a_thick_stroke": lambda page: page.draw_line((60, 196), (300, 196), width=13),
    "a_picture": lambda page: picture(page, noise()),
    "an_annotation": square,
}


@pytest.mark.parametrize("cover", HIDING.values(), ids=HIDING)
def test_text_under_a_later_shape_is_no_word(tmp_path: Path, cover: Draw) -> None:
    def draw(page: pymupdf.Page) -> None:
        name(page)
        cover(page)

    assert words_of(tmp_path / "covered.pdf", draw) == []


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_bars_hide_text_on_turned_pages(tmp_path: Path, rotation: int) -> None:
    def draw(page: pymupdf.Page) -> None:
        name(page)
        box(page, 190.5, 201)

    assert words_of(tmp_path / "turned.pdf", draw, rotation) == []


def test_a_bar_over_a_part_hides_that_part_alone(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 200), "Mrs Atherton of Harbour Street", fontsize=12)
        begin = 72 + pymupdf.get_text_length("Mrs ", fontsize=12)
        end = 72 + pymupdf.get_text_length("Mrs Ath", fontsize=12)
        box(page, 190.5, 201, begin, end)

    assert words_of(tmp_path / "part.pdf", draw) == ["Mrs", "erton", "of", "Harbour", "Street"]


def test_text_in_the_colour_of_its_ground_is_no_word(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        box(page, 186, 206)
        page.insert_text((72, 200), "BLACK 40718", fontsize=12)

    assert words_of(tmp_path / "same.pdf", draw) == []


def marked(page: pymupdf.Page) -> None:
    name(page)
    page.add_highlight_annot(pymupdf.Rect(60, 186, 300, 206))


def to_be_redacted(page: pymupdf.Page) -> None:
    name(page)
    page.add_redact_annot(pymupdf.Rect(60, 186, 300, 206))


def framed_and_struck(page: pymupdf.Page) -> None:
    name(page)
    page.draw_rect(pymupdf.Rect(60, 186, 300, 206), width=1)
    page.draw_line((60, 196), (300, 196), width=1)
    page.draw_line((60, 202), (300, 202), width=1)


def on_colour(page: pymupdf.Page) -> None:
    box(page, 186, 206)
    name(page, color=(1, 1, 1))


def on_a_picture(page: pymupdf.Page) -> None:
    picture(page, Image.effect_noise((480, 40), 20))
    name(page)


def under_a_transparent_box(page: pymupdf.Page) -> None:
    name(page)
    box(page, 186, 206, fill=(1, 1, 0), fill_opacity=0.4)


def under_a_transparent_picture(page: pymupdf.Page) -> None:
    name(page)
    picture(page, signature())


SHOWING: dict[str, Draw] = {
    "on_a_box": on_colour,
    "on_a_picture": on_a_picture,
    "under_a_transparent_box": under_a_transparent_box,
    "under_a_highlight": marked,
    "marked_for_redaction": to_be_redacted,
    "in_a_frame_and_struck_through": framed_and_struck,
    "under_a_transparent_picture": under_a_transparent_picture,
}


@pytest.mark.parametrize("draw", SHOWING.values(), ids=SHOWING)
def test_text_that_shows_on_or_through_a_shape_is_words(tmp_path: Path, draw: Draw) -> None:
    assert words_of(tmp_path / "shown.pdf", draw) == NAME.split()


def test_a_bar_over_a_scan_hides_the_words_of_its_layer(read: Read, tmp_path: Path) -> None:
    path = made_layers.searchable_pdf(tmp_path / "scan.pdf")
    with pymupdf.open(path) as document:
        page = document[0]
        boxes = [pymupdf.Rect(word[:4]) for word in page.get_text("words") if word[4] in ("Margaret", "Atherton")]
        for covered in boxes:
            page.draw_rect(covered + pymupdf.Rect(-2, -2, 2, 2), color=None, fill=(0, 0, 0))
        document.save(tmp_path / "bar.pdf")
    (page_read,) = read(tmp_path / "bar.pdf").pages
    shown = [word.text for word in page_read.words]
    assert len(boxes) == 2
    assert shown == [word for word in made.WORDS if word not in ("Margaret", "Atherton")]
