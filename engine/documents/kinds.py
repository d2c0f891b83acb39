"""Kind of a file, detected from its content; names and extensions are unreliable."""

import codecs
from pathlib import Path

from engine.documents.refusal import Unreadable, damaged_file, empty, not_supported

PDF, PNG, JPEG, TIFF = "application/pdf", "image/png", "image/jpeg", "image/tiff"
WEBP, BMP, GIF, JPEG_2000, AVIF = "image/webp", "image/bmp", "image/gif", "image/jp2", "image/avif"
KINDS = "PDF, PNG, JPEG, TIFF, WebP, BMP, GIF, JPEG 2000 or AVIF"

_HEAD = 4096  # bytes inspected
_TAIL = 65_536  # bytes of a ZIP file, where the names of its entries stand again
_PDF_WITHIN = 1024  # a PDF may start after up to 1024 other bytes (ISO 32000-1, annex H.3.4.1)

_SUPPORTED = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"II+\x00", TIFF),  # BigTIFF
    (b"MM\x00+", TIFF),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", JPEG_2000),
    (b"\xff\x4f\xff\x51", JPEG_2000),
)
_BMP_HEADS = (12, 40, 52, 56, 64, 108, 124)  # bytes of the headers of BMP that follow its first 14 bytes

_OTHERS = (
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL picture"),
    (b"\xff\x0a", "a JPEG XL picture"),
    (b"8BPS", "a Photoshop picture"),
    (b"AT&TFORM", "a DjVu document"),
    (b"%!PS", "a PostScript file"),
    (b"{\\rtf", "a rich text document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older or password-protected Office document"),
    (b"Rar!", "an archive"),
    (b"7z\xbc\xaf\x27\x1c", "an archive"),
    (b"\x1f\x8b", "a compressed file"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ", "a compressed file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "a database"),
)
_ISO_BRANDS = {
    b"heic": "a HEIC photo",
    b"heix": "a HEIC photo",
    b"hevc": "a HEIC photo",
    b"heim": "a HEIC photo",
    b"mif1": "a HEIC photo",
    b"msf1": "a HEIC photo",
}
_AVIF_BRANDS = (b"avif", b"avis")
_ZIP_INSIDES = (
    (b"word/", "a Word document"),
    (b"xl/", "an Excel workbook"),
    (b"ppt/", "a PowerPoint presentation"),
    (b"META-INF/container.xml", "an e-book"),
    (b"META-INF/manifest.xml", "an OpenDocument file"),
    (b"[Content_Types].xml", "an Office document"),
)


def media_type_of(source: Path) -> str:
    """Return the media type of a file of `KINDS`. Raises Unreadable, naming the kind, otherwise."""
    with source.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise empty()
    for magic, media_type in _SUPPORTED:
        if head.startswith(magic):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return WEBP
    if head[4:8] == b"ftyp" and any(brand in _brands(head) for brand in _AVIF_BRANDS):
        return AVIF
    if head.startswith(b"BM") and int.from_bytes(head[14:18], "little") in _BMP_HEADS:
        return BMP
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return PDF
    raise _refusal_of(source, head)


def _brands(head: bytes) -> list[bytes]:
    """Return the major and the compatible brands of a file type box (ISO/IEC 14496-12, section 4.3)."""
    end = min(int.from_bytes(head[:4], "big"), len(head))
    return [head[8:12], *(head[at : at + 4] for at in range(16, end, 4))]


def _refusal_of(source: Path, head: bytes) -> Unreadable:
    if not head.strip(b"\x00"):
        return damaged_file(KINDS)
    if head[4:8] == b"ftyp":
        return not_supported(_ISO_BRANDS.get(head[8:12], "a video"))
    if head[:4] == b"PK\x03\x04":
        return not_supported(_kind_of_zip(source, head))
    for magic, what in _OTHERS:
        if head.startswith(magic):
            return not_supported(what)
    return not_supported(_textual(head))


def _kind_of_zip(source: Path, head: bytes) -> str:
    """Return what a ZIP file is by the names of its first and last entries; their order differs between programs.

    Reads a bounded part: the directory of a hostile file may list millions of entries.
    """
    with source.open("rb") as file:
        file.seek(max(0, source.stat().st_size - _TAIL))
        ends = head + file.read(_TAIL)
    return next((what for inside, what in _ZIP_INSIDES if inside in ends), "a ZIP archive")


def _textual(head: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<svg", b"<?xml")) and b"<svg" in start:
        return "an SVG drawing"
    if start.startswith((b"<!doctype html", b"<html")):
        return "a web page"
    if start.startswith(b"<?xml"):
        return "an XML file"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # incremental: the last character may be cut in two
    except UnicodeDecodeError:
        return "a file of an unknown kind"
    return "a file of an unknown kind" if b"\x00" in head else "a text file"
