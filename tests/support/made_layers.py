"""PDFs whose text layer is not, or not all, what is printed: each made where a test reads it."""

import io
from collections.abc import Sequence
from pathlib import Path

import pymupdf
from PIL import Image, ImageDraw, ImageFont

from tests.support.made_documents import LETTER, PAPER, scanned_pdf, text_image

# As an archive writes it, invisibly and over the letter: upper left, lines of 8 points.
METADATA = (
    "Document Metadata",
    *(f"REGISTRATION NUMBER={number}" for number in range(579, 599)),
    "REGISTRANT NAME=NORTHWIND TOURIST AUTHORITY",
    *(f"TERMINATION DATE {letter}=N/A" for letter in "ABCDEFGHIJKLMNOP"),
)
BAD_OCR = (
    "N0rthw1nd 7raclers L1rnited",
    "lnv0ice nurnber 4O7l8",
    "Custorner Margarct Alhcrton",
    "De1ivery adclress Harb0ur Strcet l2",
    "7otal arnount duc l284.5O",
    "P1ease pay withln thlrty clays",
    "7hank y0u f0r yonr busincss",
)
_SCALE = 0.48  # points of a pixel of the scans


def archive_pdf(path: Path) -> Path:
    """A scan of the letter with an archive's metadata written over it, invisibly."""
    with pymupdf.open(scanned_pdf(path.with_suffix(".scan.pdf"))) as document:
        for row, line in enumerate(METADATA):
            document[0].insert_text((8 + 120 * (row % 3), 40 + 9.2 * row), line, fontsize=8, render_mode=3)
        document.save(path)
    return path


def searchable_pdf(path: Path, layer: Sequence[str] = LETTER, pages: int = 1) -> Path:
    """A scan of the letter with words by somebody's OCR, invisible, where they are printed."""
    with pymupdf.open(scanned_pdf(path.with_suffix(".scan.pdf"), [LETTER] * pages)) as document:
        for page in document:
            _write(page, layer, render_mode=3)
        document.save(path)
    return path


def covered_pdf(path: Path, layer: Sequence[str]) -> Path:
    """Text in plain black, and over it the scan of the letter."""
    picture = io.BytesIO()
    text_image().save(picture, "PNG")
    with pymupdf.open() as document:
        page = document.new_page(width=PAPER[0] * _SCALE, height=PAPER[1] * _SCALE)
        _write(page, layer)
        page.insert_image(page.rect, stream=picture.getvalue())
        document.save(path)
    return path


def half_picture_pdf(path: Path) -> Path:
    """A page whose upper half is text and whose lower half is a picture of the letter."""
    picture = io.BytesIO()
    text_image().save(picture, "PNG")
    with pymupdf.open() as document:
        page = document.new_page()
        for row in range(8):
            page.insert_text((72, 72 + 20 * row), f"Paragraph {row} is stored as text", fontsize=12)
        page.insert_image(pymupdf.Rect(0, 300, 595, 300 + 595 * PAPER[1] / PAPER[0]), stream=picture.getvalue())
        document.save(path)
    return path


def wrong_map_pdf(path: Path) -> Path:
    """The letter in a font whose map takes each letter for the third behind it: it looks right and copies wrong."""
    plain = path.with_suffix(".plain.pdf")
    with pymupdf.open() as document:
        page = document.new_page()
        for row, line in enumerate(LETTER):
            page.insert_text((72, 72 + 40 * row), line, fontsize=16)
        pairs = b"".join(b"<%02x> <%04x>\n" % (code, code + 3) for code in range(0x41, 0x7B))
        cmap = document.get_new_xref()
        document.update_object(cmap, "<<>>")
        document.update_stream(
            cmap,
            b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Shifted def /CMapType 2 def\n"
            b"1 begincodespacerange <00> <ff> endcodespacerange\n"
            b"%d beginbfchar\n%sendbfchar\nendcmap end end" % (0x7B - 0x41, pairs),
        )
        for font, *_ in page.get_fonts():
            document.xref_set_key(font, "ToUnicode", f"{cmap} 0 R")
        document.save(plain)
    return plain.rename(path)


def _write(page: pymupdf.Page, layer: Sequence[str], *, render_mode: int = 0) -> None:
    """Write lines where the scan of the letter has its own, each as wide as that."""
    font = ImageFont.load_default(size=40)
    for row, line in enumerate(layer):
        baseline = (80 + 80 * row + 38) * _SCALE
        printed = font.getlength(LETTER[row]) * _SCALE
        size = printed / pymupdf.get_text_length(line, fontsize=1)
        page.insert_text((90 * _SCALE, baseline), line, fontsize=size, render_mode=render_mode)


def unmapped_heading_pdf(path: Path, heading: str, amounts: Sequence[str] = (), *, codes: str = "wrong") -> Path:
    """A page in plain text with a heading and amounts in a font that has no map to letters.

    Args:
        path: Of the file.
        heading: First line.
        amounts: Below the text, in a row.
        codes: "wrong": the codes of the glyphs look like other letters; "unknown": like none.
    """
    plain = path.with_suffix(".plain.pdf")
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
        page.insert_text((72, 72), heading, fontname="F0", fontsize=16)
        for row, line in enumerate(LETTER):
            page.insert_text((72, 120 + 20 * row), line, fontsize=12)
        for at, amount in enumerate(amounts):
            page.insert_text((72 + 120 * at, 320), amount, fontname="F0", fontsize=12)
        font = next(font for font, *_, name, _ in page.get_fonts() if name == "F0")
        if codes == "wrong":
            document.xref_set_key(font, "ToUnicode", "null")
        else:
            cmap = document.get_new_xref()
            document.update_object(cmap, "<<>>")
            document.update_stream(
                cmap,
                b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /None def /CMapType 2 def\n"
                b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
                b"100 beginbfchar\n%sendbfchar\nendcmap end end"
                % b"".join(b"<%04x> <fffd>\n" % code for code in range(100)),
            )
            document.xref_set_key(font, "ToUnicode", f"{cmap} 0 R")
        document.save(plain)
    return plain.rename(path)


def logo_pdf(path: Path, words: str, *, dark: bool = False) -> Path:
    """The letter in plain text, with a picture of some words above it."""
    width, height = 640, 120
    paper, ink = ("black", "white") if dark else ("white", "black")
    image = Image.new("RGB", (width, height), paper)
    ImageDraw.Draw(image).text((30, 30), words, fill=ink, font=ImageFont.load_default(size=48))
    picture = io.BytesIO()
    image.save(picture, "PNG")
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_image(pymupdf.Rect(72, 40, 72 + width / 3, 40 + height / 3), stream=picture.getvalue())
        for row, line in enumerate(LETTER * 3):
            page.insert_text((72, 130 + 20 * row), line, fontsize=12)
        document.save(path)
    return path
