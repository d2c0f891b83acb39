"""Picture files as pages, without OCR: its engine is asked for a language that it lacks."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageChops

from engine.documents.reading.pictures import displayable
from engine.documents.refusal import DocumentRefused
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


@pytest.mark.parametrize(
    ("suffix", "media_type"),
    [
        ("webp", "image/webp"),
        ("bmp", "image/bmp"),
        ("gif", "image/gif"),
        ("jp2", "image/jp2"),
        ("avif", "image/avif"),
    ],
)
def test_pictures_of_other_kinds_are_pages(read, tmp_path: Path, suffix: str, media_type: str) -> None:
    document = read(made.image_file(tmp_path / f"page.{suffix}"), **NO_OCR)
    (page,) = document.pages
    assert document.media_type == media_type
    assert page.image_path.suffix == ".png"  # which every browser shows
    assert difference(picture(page.image_path), made.text_image()) < 4


@pytest.mark.parametrize("compression", ["raw", "tiff_deflate", "group4"])
@pytest.mark.parametrize(("orientation", "turn"), [(6, Image.Transpose.ROTATE_90), (8, Image.Transpose.ROTATE_270)])
def test_a_turned_tiff_is_shown_upright(
    read, tmp_path: Path, compression: str, orientation: int, turn: Image.Transpose
) -> None:
    path = tmp_path / "turned.tif"
    stored = made.text_image(mode="1" if compression == "group4" else "L").transpose(turn)
    stored.save(path, "TIFF", compression=compression, tiffinfo={274: orientation})
    (page,) = read(path, **NO_OCR).pages
    assert difference(picture(page.image_path), made.text_image()) < 3


@pytest.mark.parametrize(("tag", "of_preview", "of_page"), [(254, 1, 0), (255, 2, 1)])
def test_a_preview_before_the_page_is_no_page(read, tmp_path: Path, tag: int, of_preview: int, of_page: int) -> None:
    whole, preview = made.text_image(mode="L"), made.text_image(mode="L").resize((84, 70))
    path = tmp_path / "preview.tif"
    whole.encoderinfo = {"tiffinfo": {tag: of_page}}
    preview.save(path, "TIFF", save_all=True, append_images=[whole], tiffinfo={tag: of_preview})
    assert [(page.width, page.height) for page in read(path, **NO_OCR).pages] == [made.PAPER]


def test_a_jpeg_without_its_last_bytes_is_whole(read, tmp_path: Path) -> None:
    path = made.image_file(tmp_path / "photo.jpg")
    path.write_bytes(path.read_bytes()[:-2])
    document = read(path, **NO_OCR)
    assert difference(picture(document.pages[0].image_path), made.text_image()) < 3
    assert not any("ends early" in warning for warning in document.warnings)


def test_a_jpeg_that_lacks_half_is_refused(tmp_path: Path, read) -> None:
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (400, 300), dtype=np.uint8))
    path = made.image_file(tmp_path / "half.jpg", noise)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DocumentRefused):
        read(path, **NO_OCR)


@pytest.mark.parametrize("bits", [8, 16])
def test_a_transparent_grey_shows_on_white(bits: int) -> None:
    top = 2**bits - 1
    grey = np.full((20, 30), top // 2, np.uint16 if bits == 16 else np.uint8)
    grey[:, :10], grey[:, 25:] = 0, top
    image = Image.fromarray(grey)
    image.info["transparency"] = 0
    shown = displayable(image).convert("L")
    assert shown.getpixel((2, 2)) == 255 and 100 < int(shown.getpixel((20, 5))) < 255  # type: ignore[arg-type]


def test_a_turned_fax_gets_square_pixels(read, tmp_path: Path) -> None:
    squeezed = made.text_image(mode="1").resize((made.PAPER[0], made.PAPER[1] // 2))
    path = tmp_path / "fax.tif"
    turned = squeezed.transpose(Image.Transpose.ROTATE_90)
    turned.save(path, "TIFF", compression="group4", dpi=(102, 204), tiffinfo={274: 6})
    (page,) = read(path, **NO_OCR).pages
    assert (page.width, page.height) == made.PAPER
    assert difference(picture(page.image_path), made.text_image()) < 12


def test_the_size_of_the_page_counts_and_not_that_of_a_preview_behind_it(read, tmp_path: Path) -> None:
    preview = made.text_image(mode="L").resize((20, 20))
    preview.encoderinfo = {"tiffinfo": {254: 1}}
    path = tmp_path / "large.tif"
    made.text_image(mode="L").save(path, "TIFF", save_all=True, append_images=[preview], tiffinfo={254: 0})
    with pytest.raises(DocumentRefused, match="pixels"):
        read(path, **NO_OCR, pixels=10_000)
