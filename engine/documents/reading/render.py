"""Rendering of PDF pages."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image

from engine.documents import refusal
from engine.documents.form_layer.acroform import complete_appearances, read_widgets
from engine.documents.form_layer.ticks import mark_ticks
from engine.documents.form_layer.widgets import MOST_OF_DOCUMENT, FormWidget
from engine.documents.limits import ReadLimits
from engine.documents.ocr.engine import OcrEngine
from engine.documents.reading.page_damage import NO_PAGE, PageDamage
from engine.documents.reading.page_draft import Sheet
from engine.documents.reading.pdf_kinds import (
    attached_names,
    attachments_warning,
    embedded_names,
    is_page,
    is_portfolio,
    refuse_dynamic_form,
)
from engine.documents.refusal import Reason, Unreadable
from engine.documents.text_layer.covered_text import TextlessPage, key_of, mark_covered
from engine.documents.text_layer.fonts import fonts_without_map
from engine.documents.text_layer.pictures import whole_pictures
from engine.documents.text_layer.words import characters_of, raw_text, read_layer, turn_needed

_PAPER = (595, 842)  # points, of a page in place of one that cannot be read
_LONGEST = 30_000  # pixels, of the long side of a roll; browsers and JPEG end soon behind it
_LEGIBLE = 60  # dots an inch, below which small print cannot be read


class PdfPages:
    """PDF opened for reading. MuPDF is not thread-safe: all calls must come from one thread."""

    media_type = "application/pdf"

    def __init__(self, source: Path, limits: ReadLimits) -> None:
        pymupdf.TOOLS.mupdf_display_errors(False)
        pymupdf.TOOLS.mupdf_display_warnings(False)
        self._source, self._limits = source, limits
        self._textless: pymupdf.Document | None = None  # the file once more, for pages without their text
        try:
            self._document = pymupdf.open(source, filetype="pdf")
        except (pymupdf.FileDataError, pymupdf.mupdf.FzErrorBase) as error:
            raise _because(error, limits, "") from error
        if self._document.needs_pass:
            raise refusal.protected_file()
        self.count: int = self._document.page_count
        self._damage = PageDamage()
        self._attached: list[str] = []
        self._small_print: list[str] = []
        self._widget_count = 0  # of the pages that were read
        self._is_portfolio = False
        # Damage of the catalogue hides no page, which is all that is needed.
        with contextlib.suppress(RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase):
            refuse_dynamic_form(self._document)
            self._is_portfolio = is_portfolio(self._document)
            self._attached += embedded_names(self._document)

    @property
    def warnings(self) -> list[str]:
        """Return sentences about the file and about the pages that were read so far."""
        repaired = "The file was damaged and has been repaired: compare its pages with the original."
        attachments = attachments_warning(self._attached, portfolio=self._is_portfolio)
        return [
            *([repaired] if self._document.is_repaired else []),
            *self._damage.warnings(),
            *self._small_print,
            *([attachments] if attachments else []),
        ]

    @property
    def title(self) -> str | None:
        """Return the title in the file; None without one."""
        return (self._document.metadata or {}).get("title")

    def read_page(self, number: int) -> Sheet:
        """Return page `number` (from 1), rendered upright, with its text layer.

        A page that cannot be read is blank, while others can: `warnings` name it.
        """
        try:
            return self._read_page(number)
        except Unreadable as error:
            if error.reason != Reason.BROKEN or self._damage.note_unreadable(number) == self.count:
                raise
        width, height = (round(side * self._limits.dpi / 72) for side in _PAPER)
        return Sheet(image=Image.new("RGB", (width, height), "white"), rotation=0, picture_share=0.0)

    def _read_page(self, number: int) -> Sheet:
        with self._guard_errors(number):
            page = self._document[number - 1]
            self._attached += attached_names(page)
            if not is_page(page):
                self._damage.note(number, NO_PAGE)
            complete_appearances(page)
            stored = page.rotation
            raw = raw_text(page)
            turn = turn_needed(raw, _rotation_of(page))
            if turn:
                page.set_rotation((stored + turn) % 360)
            zoom = self._zoom(page, self._limits.dpi)
            if zoom * 72 < _LEGIBLE and zoom * 72 < self._limits.dpi:
                self._small_print.append(
                    f"Page {number} is so large that it is drawn at {zoom * 72:.0f} dots an inch: small print on it may"
                    " be illegible."
                )
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
            image = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
            to_pixels = pymupdf.Matrix(zoom, zoom) * pymupdf.Matrix(1, 0, 0, 1, -pixmap.x, -pixmap.y)
            matrix = _rotation_of(page) * to_pixels
            widgets = self._widgets(page, to_pixels, image.size)
            mark_ticks(page, raw, matrix, widgets)
            mark_covered(page, raw, matrix, _grey(image), lambda: self._without_text(number, page.rotation, zoom))
            whole = pymupdf.Rect(0, 0, *image.size)
            pictures = [pymupdf.Rect(info["bbox"]) * matrix & whole for info in page.get_image_info()]
            shares = [abs(box) / abs(whole) for box in pictures]
            return Sheet(
                image=image,
                rotation=(stored + turn) % 360,
                lines=read_layer(raw, matrix, fonts_without_map(page)),
                picture_share=max(shares, default=0.0),
                pictures=whole_pictures([(box.x0, box.y0, box.x1, box.y1) for box in pictures]),
                widgets=widgets,
            )

    def for_ocr(self, number: int, engine: OcrEngine) -> Image.Image:
        """Return page `number` in grey at the resolution that an OCR engine reads best, turned as by `read`."""
        with self._guard_errors(number):
            page = self._document[number - 1]
            zoom = self._zoom(page, engine.dpi, scale=max(1.0, engine.dpi / self._limits.dpi))
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False, colorspace=pymupdf.csGRAY)
            return Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)

    def _widgets(self, page: pymupdf.Page, to_pixels: pymupdf.Matrix, size: tuple[int, int]) -> tuple[FormWidget, ...]:
        """Return the widgets of a page, up to the number that a document may have."""
        widgets = read_widgets(page, to_pixels, size)
        widgets = widgets[: MOST_OF_DOCUMENT - self._widget_count]
        self._widget_count += len(widgets)
        return widgets

    def _without_text(self, number: int, rotation: int, zoom: float) -> TextlessPage:
        """Return page `number` rendered as by `read`, but without its text; what forms say in fields stays."""
        if self._textless is None:
            self._textless = pymupdf.open(self._source, filetype="pdf")
        page = self._textless[number - 1]
        for annotation in list(page.annots(types=[pymupdf.PDF_ANNOT_REDACT])):
            page.delete_annot(annotation)
        page.set_rotation(0)
        page.add_redact_annot(page.rect, fill=False)
        page.apply_redactions(
            images=pymupdf.PDF_REDACT_IMAGE_NONE,
            graphics=pymupdf.PDF_REDACT_LINE_ART_NONE,
            text=pymupdf.PDF_REDACT_TEXT_REMOVE,
        )
        page.set_rotation(rotation)
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
        image = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
        return TextlessPage(_grey(image), frozenset(map(key_of, characters_of(page))))

    def _zoom(self, page: pymupdf.Page, dpi: int, scale: float = 1.0) -> float:
        """Return pixels per point: `dpi`, reduced by the limits on the long side and on pixels.

        A roll, longer than twice its width, has as many pixels as a page that is half as wide as the longest side.
        """
        width, height = max(page.rect.width, 1e-3), max(page.rect.height, 1e-3)
        side = scale * self._limits.long_side
        longest = max(side / max(width, height), math.sqrt(side * side / 2 / (width * height)))
        longest = min(longest, _LONGEST / max(width, height))
        fits = math.sqrt(self._limits.pixels / (width * height))
        zoom = min(dpi / 72, longest, fits)
        return float(max(zoom, 1.01 / min(width, height)))  # a page has at least one pixel

    @contextlib.contextmanager
    def _guard_errors(self, number: int) -> Iterator[None]:
        pymupdf.TOOLS.reset_mupdf_warnings()
        try:
            yield
        except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
            raise _because(error, self._limits, f"page {number}") from error
        said = pymupdf.TOOLS.mupdf_warnings(reset=True)
        self._damage.note(number, said)
        if _out_of_memory(said):
            # MuPDF skips content it has no memory for and continues: the page would be incomplete without notice.
            raise refusal.too_much_memory(self._limits.memory_mb)


def _rotation_of(page: pymupdf.Page) -> pymupdf.Matrix:
    """Return the matrix from points of the page before its /Rotate to points of the page as shown.

    PyMuPDF's own moves a turned page by the size of its crop box without the /UserUnit, by which MuPDF has enlarged
    the points of everything else.
    """
    width, height = page.rect.width, page.rect.height
    turned = {90: (0, 1, -1, 0, width, 0), 180: (-1, 0, 0, -1, width, height), 270: (0, -1, 1, 0, 0, height)}
    return pymupdf.Matrix(turned.get(page.rotation, (1, 0, 0, 1, 0, 0)))


def _grey(image: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(image.convert("L"))


def _because(error: Exception, limits: ReadLimits, part: str) -> Unreadable:
    if isinstance(error, Unreadable):
        return error
    if _out_of_memory(str(error)):
        return refusal.too_much_memory(limits.memory_mb)
    return refusal.damaged_file("PDF", part)


def _out_of_memory(message: str) -> bool:
    return any(sign in message.lower() for sign in ("malloc", "calloc", "out of memory", "bad_alloc"))
