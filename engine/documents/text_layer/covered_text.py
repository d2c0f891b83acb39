"""Text that a page draws and does not show: under a bar, a box, a shape or a picture, or in the colour of its ground.

The picture of the page decides; the order of drawing only says where to look. A letter has ink between its base line
and the height of an x, so one without contrast there cannot be read: a black bar need not be higher than that. Where a
picture lies over a text, a letter shows if the page looks different without its text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

from model.boxes import FloatBox

_CORE = (0.05, 0.45)  # ems above the base line, between which every letter and every digit has ink
_CONTRAST = 12  # of 255, between ink and paper, and between the page with its text and without
_COVERED = 0.5  # share of a letter's core from which a shape covers it
_LEAST_PIXELS = 3  # width and height of a core that is judged; a smaller one is as the letters beside it
_LARGEST = 0.5  # share of the page; the ground of an invisible text, such as paper, is larger
_PICTURES = ("fill-image", "fill-shade")  # may show anything, words among it

Grey = NDArray[np.uint8]  # [H, W]
Key = tuple[int, int, int]  # of a character: its letter, and its place in quarters of a point


class _Seen(Enum):
    """What a page shows of a character."""

    SHOWN = "shown"
    OTHER = "hidden"  # something else is in its place: a picture, which may show the same word
    NOTHING = "covered"  # nothing is to be seen in its place


@dataclass(frozen=True, slots=True)
class TextlessPage:
    """A page rendered without its text, and the characters that could not be taken out."""

    grey: Grey
    left: frozenset[Key]


@dataclass(frozen=True, slots=True)
class _Character:
    """Character of a page's "rawdict"; `core`: where it must have ink, in points. `speaks`: a letter or a digit."""

    raw: dict[str, Any]
    core: FloatBox
    speaks: bool


def key_of(character: dict[str, Any]) -> Key:
    """Return the key of a character of a "rawdict"."""
    x, y = character["origin"]
    return ord(character["c"][:1] or " "), round(4 * x), round(4 * y)


def mark_covered(
    page: pymupdf.Page,
    raw: dict[str, Any],
    matrix: pymupdf.Matrix,
    grey: Grey,
    without_text: Callable[[], TextlessPage],
) -> None:
    """Mark the characters of a page's "rawdict" that its picture does not show.

    Sets "covered" where nothing is to be seen, and "hidden" where a picture is: it may show the same words.

    Args:
        page: The page.
        raw: Its characters, with those that are not drawn marked as hidden.
        matrix: From points of the unrotated page to pixels of `grey`.
        grey: The page as rendered.
        without_text: Renders the page without its text; called only where the order of drawing leaves a doubt.
    """
    log = page.get_bboxlog()
    if all(kind.endswith("text") for kind, _ in log):
        return
    words = list(_words(raw))
    characters = [character for word in words for character in word]
    if not characters:
        return
    seen = _look(characters, _Drawing(log, page), matrix, grey, without_text)
    at = 0
    for word in words:
        for character, state in zip(word, _as_one(word, seen[at : at + len(word)]), strict=True):
            if state is not None and state is not _Seen.SHOWN:
                character.raw[state.value] = True
        at += len(word)


class _Drawing:
    """What a page draws, in its order: texts and shapes, with their boxes in points."""

    def __init__(self, log: Sequence[tuple[str, FloatBox]], page: pymupdf.Page) -> None:
        self._texts = np.array([box for kind, box in log if kind.endswith("text")]).reshape(-1, 4)
        self._text_at = np.array([at for at, (kind, _) in enumerate(log) if kind.endswith("text")], dtype=np.int64)
        self._shapes = [(at, kind, box) for at, (kind, box) in enumerate(log) if not kind.endswith("text")]
        self._whole = abs(page.rect)  # as the boxes, in points that a /UserUnit has enlarged

    def covers(self, cores: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which cores lie on a shape, under a later one, and under a later picture, each bool [N].

        Shapes under `on` are no pictures and no paper.
        """
        on, under, below_picture = (np.zeros(len(cores), dtype=bool) for _ in range(3))
        sizes = (cores[:, 2] - cores[:, 0]) * (cores[:, 3] - cores[:, 1])
        least = _COVERED * np.min(cores[:, 2:] - cores[:, :2], axis=0)
        for at, kind, (x0, y0, x1, y1) in self._shapes:
            if x1 - x0 < least[0] or y1 - y0 < least[1]:
                continue
            width = np.minimum(cores[:, 2], x1) - np.maximum(cores[:, 0], x0)
            height = np.minimum(cores[:, 3], y1) - np.maximum(cores[:, 1], y0)
            inside = (width > 0) & (height > 0) & (width * height >= _COVERED * sizes)
            if not inside.any():
                continue
            if kind not in _PICTURES and (x1 - x0) * (y1 - y0) < _LARGEST * self._whole:
                on |= inside
            later = inside & ~(below_picture if kind in _PICTURES else under)
            later[later] = self._drawn_before(cores[later], at)
            under |= later
            if kind != "stroke-path":  # a stroke covers what it paints, and its box is that of what it goes around
                below_picture |= later
        return on, under, below_picture

    def _drawn_before(self, cores: NDArray[np.float64], at: int) -> NDArray[np.bool_]:
        """Return which cores lie on a text that is drawn before the shape `at`."""
        earlier = self._texts[: int(np.searchsorted(self._text_at, at))]
        x, y = (cores[:, 0] + cores[:, 2]) / 2, (cores[:, 1] + cores[:, 3]) / 2
        x, y = x[:, None], y[:, None]
        within = (earlier[:, 0] <= x) & (x <= earlier[:, 2]) & (earlier[:, 1] <= y) & (y <= earlier[:, 3])
        return np.asarray(within.any(axis=1))


def _look(
    characters: Sequence[_Character],
    drawing: _Drawing,
    matrix: pymupdf.Matrix,
    grey: Grey,
    without_text: Callable[[], TextlessPage],
) -> list[_Seen | None]:
    """Return what the page shows of each character; None for one that does not say."""
    cores = np.array([character.core for character in characters])
    on, under, below_picture = drawing.covers(cores)
    boxes = _pixels(cores, matrix, grey)
    judged = np.min(boxes[:, 2:] - boxes[:, :2], axis=1) >= _LEAST_PIXELS
    seen: list[_Seen | None] = []
    textless: TextlessPage | None = None
    for at, character in enumerate(characters):
        if not judged[at] or not character.speaks:
            seen.append(None)
            continue
        bare = bool(on[at] or under[at]) and _contrast(grey, boxes[at]) < _CONTRAST
        if "hidden" in character.raw:  # not drawn: its place is by somebody's OCR
            seen.append(_Seen.NOTHING if bare and on[at] else _Seen.SHOWN)
        elif bare and under[at]:
            seen.append(_Seen.NOTHING)
        elif bare or below_picture[at]:
            textless = textless or without_text()
            # Not covered: strokes that join Arabic letters have their ink on the base line, whatever they are called.
            box = boxes[at] if below_picture[at] else _pixels(np.array([character.raw["bbox"]]), matrix, grey)[0]
            if key_of(character.raw) in textless.left or _changes(grey, textless.grey, box):
                seen.append(_Seen.SHOWN)
            else:
                seen.append(_Seen.NOTHING if bare else _Seen.OTHER)
        else:
            seen.append(_Seen.SHOWN)
    return seen


def _as_one(word: Sequence[_Character], seen: Sequence[_Seen | None]) -> list[_Seen | None]:
    """Return what is seen of each character of a word; those that do not say are as those before them, or behind."""
    states = list(seen)
    last = next((state for state in states if state is not None), None)
    for at, state in enumerate(states):
        last = state if state is not None else last
        states[at] = last
    return states


def _words(raw: dict[str, Any]) -> Iterator[list[_Character]]:
    """Yield the characters of each word of a page's horizontal and upright lines."""
    for block in raw["blocks"]:
        for line in block.get("lines", ()):
            word: list[_Character] = []
            for span in line["spans"]:
                for character in span["chars"]:
                    if not character["c"].isspace():
                        word.append(_Character(character, _core(line, span, character), _speaks(character["c"])))
                    elif word:
                        yield word
                        word = []
            if word:
                yield word


def _core(line: dict[str, Any], span: dict[str, Any], character: dict[str, Any]) -> FloatBox:
    """Return where a character must have ink; its box, where lines are vertical writing or slanted."""
    x0, y0, x1, y1 = character["bbox"]
    dx, dy = (round(part, 3) for part in line["dir"])
    if line["wmode"] or (abs(dx), abs(dy)) not in ((1, 0), (0, 1)):
        return x0, y0, x1, y1
    x, y = character["origin"]
    sign = -1 if line["mirrored"] else 1
    low, high = (sign * share * span["size"] for share in _CORE)
    if dy == 0:
        above = sorted((y - dx * low, y - dx * high))
        return x0, above[0], x1, above[1]
    beside = sorted((x + dy * low, x + dy * high))
    return beside[0], y0, beside[1], y1


def _speaks(c: str) -> bool:
    """Return whether a character has ink in its core: a letter or a digit that is not raised."""
    return c.isdecimal() or (c.isalpha() and c not in "ªº" and not "\u02b0" <= c <= "\u02ff")


def _pixels(boxes: NDArray[np.float64], matrix: pymupdf.Matrix, grey: Grey) -> NDArray[np.int64]:
    """Return the whole pixels inside boxes in points, int64 [N, 4]."""
    turn = np.array([[matrix.a, matrix.b], [matrix.c, matrix.d]])
    corners = boxes.reshape(-1, 2, 2) @ turn + (matrix.e, matrix.f)
    limits = grey.shape[::-1]
    low, high = np.ceil(corners.min(axis=1)), np.floor(corners.max(axis=1))
    return np.concatenate([np.clip(low, 0, limits), np.clip(high, 0, limits)], axis=1).astype(np.int64)


def _contrast(grey: Grey, box: NDArray[np.int64]) -> int:
    x0, y0, x1, y1 = box
    cut = grey[y0:y1, x0:x1]
    return int(cut.max()) - int(cut.min())


def _changes(grey: Grey, without: Grey, box: NDArray[np.int64]) -> bool:
    """Return whether a part of the page looks different without its text."""
    x0, y0, x1, y1 = box
    change = grey[y0:y1, x0:x1].astype(np.int16) - without[y0:y1, x0:x1]
    return bool(np.abs(change).max() >= _CONTRAST)
