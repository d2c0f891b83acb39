"""PDFs with damaged pages, and PDFs whose pages are not what they hold."""

import io
from collections.abc import Sequence
from pathlib import Path

import pymupdf
from PIL import Image

NOTICE = (
    "Please wait...",
    "If this message is not eventually replaced by the proper contents of the document,",
    "your PDF viewer may not be able to display this type of document.",
    "You can upgrade to the latest version of Adobe Reader.",
)


def lost_content_pdf(path: Path, *, pages: int, lost: int) -> Path:
    """Numbered pages, one of which names a content that is not there."""
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            document.new_page(width=300, height=200).insert_text((40, 60), f"Page number {number}")
        document.xref_set_key(document[lost - 1].xref, "Contents", "[/nothing]")
        document.save(path)
    return path


def no_page_pdf(path: Path, *, pages: int, lost: int, instead: str = "null") -> Path:
    """Numbered pages, one of which is no page: the tree of pages names something else."""
    with pymupdf.open() as document:
        for number in range(1, pages + 1):
            document.new_page(width=300, height=200).insert_text((40, 60), f"Page number {number}")
        tree = int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
        named = document.xref_get_key(tree, "Kids")[1]
        document.xref_set_key(tree, "Kids", named.replace(f"{document[lost - 1].xref} 0 R", instead))
        document.save(path)
    return path


def cut_picture_pdf(path: Path) -> Path:
    """A page with a text, and a JPEG of which the second half is missing."""
    picture = io.BytesIO()
    Image.effect_noise((300, 300), 90).convert("RGB").save(picture, "JPEG")
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 72), "A picture below")
        page.insert_image(pymupdf.Rect(72, 100, 372, 400), stream=picture.getvalue())
        stored = page.get_images()[0][0]
        document.update_stream(stored, picture.getvalue()[: len(picture.getvalue()) // 2], compress=False)
        document.xref_set_key(stored, "Filter", "/DCTDecode")
        document.save(path)
    return path


def xfa_pdf(path: Path, lines: Sequence[str], *, rendering: bool) -> Path:
    """An XFA form whose page says some lines; `rendering`: only a program that knows XFA has its real pages."""
    with pymupdf.open() as document:
        page = document.new_page()
        for row, line in enumerate(lines):
            page.insert_text((72, 72 + 20 * row), line)
        form = document.get_new_xref()
        document.update_object(form, "<<>>")
        document.update_stream(form, b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'/>")
        document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<</Fields[]/XFA {form} 0 R>>")
        if rendering:
            document.xref_set_key(document.pdf_catalog(), "NeedsRendering", "true")
        document.save(path)
    return path


def attached_pdf(path: Path, names: Sequence[str], *, portfolio: bool = False, pinned: str = "") -> Path:
    """A page with files beside it, in a portfolio or not, and perhaps one that is pinned to it."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 72), "See the files")
        for name in names:
            document.embfile_add(name, b"content", filename=name)
        if pinned:
            page.add_file_annot((300, 300), b"content", pinned)
        if portfolio:
            document.xref_set_key(document.pdf_catalog(), "Collection", "<</Type/Collection/View/D>>")
        document.save(path)
    return path
