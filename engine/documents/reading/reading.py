"""Reading of pages: render, take what is printed of the text layer, run OCR on the rest while time lasts."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.documents import refusal
from engine.documents.form_layer.printed_names import with_printed_names
from engine.documents.form_layer.ticks import with_ticks
from engine.documents.kinds import JPEG, PDF, media_type_of
from engine.documents.limits import OCR_PATIENCE, ReadLimits
from engine.documents.ocr.levels import level_words
from engine.documents.ocr.pages import EngineLoading, Tell, Waiting, read_waiting, save_image
from engine.documents.reading.images import ImagePages
from engine.documents.reading.order import reading_order
from engine.documents.reading.page import ReadPage, ReadWord, TextSource, page_to_wire
from engine.documents.reading.page_draft import Pages, Sheet
from engine.documents.reading.render import PdfPages
from engine.documents.reading.source_words import FoundLine, clip
from engine.documents.reading.work_clock import CLOCK, STRETCH
from engine.documents.text_layer.doubts import (
    Doubt,
    doubts_about,
    drop_empty_words,
    drop_words_without_ink,
    lacking_parts,
)

_RESERVE = 0.1  # of the time, reserved for finishing after OCR


def read_pages(source: Path, out_dir: Path, limits: ReadLimits, *, tell: Tell) -> None:
    """Read all pages of `source` into `out_dir`, and `tell` each when finished. Raises Unreadable.

    A document is read completely or not at all, with one exception: pages that wait for OCR when the time is over
    (by `CLOCK`, so that a busy machine takes none of it) have no words, and a warning names them.
    """
    started = CLOCK.seconds()
    pages = _open(source, limits)
    if pages.count == 0:
        raise refusal.no_pages()
    if pages.count > limits.pages:
        raise refusal.too_many_pages(pages.count, limits.pages)
    tell(opened={"media_type": pages.media_type, "title": _title(pages), "pages": pages.count})
    words = 0
    waiting: list[Waiting] = []
    loading = EngineLoading(limits)
    if pages.media_type != PDF:
        loading.begin()  # a picture has no text layer
    for number in range(1, pages.count + 1):
        sheet = pages.read_page(number)
        grey = sheet.image.convert("L")
        lines = drop_words_without_ink(sheet.lines, grey)
        doubts = doubts_about(sheet, lines, grey)
        if doubts != Doubt(0):
            loading.begin()
        picture = _keep(sheet, out_dir, number)
        parts = lacking_parts(sheet, lines, grey) if Doubt.PARTS in doubts else ()
        drawn = Waiting(number, picture, sheet.image.size, sheet.rotation, lines, doubts, parts, sheet.widgets)
        if doubts != Doubt(0):
            waiting.append(drawn)
            continue
        words = _finish(drawn, lines, "layer", words, limits, tell)
    if waiting:
        more = limits.ocr_seconds * len(waiting)
        tell(more_seconds=STRETCH * (limits.seconds + more) - limits.seconds)  # by the clock on the wall
        deadline = started + (limits.seconds + more) * (1 - _RESERVE) - 0.5 + _seconds_of_loading(loading)
        for drawn, lines, text_source in read_waiting(pages, waiting, limits, deadline, tell, loading):
            words = _finish(drawn, lines, text_source, words, limits, tell)
    for warning in pages.warnings:
        tell(warning=warning)
    tell(finished=True)


def _seconds_of_loading(loading: EngineLoading) -> float:
    """Wait until the OCR engine is imported; return the seconds that the document is not charged for."""
    began = CLOCK.seconds()
    loading.engine()
    return min(CLOCK.seconds() - began, OCR_PATIENCE / 2)


def _open(source: Path, limits: ReadLimits) -> Pages:
    media_type = media_type_of(source)
    return PdfPages(source, limits) if media_type == PDF else ImagePages(source, media_type, limits)


def _title(pages: Pages) -> str | None:
    title = " ".join("".join(c if c.isprintable() else " " for c in pages.title or "").split())
    return title[:500] or None


def _keep(sheet: Sheet, out_dir: Path, number: int) -> Path:
    """Store the page's image: the original file when equal, else a PNG; never with lossy compression."""
    if sheet.original is not None:
        suffix = ".jpg" if media_type_of(sheet.original) == JPEG else ".png"
        picture = out_dir / f"page-{number:04d}{suffix}"
        shutil.copyfile(sheet.original, picture)
        return picture
    return save_image(sheet.image, out_dir / f"page-{number:04d}.png")


def _finish(
    drawn: Waiting, lines: tuple[FoundLine, ...], text_source: TextSource, words: int, limits: ReadLimits, tell: Tell
) -> int:
    """Report a finished page; return the number of words so far."""
    printed = with_ticks(drop_empty_words(lines), drawn.widgets)
    placed = tuple(_place_words(printed, drawn.size))
    if words + len(placed) > limits.words:
        raise refusal.too_many_words(limits.words)
    page = ReadPage(
        number=drawn.number,
        width=drawn.size[0],
        height=drawn.size[1],
        image_path=drawn.picture,
        rotation=drawn.rotation,
        text_source=text_source if placed else "none",
        words=placed,
        widgets=with_printed_names(drawn.widgets, placed, limits.dpi),
    )
    wire_page: dict[str, Any] = page_to_wire(page)
    tell(page=wire_page)
    return words + len(placed)


def _place_words(lines: tuple[FoundLine, ...], size: tuple[int, int]) -> Iterator[ReadWord]:
    number = 0
    for line in reading_order(lines):
        before = number
        for word in level_words(line):
            box = clip(word.box, size)
            if box is not None:
                yield ReadWord(word.text, box, before, None if word.confidence is None else round(word.confidence, 3))
                number = before + 1
