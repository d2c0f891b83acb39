"""Documents that tests read, each made where it is needed: good ones, odd ones and hostile ones."""

import io
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image, ImageDraw, ImageFont

from model.boxes import FloatBox

LETTER = (
    "Northwind Traders Limited",
    "Invoice number 40718",
    "Customer Margaret Atherton",
    "Delivery address Harbour Street 12",
    "Total amount due 1284.50",
    "Please pay within thirty days",
    "Thank you for your business",
)
PAPER = (840, 700)  # pixels of the letter: OCR takes as long as it has pixels
WORDS = " ".join(LETTER).split()


def text_pdf(
    path: Path,
    pages: Sequence[Sequence[str]] = (LETTER,),
    *,
    rotation: int = 0,
    size: tuple[float, float] = (595, 842),
    crop: FloatBox | None = None,
    title: str = "",
) -> Path:
    """A PDF with a text layer: lines of 12 points from (72, 72) on, 24 points apart."""
    with pymupdf.open() as document:
        for lines in pages:
            page = document.new_page(width=size[0], height=size[1])
            for row, line in enumerate(lines):
                page.insert_text((72, 72 + 24 * row), line, fontsize=12)
            if crop:
                page.set_cropbox(pymupdf.Rect(crop))
            page.set_rotation(rotation)
        document.set_metadata({"title": title})
        document.save(path)
    return path


def sideways_pdf(path: Path, rotate: int) -> Path:
    """A PDF whose text runs `rotate` degrees counter-clockwise on a page that says nothing of it."""
    starts = {90: (400, 600), 180: (500, 700), 270: (200, 100)}
    steps = {90: (24, 0), 180: (0, -24), 270: (-24, 0)}
    with pymupdf.open() as document:
        page = document.new_page()
        x, y = starts[rotate]
        for row, line in enumerate(LETTER):
            dx, dy = steps[rotate]
            page.insert_text((x + dx * row, y + dy * row), line, fontsize=12, rotate=rotate)
        document.save(path)
    return path


def mirrored_pdf(path: Path) -> Path:
    """The letter as it looks from behind, for printing on film or cloth."""
    with pymupdf.open() as document:
        page = document.new_page()
        middle = pymupdf.Point(page.rect.width / 2, 0)
        for row, line in enumerate(LETTER):
            page.insert_text((72, 72 + 24 * row), line, fontsize=12, morph=(middle, pymupdf.Matrix(-1, 0, 0, 1, 0, 0)))
        document.save(path)
    return path


def two_columns_pdf(path: Path) -> Path:
    """A headline over two columns of prose: "left" and "right" are in every line of theirs."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 60), "The headline goes over both of the columns on this page", fontsize=16)
        for row in range(12):
            page.insert_text((72, 100 + 14 * row), f"left number {row} is a line of prose", fontsize=11)
            page.insert_text((310, 100 + 14 * row), f"right number {row} is a line of prose", fontsize=11)
        document.save(path)
    return path


def hidden_words_pdf(path: Path) -> Path:
    """One line that everybody sees, one in render mode 3, one in white, one outside the page."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 72), "plain to see")
        page.insert_text((72, 120), "never drawn", render_mode=3)
        page.insert_text((72, 160), "white ink", color=(1, 1, 1))
        page.insert_text((72, 900), "below paper")
        document.save(path)
    return path


def doubled_pdf(path: Path) -> Path:
    """Bold made by printing a line twice, a quarter of a point apart."""
    with pymupdf.open() as document:
        page = document.new_page()
        for shift in (0, 0.25):
            page.insert_text((72 + shift, 72), "Balance carried forward 512")
        document.save(path)
    return path


def encrypted_pdf(path: Path) -> Path:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "secret")
        document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open sesame", owner_pw="owner")
    return path


def empty_file(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def broken_pdf(path: Path) -> Path:
    """A header, and nothing behind it that a repair could use."""
    path.write_bytes(b"%PDF-1.7\n" + bytes(range(128, 256)) * 40)
    return path


def truncated_pdf(path: Path) -> Path:
    """The first part of a good PDF: the cross-reference table is gone, pages can be found again."""
    whole = text_pdf(path).read_bytes()
    path.write_bytes(whole[: whole.rfind(b"xref") - 5])
    return path


def pageless_pdf(path: Path) -> Path:
    return raw_pdf(path, [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"])


def unmapped_pdf(path: Path) -> Path:
    """A scan of the letter under a text layer whose font has no character map: its text is garbage."""
    picture = io.BytesIO()
    text_image(LETTER).save(picture, "JPEG", quality=90)
    with Image.open(picture) as image:
        width, height = image.size
    glyphs = b"".join(b"<0003001a0044> Tj 0 -14 Td " for _ in range(12))
    content = b"q 500 0 0 %d 40 100 cm /I Do Q BT 3 Tr /F 11 Tf 60 600 Td %s ET" % (500 * height // width, glyphs)
    return raw_pdf(
        path,
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
            b"/Resources << /Font << /F 5 0 R >> /XObject << /I 7 0 R >> >> >>",
            stream(content),
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Unknown /Encoding /Identity-H /DescendantFonts [6 0 R] >>",
            b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Unknown "
            b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 >>",
            stream(
                picture.getvalue(),
                b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8 "
                b"/Filter /DCTDecode" % (width, height),
            ),
        ],
    )


def picture_bomb_pdf(path: Path, side: int = 30_000) -> Path:
    """A few kilobytes that unpack to `side` x `side` pixels."""
    row = b"\x55" * ((side + 7) // 8)
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    return raw_pdf(
        path,
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
            b"/Resources << /XObject << /I 5 0 R >> >> >>",
            stream(b"q 595 0 0 842 0 0 cm /I Do Q"),
            stream(
                packed,
                b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 1 "
                b"/Filter /FlateDecode" % (side, side),
            ),
        ],
    )


def endless_pdf(path: Path) -> Path:
    """Forms that draw forms that draw forms: ten to the eighth strokes from one kilobyte."""
    levels = 8
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /XObject << /X 5 0 R >> >> >>",
        stream(b"/X Do"),
    ]
    for level in range(levels):
        below = 6 + level
        last = level == levels - 1
        objects.append(
            stream(
                b"0 0 m 595 842 l S" if last else b"/X Do " * 10,
                b"/Type /XObject /Subtype /Form /BBox [0 0 595 842]"
                + (b"" if last else b" /Resources << /XObject << /X %d 0 R >> >>" % below),
            )
        )
    return raw_pdf(path, objects)


def text_image(
    lines: Sequence[str] = LETTER, *, size: tuple[int, int] = PAPER, height: int = 40, mode: str = "RGB"
) -> Image.Image:
    """Lines of black letters `height` pixels high on white, as a clean scan would show them."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=height)
    for row, line in enumerate(lines):
        pen.text((90, 80 + row * height * 2), line, fill="black", font=font)
    return image.convert(mode)


def scanned_pdf(
    path: Path, pages: Sequence[Sequence[str]] = (LETTER,), *, turn: int = 0, stamp: str = "", height: int = 40
) -> Path:
    """A PDF of pictures, each turned clockwise by `turn` degrees; `stamp` is a line of real text printed over them."""
    with pymupdf.open() as document:
        for lines in pages:
            image = text_image(lines, height=height).rotate(-turn, expand=True)
            held = io.BytesIO()
            image.save(held, "PNG")
            page = document.new_page(width=image.width * 0.48, height=image.height * 0.48)
            page.insert_image(page.rect, stream=held.getvalue())
            if stamp:
                page.insert_text((20, page.rect.height - 12), stamp, fontsize=9)
        document.save(path)
    return path


def image_file(path: Path, image: Image.Image | None = None, **options: Any) -> Path:
    (image or text_image()).save(path, **options)
    return path


def tiff(path: Path, pages: Sequence[Image.Image], **options: object) -> Path:
    pages[0].save(path, "TIFF", save_all=True, append_images=list(pages[1:]), **options)
    return path


def turned_jpeg(path: Path, orientation: int) -> Path:
    """A JPEG of the letter as a camera stores it that was held another way, with the EXIF orientation that mends it."""
    stored = {
        3: Image.Transpose.ROTATE_180,
        6: Image.Transpose.ROTATE_90,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    text_image().transpose(stored).save(path, "JPEG", quality=90, exif=exif)
    return path


def png_header(path: Path, width: int, height: int) -> Path:
    """A PNG of a hundred bytes that claims to be as large as said."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 64)), (b"IEND", b""))
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + b"".join(struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks)
    )
    return path


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """Return the body of a stream of a PDF."""
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(content), content)


def raw_pdf(path: Path, objects: Sequence[bytes]) -> Path:
    """Write a PDF of the bodies of its objects, numbered from 1; the first one is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    path.write_bytes(out)
    return path
