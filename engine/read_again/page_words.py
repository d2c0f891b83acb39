"""Reading of a stored page again, by OCR alone, in the pixels that its masks are in."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from db.tables import Page
from engine.documents.ingest import limits_of
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadPage, ReadWord
from engine.documents.reading.page_stream import AT_ONCE
from engine.documents.reading.source_words import turned_box
from engine.errors import Refused
from engine.workspace import Workspace
from model.boxes import FloatBox


@dataclass(frozen=True, slots=True)
class PageReadAgain:
    """Words that OCR reads on a stored page, and the clockwise degrees by which the page has to be turned upright.

    `upright`: the words in pixels of the page after that turn. `as_stored`: in pixels of the page as it is.
    """

    turn: int
    upright: tuple[ReadWord, ...]
    as_stored: tuple[ReadWord, ...]


def words_by_ocr(workspace: Workspace, page: Page) -> PageReadAgain:
    """Return what OCR reads on the stored image of a page; takes seconds, so not in a transaction.

    Args:
        workspace: Open workspace.
        page: Row of the page.

    Raises:
        Refused: OCR did not read it: no engine, no time, another script, or no word found; the words of the page
            should stay.
    """
    with AT_ONCE, tempfile.TemporaryDirectory(prefix="glossator-") as folder:
        read = read_document(
            workspace.blobs.path(page.image_sha256),
            name=f"page {page.number}",
            limits=limits_of(workspace.settings),
            out_dir=Path(folder),
        )
    read_page = read.pages[0]
    if not read.warnings and not read_page.words and page.word_count:
        raise Refused(f"Page {page.number} keeps its words, because OCR found none on it.")
    if read.warnings and (not read_page.words or any("OCR cannot read" in warning for warning in read.warnings)):
        raise Refused(f"Page {page.number} keeps its words. {' '.join(read.warnings)}")
    return PageReadAgain(read_page.rotation, read_page.words, _in_stored_pixels(read_page, (page.width, page.height)))


def _in_stored_pixels(found: ReadPage, size: tuple[int, int]) -> tuple[ReadWord, ...]:
    """Undo the turn of a page that OCR holds to be sideways."""
    back = (360 - found.rotation) % 360
    if not back and (found.width, found.height) == size:
        return found.words
    turned = (found.width, found.height)
    return tuple(_whole(word, turned_box(word.box, back, turned)) for word in found.words)


def _whole(word: ReadWord, box: FloatBox) -> ReadWord:
    x0, y0, x1, y1 = (round(edge) for edge in box)
    return replace(word, box=(x0, y0, x1, y1))
