"""PNG, JPEG and TIFF files as pages, without OCR: its engine is asked for a language that it lacks."""

from pathlib import Path

import pytest
from PIL import Image, ImageChops

from engine.documents.reading.images import displayable
from tests.support import made_documents as made

NO_OCR = {"ocr": "tesseract", "ocr_language": "xxx"}


def picture(path: Path) -> Image.Image:
    with Image.open(path) as stored:
        stored.load()
        return stored


def difference(a: Image.Image, b: Image.Image) -> float:
    """Mean difference of two pictures, 0..255."""
    assert a.size == b.size
    histogram = ImageChops.difference(a.convert("L"), b.convert("L")).histogram()
    return sum(value * count for value, count in enumerate(histogram)) / (a.width * a.height)


@pytest.mark.parametrize("name", ["page.png", "page.jpg"])
def test_a_single_upright_image_is_kept_byte_for_byte(read, tmp_path: Path, name: str) -> None:
    path = made.image_file(tmp_path / name)
    (page,) = read(path, **NO_OCR).pages
    assert page.image_path.read_bytes() == path.read_bytes()
    assert page.image_path.suffix == path.suffix
    assert (page.width, page.height, page.rotation) == (*made.PAPER, 0)


@pytest.mark.parametrize(("orientation", "clockwise"), [(3, 180), (6, 90), (8, 270)])
def test_the_exif_orientation_is_honoured(read, tmp_path: Path, orientation: int, clockwise: int) -> None:
    (page,) = read(made.turned_jpeg(tmp_path / "photo.jpg", orientation), **NO_OCR).pages
    assert (page.width, page.height, page.rotation) == (*made.PAPER, clockwise)
    assert page.image_path.suffix == ".png"  # turning a JPEG without loss
    assert difference(picture(page.image_path), made.text_image()) < 3


def test_every_page_of_a_tiff_is_a_page_in_its_own_mode(read, tmp_path: Path) -> None:
    modes = ["1", "L", "P", "RGB"]
    path = made.tiff(tmp_path / "four.tif", [made.text_image(mode=mode) for mode in modes])
    document = read(path, **NO_OCR)
    assert document.media_type == "image/tiff"
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    for page in document.pages:
        assert difference(picture(page.image_path), made.text_image()) < 3


def test_a_fax_with_oblong_pixels_gets_square_ones(read, tmp_path: Path) -> None:
    squeezed = made.text_image(mode="1").resize((made.PAPER[0], made.PAPER[1] // 2))
    path = made.tiff(tmp_path / "fax.tif", [squeezed], compression="group4", dpi=(204, 102))
    (page,) = read(path, **NO_OCR).pages
    assert (page.width, page.height) == made.PAPER


def test_transparency_becomes_white(read, tmp_path: Path) -> None:
    image = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
    image.paste((255, 0, 0, 255), (50, 50, 100, 100))
    (page,) = read(made.image_file(tmp_path / "clear.png", image), **NO_OCR).pages
    shown = picture(page.image_path)
    assert shown.mode == "RGB"
    assert shown.getpixel((10, 10)) == (255, 255, 255)
    assert shown.getpixel((75, 75)) == (255, 0, 0)


def test_a_cmyk_jpeg_is_shown_in_rgb(read, tmp_path: Path) -> None:
    (page,) = read(made.image_file(tmp_path / "print.jpg", made.text_image(mode="CMYK")), **NO_OCR).pages
    shown = picture(page.image_path)
    assert shown.mode == "RGB"
    assert difference(shown, made.text_image()) < 4


@pytest.mark.parametrize("bits", [10, 12, 16])
def test_grey_of_many_bits_keeps_its_range(bits: int) -> None:
    grey = made.text_image(mode="L")
    wide = grey.convert("I").point(lambda value: value * (2**bits - 1) / 255).convert("I;16")
    assert difference(displayable(wide), grey) < 1


def test_a_scanner_preview_in_a_tiff_is_no_page(read, tmp_path: Path) -> None:
    whole, preview = made.text_image(mode="L"), made.text_image(mode="L").resize((84, 70))
    path = tmp_path / "preview.tif"
    preview.encoderinfo = {"tiffinfo": {254: 1}}
    whole.save(path, "TIFF", save_all=True, append_images=[preview])
    assert [(page.width, page.height) for page in read(path, **NO_OCR).pages] == [made.PAPER]
