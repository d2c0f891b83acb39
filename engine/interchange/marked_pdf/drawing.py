"""Drawing of marks, notes and unseen words into a PDF; runs in the child process."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pymupdf

from engine.documents.refusal import damaged_file, protected_file
from engine.interchange.marked_pdf.unseen_text import UnseenText

# Tints of the colours of Okabe and Ito (2008), which colour-blind people can tell apart; print stays legible on them.
COLOURS = (
    (0.97, 0.85, 0.45), (0.56, 0.83, 0.97), (0.55, 0.85, 0.72), (0.98, 0.74, 0.50), (0.90, 0.71, 0.84),
    (0.97, 0.95, 0.45), (0.58, 0.75, 0.92),
)  # fmt: skip
_PAPER = 842.0  # points of the long side of a page that is made of its image: as long as A4
_LIKE = 0.02  # by which the shape of a page of the original may differ from that of its image


def draw(request: dict[str, Any]) -> None:
    """Write the marked PDF of a request (engine.interchange.marked_pdf.writing).

    Raises:
        Unreadable: The original cannot be opened, or its pages are not those that were read.
    """
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        _draw(request)
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        raise damaged_file("PDF") from error


def _draw(request: dict[str, Any]) -> None:
    pages: list[dict[str, Any]] = request["pages"]
    with contextlib.ExitStack() as closing:
        document = closing.enter_context(_open(request["source"], pages))
        texts = UnseenText(closing.enter_context(layers := pymupdf.open()))
        texts.prepare([word[0] for page in pages for word in page["words"]])
        for index, planned in enumerate(pages):
            page = _page(document, index if request["source"] is None else planned["number"] - 1, planned)
            upright = page.derotation_matrix
            scale = pymupdf.Matrix(page.rect.width / planned["width"], page.rect.height / planned["height"])
            _add_words(page, planned, texts, layers, scale, upright)
            for mark in planned["marks"]:
                _add_mark(page, mark, scale * upright)
        if request["note"] and len(document):
            note = document[0].add_text_annot((12, 12), request["note"])
            note.set_info(title="Glossator")
            note.update()
        document.save(request["out"], garbage=1, deflate=True, no_new_id=True, encryption=pymupdf.PDF_ENCRYPT_NONE)


def _open(source: str | None, pages: Sequence[dict[str, Any]]) -> pymupdf.Document:
    """Return the original, or an empty PDF where there is none."""
    if source is None:
        return pymupdf.open()
    document = pymupdf.open(source, filetype="pdf")
    if document.needs_pass:
        raise protected_file()
    # It has more pages where its reading was stopped: these stay as they are.
    if document.page_count < max(page["number"] for page in pages):
        raise damaged_file("PDF")
    return document


def _page(document: pymupdf.Document, place: int, planned: dict[str, Any]) -> pymupdf.Page:
    """Return a page of the original, upright, or the page that is made of its image."""
    width, height = planned["width"], planned["height"]
    if planned["image"] is None:
        page = document[place]
        page.set_rotation(planned["rotation"])
        shape = page.rect.width / page.rect.height * height / width
        # MuPDF measures annotations of pages with a /UserUnit in other points than the page.
        if abs(shape - 1) > _LIKE or document.xref_get_key(page.xref, "UserUnit")[0] != "null":
            raise damaged_file("PDF", f"page {planned['number']}")
        return page
    if place < len(document):
        document.delete_page(place)
    scale = _PAPER / max(width, height)
    page = document.new_page(place, width=width * scale, height=height * scale)
    page.insert_image(page.rect, filename=planned["image"])
    return page


def _add_words(
    page: pymupdf.Page,
    planned: dict[str, Any],
    texts: UnseenText,
    layers: pymupdf.Document,
    scale: pymupdf.Matrix,
    upright: pymupdf.Matrix,
) -> None:
    """Add the words that the page of the file does not hold as text."""
    words = [(text, pymupdf.Rect(box) * scale, read) for text, box, read in planned["words"]]
    if planned["image"] is None and not all(read for *_, read in words):
        printed = [pymupdf.Rect(word[:4]) * page.rotation_matrix for word in page.get_text("words")]
        words = [word for word in words if word[2] or not _is_over(printed, word[1])]
    if not words:
        return
    rotation = page.rotation
    page.set_rotation(0)
    layer = texts.layer([(text, box) for text, box, _ in words], page.rect, upright)
    page.show_pdf_page(page.rect, layers, layer)
    page.set_rotation(rotation)


def _is_over(printed: Sequence[pymupdf.Rect], box: pymupdf.Rect) -> bool:
    middle = (box.tl + box.br) / 2
    return any(middle in rect for rect in printed)


def _add_mark(page: pymupdf.Page, mark: dict[str, Any], to_page: pymupdf.Matrix) -> None:
    colour = COLOURS[mark["colour"] % len(COLOURS)]
    for annotation in _annotations(page, mark, to_page, colour):
        annotation.set_info(title=mark["question"], content=mark["text"], subject=mark["about"])
        annotation.update()


def _annotations(
    page: pymupdf.Page, mark: dict[str, Any], to_page: pymupdf.Matrix, colour: tuple[float, float, float]
) -> Iterator[pymupdf.Annot]:
    """Yield a highlight over the boxes of a mark, and a polygon for each outline."""
    if mark["boxes"]:
        annotation = page.add_highlight_annot(quads=[pymupdf.Rect(box).quad * to_page for box in mark["boxes"]])
        annotation.set_colors(stroke=colour)
        yield annotation
    for ring in mark["rings"]:
        annotation = page.add_polygon_annot([pymupdf.Point(point) * to_page for point in ring])
        annotation.set_colors(stroke=colour, fill=colour)
        annotation.set_border(width=0)
        annotation.set_blendmode(pymupdf.PDF_BM_Multiply)
        yield annotation
