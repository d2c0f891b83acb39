"""Reading of pages: render, take the text layer, run OCR on the rest while time lasts."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from engine.documents import refusal
from engine.documents.found import FoundLine, FoundWord, overlap, turned_box
from engine.documents.images import ImagePages, is_blank
from engine.documents.kinds import JPEG, PDF, media_type_of
from engine.documents.levels import levelled
from engine.documents.limits import ReadLimits
from engine.documents.ocr.choose import find_engine
from engine.documents.ocr.engine import OcrFailed, OcrOutOfTime, OcrPage, turn_clockwise
from engine.documents.order import reading_order
from engine.documents.page import ReadPage, ReadWord, TextSource, page_to_wire
from engine.documents.render import PdfPages
from engine.documents.sheet import Pages, Sheet

Tell = Callable[..., None]

_INK = 12  # contrast (of 255) below which a word is invisible
_GARBAGE = 0.3  # share of unreadable characters from which the layer is discarded
_SCAN_SHARE = 0.5  # an image over this share of the page may be a scan ...
_SCAN_WORDS = 40  # ... if the layer has fewer words: a stamp or a page number printed over it
_RESERVE = 0.1  # of the time, reserved for finishing after OCR


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Page with its image, waiting for OCR; `lines` come from the text layer."""

    number: int
    picture: Path
    size: tuple[int, int]
    rotation: int
    lines: tuple[FoundLine, ...]


def read_pages(source: Path, out_dir: Path, limits: ReadLimits, *, started: float, tell: Tell) -> None:
    """Read all pages of `source` into `out_dir`, and `tell` each when finished. Raises Unreadable.

    A document is read completely or not at all, with one exception: pages that wait for OCR when `limits.seconds` are
    over (counted from `started`, a time.monotonic()) have no words, and a warning names them.
    """
    pages = _open(source, limits)
    if pages.count == 0:
        raise refusal.no_pages()
    if pages.count > limits.pages:
        raise refusal.too_many_pages(pages.count, limits.pages)
    tell(opened={"media_type": pages.media_type, "title": _title(pages), "pages": pages.count})
    words = 0
    waiting: list[_Waiting] = []
    for number in range(1, pages.count + 1):
        sheet = pages.read(number)
        grey = sheet.image.convert("L")
        lines = tuple(_seen(sheet.lines, grey))
        picture = _keep(sheet, out_dir, number)
        drawn = _Waiting(number, picture, sheet.image.size, sheet.rotation, lines)
        if _needs_ocr(sheet, lines, grey):
            waiting.append(drawn)
            continue
        words = _finish(drawn, lines, "layer", words, limits, tell)
    if waiting:
        deadline = started + limits.seconds * (1 - _RESERVE) - 0.5
        for drawn, lines, text_source in _by_ocr(pages, waiting, limits, deadline, tell):
            words = _finish(drawn, lines, text_source, words, limits, tell)
    for warning in pages.warnings:
        tell(warning=warning)
    tell(finished=True)


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
    return _save(sheet.image, out_dir / f"page-{number:04d}.png")


def _save(image: Image.Image, picture: Path) -> Path:
    # Level 1: three times as fast as the default on photographs, and on text no larger.
    image.save(picture, "PNG", compress_level=1)
    return picture


def _seen(lines: tuple[FoundLine, ...], grey: Image.Image) -> Iterator[FoundLine]:
    """Yield the lines without invisible words: text layers of scans, white on white, off-page, covered."""
    for line in lines:
        kept = tuple(word for word in line.words if _has_ink(word, grey))
        if kept:
            yield FoundLine(kept, line.heading)


def _has_ink(word: FoundWord, grey: Image.Image) -> bool:
    box = _clip(word.box, grey.size)
    return box is not None and not is_blank(grey.crop(box), _INK)


def _needs_ocr(sheet: Sheet, lines: tuple[FoundLine, ...], grey: Image.Image) -> bool:
    if is_blank(grey, _INK):
        return False
    if not lines or sheet.garbage > _GARBAGE:
        return True
    return sheet.picture_share >= _SCAN_SHARE and sum(len(line.words) for line in lines) < _SCAN_WORDS


def _by_ocr(
    pages: Pages, waiting: list[_Waiting], limits: ReadLimits, deadline: float, tell: Tell
) -> Iterator[tuple[_Waiting, tuple[FoundLine, ...], TextSource]]:
    """Yield each waiting page with the lines of OCR, turned upright; several pages run in parallel."""
    engine, missing = find_engine(limits.ocr, limits.ocr_language, _workers())
    if missing:
        tell(warning=missing)
    late: list[int] = []
    failed: list[int] = []
    foreign: dict[str, list[int]] = {}
    todo = iter(waiting)
    running: dict[Future[OcrPage], tuple[_Waiting, tuple[int, int]]] = {}
    with ThreadPoolExecutor(_workers()) as pool:
        while True:
            while len(running) < _workers() and (drawn := next(todo, None)):
                if engine is None or time.monotonic() >= deadline:
                    if engine is not None:
                        late.append(drawn.number)
                    yield drawn, drawn.lines, "layer"
                    continue
                image = pages.for_ocr(drawn.number, engine)
                running[pool.submit(engine.read, image, deadline)] = drawn, image.size
            if not running:
                break
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                drawn, size = running.pop(done)
                try:
                    read = done.result()
                except OcrOutOfTime:
                    late.append(drawn.number)
                    yield drawn, drawn.lines, "layer"
                except OcrFailed:
                    failed.append(drawn.number)
                    yield drawn, drawn.lines, "layer"
                else:
                    drawn = _turned(drawn, read.turn)
                    if read.foreign_script:
                        foreign.setdefault(read.foreign_script, []).append(drawn.number)
                    yield drawn, _merged(drawn.lines, _scaled(read, size, drawn.size)), "ocr"
    if late:
        tell(
            warning=f"The time for OCR ran out ({limits.seconds:g} s a document) before {_listed(late)}. "
            "Split the document."
        )
    for script, numbers in foreign.items():
        tell(
            warning=f"OCR cannot read the {script} script on {_listed(numbers)}: "
            f"the OCR language {limits.ocr_language} does not cover it."
        )
    if failed:
        tell(warning=f"The OCR engine failed on {_listed(failed)}. Upload the file again.")


def _workers() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, min(4, len(affinity(0)) if affinity else os.cpu_count() or 1))


def _turned(drawn: _Waiting, turn: int) -> _Waiting:
    """Return the page with its image and its layer turned clockwise."""
    if not turn:
        return drawn
    with Image.open(drawn.picture) as stored:
        stored.load()
        image = turn_clockwise(stored, turn)
    drawn.picture.unlink()
    picture = _save(image, drawn.picture.with_suffix(".png"))
    lines = tuple(_turned_line(line, turn, drawn.size) for line in drawn.lines)
    return _Waiting(drawn.number, picture, image.size, (drawn.rotation + turn) % 360, lines)


def _turned_line(line: FoundLine, turn: int, size: tuple[int, int]) -> FoundLine:
    words = [FoundWord(word.text, turned_box(word.box, turn, size), word.confidence) for word in line.words]
    return FoundLine(tuple(words), (line.heading + turn) % 360)


def _scaled(read: OcrPage, size: tuple[int, int], to: tuple[int, int]) -> tuple[FoundLine, ...]:
    """Scale lines to pixels of the page; `size` is that of the image given to OCR, before turning."""
    width, height = size if read.turn % 180 == 0 else size[::-1]
    across, down = to[0] / width, to[1] / height
    return tuple(
        FoundLine(
            tuple(
                FoundWord(
                    word.text,
                    (word.box[0] * across, word.box[1] * down, word.box[2] * across, word.box[3] * down),
                    word.confidence,
                )
                for word in line.words
            ),
            line.heading,
        )
        for line in read.lines
    )


def _merged(layer: tuple[FoundLine, ...], ocr: tuple[FoundLine, ...]) -> tuple[FoundLine, ...]:
    """Return the whole layer, and the words of OCR elsewhere."""
    taken = [word.box for line in layer for word in line.words]
    merged = list(layer)
    for line in ocr:
        kept = tuple(word for word in line.words if not any(overlap(word.box, box) > 0.3 for box in taken))
        if kept:
            merged.append(FoundLine(kept, line.heading))
    return tuple(merged)


def _finish(
    drawn: _Waiting, lines: tuple[FoundLine, ...], text_source: TextSource, words: int, limits: ReadLimits, tell: Tell
) -> int:
    """Report a finished page; return the number of words so far."""
    placed = tuple(_placed(lines, drawn.size))
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
    )
    told: dict[str, Any] = page_to_wire(page)
    tell(page=told)
    return words + len(placed)


def _placed(lines: tuple[FoundLine, ...], size: tuple[int, int]) -> Iterator[ReadWord]:
    number = 0
    for line in reading_order(lines):
        before = number
        for word in levelled(line):
            box = _clip(word.box, size)
            if box is not None:
                yield ReadWord(word.text, box, before, None if word.confidence is None else round(word.confidence, 3))
                number = before + 1


def _clip(box: tuple[float, float, float, float], size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """Clip a box to whole pixels of the page, at least one each way; None for a word off the page."""
    width, height = size
    if box[2] < 0 or box[3] < 0 or box[0] >= width or box[1] >= height:
        return None
    x0, y0 = min(width - 1, max(0, int(box[0]))), min(height - 1, max(0, int(box[1])))
    x1, y1 = min(width, max(x0 + 1, round(box[2] + 0.3))), min(height, max(y0 + 1, round(box[3] + 0.3)))
    return x0, y0, x1, y1


def _listed(numbers: list[int]) -> str:
    numbers = sorted(numbers)
    shown = ", ".join(map(str, numbers[:20])) + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"
