"""What comes in from elsewhere: pages with words and answers, whatever format they were in; and how a bad entry is named."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from engine.annotation.state import Box
from engine.errors import Refused
from engine.run_lengths import decode_rle
from engine.text import storable
from model.masks import Mask

MOST_BYTES = 4_000_000_000  # of one file of text
MOST_QUESTIONS = 10_000  # of a set: a project's list of questions is read by people
MOST_LETTERS = 2_000  # of a question
MOST_WORDS = 100_000  # of a page


class BadEntry(Refused):
    """What cannot be imported, by the file and the entry, and why."""


def bad(where: str, why: str) -> NoReturn:
    """Refuse an entry. `where`: the file and the entry in it; `why`: what is wrong, as the end of a sentence."""
    raise BadEntry(f"{where}: {why}. Nothing was imported.")


@dataclass(frozen=True, slots=True)
class IncomingWord:
    """A word and its box in pixels of the page's image, x1 and y1 exclusive."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class IncomingAnswer:
    """What a page answers to a question: some of its words (by place), or pixels, or nothing at all.

    `mask`: makes the pixels, bool [height, width] of the page; only called when they are needed. `where`: for people, should it be wrong.
    `automatic`: a model said so and no person looked; it does not come in, for what comes in counts as a person's answer.
    """

    question: str
    where: str
    words: tuple[int, ...] = ()
    mask: Callable[[], Mask] | None = None
    automatic: bool = False

    @property
    def nothing(self) -> bool:
        """Whether it says that the document does not answer."""
        return not self.words and self.mask is None


@dataclass(frozen=True, slots=True)
class IncomingPage:
    """A page. Pages of one `document` follow each other; `number` counts from 1. `image`: a PNG or JPEG of that size.

    `alternatives`: how many further answers to its questions the set gives; they are left out, as a question has one answer.
    """

    document: str
    number: int
    image: Path
    width: int
    height: int
    where: str
    name: str
    words: tuple[IncomingWord, ...] = ()
    answers: tuple[IncomingAnswer, ...] = ()
    licence: str | None = None
    alternatives: int = 0


@dataclass(frozen=True, slots=True)
class Set:
    """A set that was opened: its pages, which may be read several times, and roughly how many there are."""

    pages: Callable[[], Iterator[IncomingPage]]
    count: int
    lost: dict[str, int] = field(default_factory=dict)  # what the format says and cannot come in, by name


def file_in(path: Path, name: str) -> Path:
    """Return the file of that name in a folder, or the file itself. BadEntry when there is none."""
    file = path / name if path.is_dir() else path
    if not file.is_file():
        bad(str(path), f"it holds no {name}")
    return file


def lines_in(file: Path) -> int:
    """Return how many lines a file has, for progress."""
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def load_json(path: Path) -> Any:
    """Return what a JSON file holds. BadEntry when it cannot be read, is no JSON, or holds NaN or infinity."""
    try:
        if path.stat().st_size > MOST_BYTES:
            bad(path.name, f"it is larger than {MOST_BYTES / 1e9:.0f} GB")
        return json.loads(path.read_text("utf-8-sig"), parse_constant=no_number)
    except OSError as error:
        bad(path.name, f"it cannot be read ({error.strerror or error})")
    except UnicodeDecodeError as error:
        bad(path.name, f"it is not UTF-8 ({error.reason} at byte {error.start})")
    except json.JSONDecodeError as error:
        bad(path.name, f"it is no whole JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    except RecursionError:
        bad(path.name, "its JSON is nested too deeply")
    except ValueError as error:
        bad(path.name, str(error))


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield where each line of a file of JSON lines stands, and what it holds; blank lines are skipped."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                where = f"{path.name}, line {number}"
                if not line.strip():
                    continue
                try:
                    yield (
                        where,
                        json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"), parse_constant=no_number),
                    )
                except UnicodeDecodeError as error:
                    bad(where, f"it is not UTF-8 ({error.reason})")
                except json.JSONDecodeError as error:
                    bad(where, f"it is no whole JSON: {error.msg}")
                except (RecursionError, ValueError) as error:
                    bad(where, f"it cannot be read: {error}")
    except OSError as error:
        bad(path.name, f"it cannot be read ({error.strerror or error})")


def no_number(name: str) -> NoReturn:
    """Refuse what JSON does not have and Python's reader takes; for its `parse_constant`."""
    raise ValueError(f"it holds {name}, which is no number")


def inside(folder: Path, name: object, where: str) -> Path:
    """Return the file that a path relative to `folder` names. BadEntry when it leads out of the folder, or is not there."""
    if not isinstance(name, str) or not name:
        bad(where, "it names no file")
    try:
        path = (folder / name).resolve()
        there = path.is_relative_to(folder.resolve()) and not Path(name).is_absolute()
    except (OSError, ValueError):  # a name with a zero in it, or one too long
        bad(where, f"{name[:80]!r} is no name of a file")
    if not there:
        bad(where, f"{name[:200]!r} leads out of the folder that is imported")
    if not path.is_file():
        bad(where, f"there is no file {name[:200]!r}")
    return path


def whole(value: object, what: str, where: str, least: int = 0) -> int:
    """Return a whole number, given as such or as 12.0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or value != value // 1
        or not least <= value < 2**31
    ):
        bad(where, f"{what} must be a whole number from {least}, and is {_shown(value)}")
    return int(value)


def text_of(value: object, what: str, where: str, most: int = MOST_LETTERS) -> str:
    """Return a text that is not empty, its white space folded to single spaces."""
    folded = " ".join(value.split()) if isinstance(value, str) else ""
    if not folded or len(folded) > most:
        bad(where, f"{what} must be a text of 1 to {most:,} letters, and is {_shown(value)}")
    return storable(folded)


def listed(value: object, what: str, where: str) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        bad(where, f"{what} must be a list, and is {_shown(value)}")
    return value


def mapped(value: object, what: str, where: str) -> dict[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        bad(where, f"{what} must be a JSON object, and is {_shown(value)}")
    return value


def decoded(rle: object, size: tuple[int, int], where: str) -> Mask:
    """Return a mask of COCO's run lengths, bool [height, width] of `size`; the size that they name is looked at before they are unpacked."""
    named = rle.get("size") if isinstance(rle, dict) else None
    if not isinstance(named, list) or [*named] != [*size]:
        bad(where, f"its mask must name the size [height, width] {[*size]} of its page, and names {_shown(named)}")
    try:
        return decode_rle(mapped(rle, "a mask", where))
    except ValueError as error:
        bad(where, str(error).rstrip("."))


def box_of(value: object, size: tuple[int, int], where: str) -> Box:
    """Return four numbers (x0, y0, x1, y1) as a box of whole pixels, cut to the page of `size` (width, height), never empty."""
    edges = listed(value, "a box", where)
    if len(edges) != 4 or not all(_finite(edge) for edge in edges):
        bad(where, f"a box must be four numbers, and is {_shown(value)}")
    x0, y0, x1, y1 = (round(float(edge)) for edge in edges)
    if x1 < x0 or y1 < y0:
        bad(where, f"the box {_shown(value)} ends before it begins")
    left, top = min(max(0, x0), size[0] - 1), min(max(0, y0), size[1] - 1)
    return left, top, max(left + 1, min(size[0], x1)), max(top + 1, min(size[1], y1))


def _finite(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
        and abs(value) < 2**31
    )


def _shown(value: object) -> str:
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
