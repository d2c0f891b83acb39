"""Kind of a file, detected from its content; names and extensions are unreliable."""

import codecs
from pathlib import Path

from engine.documents.refusal import Unreadable, damaged_file, empty, not_supported

PDF, PNG, JPEG, TIFF = "application/pdf", "image/png", "image/jpeg", "image/tiff"

_HEAD = 4096  # bytes inspected
_PDF_WITHIN = 1024  # a PDF may start after up to 1024 other bytes (ISO 32000-1, annex H.3.4.1)

_SUPPORTED = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"II+\x00", TIFF),  # BigTIFF
    (b"MM\x00+", TIFF),
)
_OTHERS = (
    (b"GIF8", "a GIF picture"),
    (b"BM", "a BMP picture"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
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
    b"avif": "an AVIF picture",
    b"avis": "an AVIF picture",
}
_ZIP_INSIDES = (
    (b"word/", "a Word document"),
    (b"xl/", "an Excel workbook"),
    (b"ppt/", "a PowerPoint presentation"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file"),
    (b"application/epub", "an e-book"),
    (b"[Content_Types].xml", "an Office document"),
)


def media_type_of(source: Path) -> str:
    """Return the media type of a PDF, PNG, JPEG or TIFF. Raises Unreadable, naming the kind, otherwise."""
    with source.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise empty()
    for magic, media_type in _SUPPORTED:
        if head.startswith(magic):
            return media_type
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return PDF
    raise _refusal_of(head)


def _refusal_of(head: bytes) -> Unreadable:
    if not head.strip(b"\x00"):
        return damaged_file("PDF, PNG, JPEG or TIFF")
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return not_supported("a WebP picture")
    if head[4:8] == b"ftyp":
        return not_supported(_ISO_BRANDS.get(head[8:12], "a video"))
    if head[:4] == b"PK\x03\x04":
        return not_supported(next((what for inside, what in _ZIP_INSIDES if inside in head), "a ZIP archive"))
    for magic, what in _OTHERS:
        if head.startswith(magic):
            return not_supported(what)
    return not_supported(_textual(head))


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
