"""Plan of a marked PDF: pages with their words and marks, in pixels of the page images."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from engine.fields.normalisation import Value
from engine.interchange.edges import edge_rings
from engine.interchange.value_sheets import plain_text
from model.boxes import Box
from model.masks import Mask, pixels_inside, rasterise

MOST_BOXES = 8  # of a mark that is no outline: more of them come from a brush, and a highlight has round ends
_LONGEST_STEM = 120  # bytes of a file's name
Ring = list[tuple[int, int]]


class PlannedWord(NamedTuple):
    """Word of a page; `read`: whether OCR read it."""

    text: str
    box: Box
    read: bool


class Shape(NamedTuple):
    """Place of a mark: boxes that cover exactly its pixels, or outlines, whose holes are lost."""

    boxes: list[Box]
    rings: list[Ring]


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark of a value on a page, with its note.

    Attributes:
        question: Title of the note.
        text: Text of the note.
        about: Subject of the note: who accepted the answer.
        colour: Number of the question, from 0; questions have colours by it.
        shape: Its place.
    """

    question: str
    text: str
    about: str
    colour: int
    shape: Shape


@dataclass(slots=True)
class PlannedPage:
    """Page of a marked PDF.

    Attributes:
        number: From 1.
        width: Pixels of its image.
        height: Pixels of its image.
        image_sha256: Blob of its image.
        rotation: Degrees clockwise by which the page of the original stands upright; None: the image takes its place.
        words: Returns its words in reading order.
        marks: Its marks.
    """

    number: int
    width: int
    height: int
    image_sha256: str
    rotation: int | None
    words: Callable[[], Sequence[PlannedWord]]
    marks: list[Mark] = field(default_factory=list)


def shape_of(mask_box: Box, counts: Sequence[int], words: Sequence[Box]) -> Shape:
    """Return the place of a mark.

    Args:
        mask_box: Box of the run lengths.
        counts: Run lengths of the pixels inside that box (model.masks).
        words: Boxes of the marked words; they are taken where they make exactly the pixels.
    """
    pixels = pixels_inside(mask_box, counts)
    x, y = mask_box[:2]
    moved = [(x0 - x, y0 - y, x1 - x, y1 - y) for x0, y0, x1, y1 in words]
    inside = all(
        box[0] >= 0 and box[1] >= 0 and box[2] <= mask_box[2] - x and box[3] <= mask_box[3] - y for box in moved
    )
    if moved and inside and np.array_equal(rasterise(moved, pixels.shape), pixels):
        return Shape(list(words), [])
    boxes = _boxes(pixels)
    if boxes is None:
        return Shape([], edge_rings(pixels, (x, y)))
    return Shape([(x0 + x, y0 + y, x1 + x, y1 + y) for x0, y0, x1, y1 in boxes], [])


def _boxes(pixels: Mask) -> list[Box] | None:
    """Return boxes that cover exactly a mask, bool [H, W]; None where they are too many."""
    done: list[Box] = []
    begun: dict[tuple[int, int], int] = {}  # from x0 and x1 to the first row
    for row in range(len(pixels) + 1):
        line = pixels[row] if row < len(pixels) else np.zeros(pixels.shape[1], bool)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
        runs = {(int(x0), int(x1)) for x0, x1 in edges.reshape(-1, 2)}
        done += [(run[0], top, run[1], row) for run, top in begun.items() if run not in runs]
        begun = {run: begun.get(run, row) for run in runs}
        if len(done) + len(begun) > MOST_BOXES:
            return None
    return sorted(done, key=lambda box: (box[1], box[0]))


def note_text(text: str, value: Value | None) -> str:
    """Return the text of a note: that of the answer, and the value that the field makes of it, where they differ."""
    if value is None or isinstance(value, bool):
        return text
    shown = " ".join(part for part in value.values() if part) if isinstance(value, dict) else plain_text(value)
    return text if shown == text else f"{text}\nValue: {shown}".strip()


def file_name_of(name: str, sha256: str) -> str:
    """Return the name of a document's marked PDF: letters, digits and hyphens, and the beginning of its SHA-256.

    No system refuses it, and no two documents of a project share it.
    """
    stem = name.rsplit(".", 1)[0]
    plain = "".join(letter if letter.isalnum() or letter == "_" else "-" for letter in stem)
    return f"{plain.encode()[:_LONGEST_STEM].decode(errors='ignore').strip('-') or 'document'}-{sha256[:16]}.pdf"
