"""Pages that OCR has to look at: a quick reading checks a layer in doubt, and what a layer lacks is read and joined."""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from PIL import Image, ImageDraw

from engine.documents.form_layer.widgets import FormWidget, turned_widgets
from engine.documents.limits import ReadLimits
from engine.documents.ocr.choose import find_engine
from engine.documents.ocr.engine import OcrEngine, OcrFailed, OcrOutOfTime, OcrPage, turn_clockwise
from engine.documents.ocr.ocr_view import OcrView, view_of
from engine.documents.ocr.unread import engine_failed, out_of_time, unknown_script
from engine.documents.reading.page import TextSource
from engine.documents.reading.page_draft import Pages
from engine.documents.reading.source_words import FoundLine, overlap, turned_box
from engine.documents.reading.work_clock import CLOCK
from engine.documents.text_layer.doubts import (
    Doubt,
    doubted_fonts,
    drop_font,
    drop_hidden_words,
    drop_unreadable_words,
    hidden,
)
from engine.documents.text_layer.layer_check import AGREES, LOOKS_ALIKE, can_be_checked, samples_of
from model.boxes import FloatBox

_MOST_AT_ONCE = 4
# Address space for the largest page that is read (3.2 megapixels): 1.7 GB, and .25 for each page beside it. Three at
# once failed within 2 GB, each of them.
_ONE_PAGE_MB, _NEXT_PAGE_MB = 1750, 250
PAGE_SECONDS = 60.0  # limit of each page; a dense one takes ten on a busy machine
_SAME_PLACE = 0.3  # overlap from which a word of OCR lies where the layer has one
_AIR = 0.1  # of a word's height: what is painted over around it

Read = tuple["Waiting", tuple[FoundLine, ...], TextSource]


class Tell(Protocol):
    """Reports something to the process that waits for the pages, as one JSON line."""

    def __call__(self, **said: object) -> None:
        """Report one object."""
        ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """Page with its image, waiting for OCR; `lines` come from the text layer, `doubts` tell why it waits.

    `parts`: boxes in pixels, where OCR reads what the layer lacks, if `doubts` are of parts. `widgets`: of the form.
    """

    number: int
    picture: Path
    size: tuple[int, int]
    rotation: int
    lines: tuple[FoundLine, ...]
    doubts: Doubt
    parts: tuple[FloatBox, ...] = ()
    widgets: tuple[FormWidget, ...] = ()


@dataclass(slots=True)
class _Unread:
    """Numbers of pages that were not read by OCR."""

    late: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)  # because there is no engine
    foreign: dict[str, list[int]] = field(default_factory=dict)


class EngineLoading:
    """The OCR engine, loaded in a thread while pages are drawn: importing it takes most of a second."""

    def __init__(self, limits: ReadLimits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(1)
        self._found: Future[tuple[OcrEngine | None, str | None]] | None = None

    def begin(self) -> None:
        """Begin to load the engine, unless that was begun."""
        if self._found is None:
            self._found = self._pool.submit(
                find_engine, self._limits.ocr, self._limits.ocr_language, _workers(self._limits)
            )

    def engine(self) -> tuple[OcrEngine | None, str | None]:
        """Return what `find_engine` found, once it is loaded."""
        self.begin()
        assert self._found is not None
        return self._found.result()


def read_waiting(
    pages: Pages, waiting: Sequence[Waiting], limits: ReadLimits, deadline: float, tell: Tell, loading: EngineLoading
) -> Iterator[Read]:
    """Yield each waiting page with the lines that are printed on it, turned upright, and their source.

    Several pages are read in parallel. Those that the time does not reach keep what is known of them; a warning and the
    list of unread pages name them. `deadline` is in seconds of `CLOCK`.
    """
    engine, missing = loading.engine()
    if missing:
        tell(warning=missing)
    unread = _Unread()
    if engine is None:
        unread.missing = [drawn.number for drawn in waiting]
        for drawn in waiting:
            yield drawn, drawn.lines, "layer"
    else:
        yield from _Reading(pages, engine, deadline, unread, _workers(limits), tell).read_pages(waiting)
    if unread.late:
        tell(warning=out_of_time(unread.late, limits.ocr_seconds))
    for script, numbers in unread.foreign.items():
        tell(warning=unknown_script(script, numbers, limits.ocr_language))
    if unread.failed:
        tell(warning=engine_failed(unread.failed))
    if again := [*unread.late, *unread.failed, *unread.missing]:
        tell(unread=sorted(again), try_again=sorted([*unread.late, *unread.failed]))


class _Reading:
    """Waiting pages of one document, on their way through OCR."""

    def __init__(
        self, pages: Pages, engine: OcrEngine, deadline: float, unread: _Unread, at_once: int, tell: Tell
    ) -> None:
        self._pages, self._engine, self._deadline, self._unread = pages, engine, deadline, unread
        self._at_once, self._tell = at_once, tell
        self._checking: dict[Future[tuple[FoundLine, ...]], Waiting] = {}
        self._running: dict[Future[OcrPage], tuple[Waiting, OcrView, float]] = {}
        self._disproved = False  # a layer of this document was not what is printed

    def read_pages(self, waiting: Sequence[Waiting]) -> Iterator[Read]:
        """Yield the pages as they are finished."""
        first: list[Waiting] = []  # checked pages, to be read before others: the first page is waited for most
        todo = list(reversed(waiting))
        with ThreadPoolExecutor(self._at_once) as pool:
            while first or todo or self._checking or self._running:
                while (first or todo) and len(self._checking) + len(self._running) < self._at_once:
                    drawn = first.pop() if first else todo.pop()
                    if CLOCK.seconds() >= self._deadline:
                        yield self._late(drawn)
                    elif _is_doubted(drawn, self._engine):
                        self._checking[pool.submit(_check_layer, self._engine, drawn, self._deadline)] = drawn
                    else:
                        image = self._pages.for_ocr(drawn.number, self._engine)
                        _paint_over(image, drawn)
                        view = view_of(image, drawn.size, drawn.parts if _is_of_parts(drawn) else ())
                        begun = pool.submit(read_in_time, self._engine, view.image, self._deadline)
                        self._running[begun] = drawn, view, time.monotonic()
                under_way: list[Future[Any]] = [*self._checking, *self._running]
                wait(under_way, return_when=FIRST_COMPLETED)
                for check in [future for future in self._checking if future.done()]:
                    drawn = self._judge_layer(self._checking.pop(check), check)
                    if drawn.doubts:
                        first.append(drawn)
                    else:
                        yield drawn, drawn.lines, "layer"
                for reading in [future for future in self._running if future.done()]:
                    yield self._finish_page(*self._running.pop(reading), reading)

    def _judge_layer(self, drawn: Waiting, done: Future[tuple[FoundLine, ...]]) -> Waiting:
        """Return a page after the quick reading: without what of its layer is not what is printed."""
        try:
            lines = done.result()
        except (OcrOutOfTime, OcrFailed):
            if CLOCK.seconds() >= self._deadline:
                return drawn  # it is named among the late ones; nothing was found against its layer
            lines = _drop_doubtful(drawn)
        else:
            self._disproved |= lines != drawn.lines
        if lines == drawn.lines:
            return replace(drawn, doubts=drawn.doubts & (Doubt.LACKS | Doubt.PARTS))
        return replace(drawn, lines=lines, doubts=Doubt.LACKS)

    def _finish_page(self, drawn: Waiting, view: OcrView, began: float, done: Future[OcrPage]) -> Read:
        outcome = "read" if done.exception() is None else "failed"
        self._tell(ocr_page=outcome, seconds=round(time.monotonic() - began, 3))  # for the metrics
        try:
            read = done.result()
        except OcrOutOfTime:
            return self._late(drawn)
        except OcrFailed:
            self._unread.failed.append(drawn.number)
            return drawn, drawn.lines, "layer"
        if read.foreign_script:
            self._unread.foreign.setdefault(read.foreign_script, []).append(drawn.number)
        if _is_of_parts(drawn):  # the text of its layer says how the page stands, and not a picture on it
            words = view.place_upright(read)
        else:
            drawn, words = _turn_page(drawn, read.turn), view.place_turned(read)
        return (drawn, *join_lines((*drop_unreadable_words(drawn.lines), *_not_read(drawn.lines, words)), words))

    def _late(self, drawn: Waiting) -> Read:
        """Return a page that the time did not reach; a layer in doubt counts while none of the document was wrong."""
        self._unread.late.append(drawn.number)
        return drawn, _drop_doubtful(drawn) if self._disproved else drawn.lines, "layer"


def join_lines(layer: tuple[FoundLine, ...], ocr: tuple[FoundLine, ...]) -> tuple[tuple[FoundLine, ...], TextSource]:
    """Return the whole layer with the words of OCR elsewhere, and where they are from."""
    taken = [word.box for line in layer for word in line.words]
    merged = list(layer)
    for line in ocr:
        words = tuple(word for word in line.words if not any(overlap(word.box, box) > _SAME_PLACE for box in taken))
        if words:
            merged.append(FoundLine(words, line.heading))
    if not layer:
        return tuple(merged), "ocr"
    return tuple(merged), "layer" if len(merged) == len(layer) else "layer+ocr"


def _not_read(layer: tuple[FoundLine, ...], ocr: tuple[FoundLine, ...]) -> Iterator[FoundLine]:
    """Yield what is known of the layer's unreadable words in whose place OCR read nothing."""
    boxes = [word.box for line in ocr for word in line.words]
    for line in layer:
        words = tuple(
            word
            for word in line.words
            if word.unreadable and word.text and not any(overlap(word.box, box) > _SAME_PLACE for box in boxes)
        )
        if words:
            yield FoundLine(words, line.heading)


def save_image(image: Image.Image, picture: Path) -> Path:
    """Store a page's image as a PNG."""
    # Level 1: three times as fast as the default on photographs, and on text no larger.
    image.save(picture, "PNG", compress_level=1)
    return picture


def read_in_time(engine: OcrEngine, image: Image.Image, deadline: float) -> OcrPage:
    """Read an image; a page on which the engine hangs must not take the time of all others. Raises as the engine."""
    return engine.read_image(image, min(deadline, CLOCK.seconds() + PAGE_SECONDS))


def _is_of_parts(drawn: Waiting) -> bool:
    """Return whether OCR reads some places of a page, and believes the layer about the others."""
    return drawn.doubts == Doubt.PARTS


def _is_doubted(drawn: Waiting, engine: OcrEngine) -> bool:
    """Return whether a quick reading says something about the layer of a page."""
    return Doubt.ODD in drawn.doubts or _can_check_hidden(drawn, engine)


def _can_check_hidden(drawn: Waiting, engine: OcrEngine) -> bool:
    return Doubt.HIDDEN in drawn.doubts and can_be_checked(hidden(drawn.lines), engine.language)


def _check_layer(engine: OcrEngine, drawn: Waiting, deadline: float) -> tuple[FoundLine, ...]:
    """Return the lines of a page's layer without those that a quick reading shows to be wrong."""
    lines = drawn.lines
    with Image.open(drawn.picture) as stored:
        grey = stored.convert("L")
    if _can_check_hidden(drawn, engine) and _agreement(engine, hidden(lines), grey, deadline) < AGREES:
        lines = drop_hidden_words(lines)
    if Doubt.ODD in drawn.doubts:
        for font, of_font in doubted_fonts(lines).items():
            known = font is None or can_be_checked(of_font, engine.language)
            if known and _agreement(engine, of_font, grey, deadline) < LOOKS_ALIKE:
                lines = drop_font(lines, font)
    return lines


def _agreement(engine: OcrEngine, doubted: tuple[FoundLine, ...], grey: Image.Image, deadline: float) -> float:
    """Return how well doubted words of a page agree with a quick reading, 0..1."""
    from rapidfuzz.distance import Levenshtein

    samples = samples_of(doubted, grey)
    if samples is None:
        return 0.0
    read = read_in_time(engine, samples.image, deadline)
    return samples.agreement(read.lines if not read.turn else (), Levenshtein.normalized_similarity)


def _drop_doubtful(drawn: Waiting) -> tuple[FoundLine, ...]:
    """Return the words of a layer that are not in doubt."""
    lines = drop_hidden_words(drawn.lines)
    if Doubt.ODD in drawn.doubts:
        for font in doubted_fonts(lines):
            lines = drop_font(lines, font)
    return lines


def _paint_over(image: Image.Image, drawn: Waiting) -> None:
    """Paint the words of the layer over with paper, so that OCR reads only what is missing."""
    lines = drop_unreadable_words(drawn.lines)
    if not lines:
        return
    paper = max(range(256), key=image.histogram().__getitem__)
    draw = ImageDraw.Draw(image)
    across, down = image.width / drawn.size[0], image.height / drawn.size[1]
    for word in (word for line in lines for word in line.words):
        x0, y0, x1, y1 = word.box
        air = _AIR * (y1 - y0)
        draw.rectangle(((x0 - air) * across, (y0 - air) * down, (x1 + air) * across, (y1 + air) * down), fill=paper)


def _workers(limits: ReadLimits) -> int:
    """Return how many pages are read at once: as cores and memory allow, four at most."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(_MOST_AT_ONCE, cores, 1 + (limits.memory_mb - _ONE_PAGE_MB) // _NEXT_PAGE_MB))


def _turn_page(drawn: Waiting, turn: int) -> Waiting:
    """Return the page with its image and its layer turned clockwise."""
    if not turn:
        return drawn
    with Image.open(drawn.picture) as stored:
        stored.load()
        image = turn_clockwise(stored, turn)
    drawn.picture.unlink()
    picture = save_image(image, drawn.picture.with_suffix(".png"))
    lines = tuple(_turned_line(line, turn, drawn.size) for line in drawn.lines)
    rotation = (drawn.rotation + turn) % 360
    widgets = turned_widgets(drawn.widgets, turn, drawn.size)
    return replace(drawn, picture=picture, size=image.size, rotation=rotation, lines=lines, widgets=widgets)


def _turned_line(line: FoundLine, turn: int, size: tuple[int, int]) -> FoundLine:
    words = [replace(word, box=turned_box(word.box, turn, size)) for word in line.words]
    return FoundLine(tuple(words), (line.heading + turn) % 360)
