"""PDFs in writing that programs take apart: right to left, vertical, spaced letters, symbols."""

from collections.abc import Sequence
from pathlib import Path

import pymupdf

_CODES = [code for code in (*range(0x61, 0x7B), *range(0x41, 0x5B), *range(0xA1, 0xFF)) if code != 0xAD]
_CMAP = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Made def /CMapType 2 def\n"
    b"1 begincodespacerange <00> <ff> endcodespacerange\n%d beginbfchar\n%sendbfchar\nendcmap end end"
)


def mapped_pdf(path: Path, rows: Sequence[str], size: float = 18) -> Path:
    """Rows as they look from left to right, in a font whose map says which letters its glyphs are.

    The glyphs look like Latin ones. Digits, spaces and signs of ASCII are their own.
    """
    plain = "".join(sorted({c for row in rows for c in row if ord(c) < 0x40}))
    others = sorted({c for row in rows for c in row if ord(c) >= 0x40})
    codes = {c: ord(c) for c in plain} | dict(zip(others, _CODES, strict=False))
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=60 + 40 * len(rows))
        page.insert_text((40, 40), "x", fontsize=1)
        font = page.get_fonts()[0][0]
        pairs = b"".join(b"<%02x> <%04x>\n" % (code, ord(c)) for c, code in codes.items())
        cmap = document.get_new_xref()
        document.update_object(cmap, "<<>>")
        document.update_stream(cmap, _CMAP % (len(codes), pairs))
        document.xref_set_key(font, "ToUnicode", f"{cmap} 0 R")
        content = b""
        for at, row in enumerate(rows):
            shown = bytes(codes[c] for c in row).hex().encode()
            content += b"BT /helv %g Tf 40 %g Td <%s> Tj ET\n" % (size, page.rect.height - 50 - 40 * at, shown)
        document.update_stream(page.get_contents()[0], content)
        document.save(path)
    return path


def columns_pdf(path: Path, columns: Sequence[str], heading: str = "", pitch: float = 20) -> Path:
    """Vertical Japanese, each character placed by itself, under a heading that is written across."""
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=520)
        for at, c in enumerate(heading):
            page.insert_text((100 + 18 * at, 40), c, fontname="japan", fontsize=18)
        for at, column in enumerate(columns):
            for row, c in enumerate(column):
                page.insert_text((350 - 32 * at, 90 + pitch * row), c, fontname="japan", fontsize=18)
        document.save(path)
    return path


def table_of_single_characters_pdf(path: Path) -> Path:
    """Rows close to each other, whose labels and units are Japanese characters placed by themselves."""
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=300)
        for row in range(6):
            for at, c in enumerate("合計"):
                page.insert_text((40 + 18 * at, 60 + 20 * row), c, fontname="japan", fontsize=18)
            page.insert_text((100, 60 + 20 * row), "12500", fontsize=18)
            page.insert_text((160, 60 + 20 * row), "円", fontname="japan", fontsize=18)
        document.save(path)
    return path


def spaced_pdf(path: Path, rows: Sequence[tuple[str, float]], *, rotation: int = 0) -> Path:
    """Rows of 12 points with more space behind each character, in ems."""
    with pymupdf.open() as document:
        page = document.new_page(width=500, height=60 + 30 * len(rows))
        page.insert_text((40, 40), "x", fontsize=1)
        content = b""
        for at, (row, space) in enumerate(rows):
            place = page.rect.height - 40 - 30 * at
            content += b"BT /helv 12 Tf %g Tc 40 %g Td (%s) Tj ET\n" % (12 * space, place, row.encode())
        document.update_stream(page.get_contents()[0], content)
        page.set_rotation(rotation)
        document.save(path)
    return path


def symbols_pdf(path: Path) -> Path:
    """A form whose ticks are characters of fonts of symbols: of ZapfDingbats, and of one with its own codes."""
    fonts = {"helv": "Helvetica", "tick": "ZapfDingbats", "wing": "ABCDEF+Wingdings-Regular"}
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=200)
        page.insert_text((40, 60), "x")
        named = ""
        for name, base in fonts.items():
            font = document.get_new_xref()
            document.update_object(font, f"<</Type/Font/Subtype/Type1/BaseFont/{base}/Encoding/WinAnsiEncoding>>")
            named += f"/{name} {font} 0 R"
        document.xref_set_key(page.xref, "Resources", f"<</Font<<{named}>>>>")
        document.update_stream(
            page.get_contents()[0],
            b"BT /helv 12 Tf 40 140 Td (Smoker) Tj ET BT /tick 14 Tf 120 140 Td (3) Tj ET\n"
            b"BT /helv 12 Tf 40 100 Td (Tenant 3) Tj ET BT /wing 14 Tf 120 100 Td (\xfc) Tj ET",
        )
        document.save(path)
    return path
