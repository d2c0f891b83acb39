"""Hand-drawn marks on real pages: a file of masks with names of files and numbers of pages, without the pages.

One mark a line of a JSONL file, UTF-8:

    {"file": "letter.pdf", "sha256": "...", "page": 1, "width": 1275, "height": 1650,
     "question": "Where is the signature?", "region_type": "signature", "box": [677, 1251, 817, 1325]}

`width` and `height` are pixels of the page on which the mark was drawn. A mark is a box [x0, y0, x1, y1], whose right
and lower edges are exclusive, or has "mask" instead: COCO run lengths {"size": [height, width], "counts": "..."}.
The files themselves stay where they are; they are found again by their names and checked by their SHA-256.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from db.blobs import sha256_of
from engine.plurals import count, word
from engine.run_lengths import decode_rle
from model.boxes import Box
from model.masks import Mask, rasterise

_NAMED_AT_MOST = 3  # missing files in a sentence
_SHA256_DIGITS = 64


class MarksFormatError(ValueError):
    """A malformed line of a file of marks; the message names file and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A region that answers a question on a page of a file.

    Attributes:
        file: name of the file.
        sha256: of the file's content.
        page: number of the page, from 1.
        size: (width, height) of the page on which the mark was drawn, in pixels.
        question: text of the question.
        region_type: "signature", "checkbox", "table", ...
        box: (x0, y0, x1, y1) in pixels; None with a mask.
        mask: COCO run lengths at page size; None with a box.
    """

    file: str
    sha256: str
    page: int
    size: tuple[int, int]
    question: str
    region_type: str
    box: Box | None
    mask: Mapping[str, Any] | None

    def pixels(self, size: tuple[int, int]) -> Mask:
        """Return the mark on a page of another resolution, as bool [height, width].

        Args:
            size: (width, height) of that page in pixels.
        """
        (width, height), (wide, high) = size, self.size
        if self.box is not None:
            x0, y0, x1, y1 = self.box
            across, down = width / wide, height / high
            edges = round(x0 * across), round(y0 * down), round(x1 * across), round(y1 * down)
            return rasterise([edges], (height, width))
        assert self.mask is not None
        drawn = decode_rle(self.mask)
        if size == self.size:
            return drawn
        return np.asarray(Image.fromarray(drawn).resize(size, Image.Resampling.NEAREST), dtype=bool)


@dataclass(frozen=True, slots=True)
class MarkedFiles:
    """Files of the marks in a folder: paths by SHA-256, and names of those that are missing."""

    paths: Mapping[str, Path]
    missing: tuple[str, ...]
    changed: tuple[str, ...]  # a file has the name, but another content

    @property
    def sentences(self) -> list[str]:
        """Return a sentence on the missing and one on the changed files; none when all are there."""
        sentences = []
        if self.missing:
            sentences.append(f"{_are(self.missing)} not in the folder; {_marks_on(self.missing)}")
        if self.changed:
            sentences.append(
                f"{_are(self.changed)} not as {word(len(self.changed), 'it was', 'they were')} marked; "
                f"{_marks_on(self.changed)}"
            )
        return sentences


def read_marks(path: Path) -> list[Mark]:
    """Return the marks of a file in order; blank lines are skipped.

    Raises:
        FileNotFoundError: there is no such file.
        MarksFormatError: a line is malformed, or there is no mark.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist. Name a file of marks, one mark a line.")
    marks = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            marks.append(_mark(json.loads(line.decode("utf-8"))))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise MarksFormatError(f"{path}, line {number}: not JSON in UTF-8.") from error
        except MarksFormatError as error:
            raise MarksFormatError(f"{path}, line {number}: {error}") from error
    if not marks:
        raise MarksFormatError(f"{path} has no marks.")
    return marks


def find_files(folder: Path, marks: Iterable[Mark]) -> MarkedFiles:
    """Return the files of some marks in a folder and its subfolders, found by name and checked by SHA-256.

    Raises:
        FileNotFoundError: the folder does not exist.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder. Name the folder with the marked files.")
    wanted = {mark.sha256: mark.file for mark in marks}
    by_name: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            by_name.setdefault(path.name, []).append(path)
    paths: dict[str, Path] = {}
    missing, changed = [], []
    for sha256, name in wanted.items():
        same = next((path for path in by_name.get(name, []) if sha256_of(path) == sha256), None)
        if same is not None:
            paths[sha256] = same
        elif name in by_name:
            changed.append(name)
        else:
            missing.append(name)
    return MarkedFiles(paths, tuple(missing), tuple(changed))


def _marks_on(names: Sequence[str]) -> str:
    return f"the marks on {word(len(names), 'it', 'them')} are not judged."


def _are(names: Sequence[str]) -> str:
    """Return the first names and the number of the others, with the verb."""
    shown = ", ".join(names[:_NAMED_AT_MOST])
    if len(names) > _NAMED_AT_MOST:
        shown += f" and {count(len(names) - _NAMED_AT_MOST, 'other file')}"
    return f"{shown} {word(len(names), 'is', 'are')}"


def _mark(stored: object) -> Mark:
    if not isinstance(stored, dict):
        raise MarksFormatError("a mark must be a JSON object.")
    texts = {name: _text(stored, name) for name in ("file", "sha256", "question", "region_type")}
    if len(texts["sha256"]) != _SHA256_DIGITS:
        raise MarksFormatError('"sha256" must have 64 digits.')
    page, width, height = (_number(stored, name) for name in ("page", "width", "height"))
    box, mask = stored.get("box"), stored.get("mask")
    if (box is None) == (mask is None):
        raise MarksFormatError('a mark has either "box" or "mask".')
    if mask is not None and (not isinstance(mask, dict) or mask.get("size") != [height, width]):
        raise MarksFormatError(f'"mask" must be COCO run lengths of size {[height, width]}.')
    return Mark(
        **texts, page=page, size=(width, height), box=None if box is None else _box(box, width, height), mask=mask
    )


def _text(stored: Mapping[str, Any], name: str) -> str:
    value = stored.get(name)
    if not isinstance(value, str) or not value.strip():
        raise MarksFormatError(f'"{name}" must be a text that is not empty.')
    return value


def _number(stored: Mapping[str, Any], name: str) -> int:
    value = stored.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise MarksFormatError(f'"{name}" must be a whole number above 0.')
    return value


def _box(stored: object, width: int, height: int) -> Box:
    if not isinstance(stored, list) or len(stored) != 4 or not all(isinstance(edge, int) for edge in stored):
        raise MarksFormatError('"box" must be four whole numbers [x0, y0, x1, y1].')
    x0, y0, x1, y1 = stored
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise MarksFormatError(f'"box" {stored} is empty or leaves the page of {width} x {height} pixels.')
    return x0, y0, x1, y1
