"""The pages, words and answers that a reader of a format yields, and checks of the entries of a file."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.set_files import SeveralMatch, find_file, near_name
from engine.run_lengths import decode_rle
from engine.text import storable
from model.boxes import Box
from model.masks import Mask

MOST_BYTES = 4_000_000_000  # of one file of text
MOST_QUESTIONS = 10_000  # of a set: a project's list of questions is read by people
MOST_LETTERS = 2_000  # of a question
MOST_POINTS = 100_000  # of a polygon: more would be filled for minutes
MOST_WORDS = 100_000  # of a page


@dataclass(frozen=True, slots=True)
class IncomingWord:
    """A word and its box in pixels of the page's image, x1 and y1 exclusive."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class IncomingAnswer:
    """Answer of a page to a question: words, pixels, or "not answered".

    Attributes:
        question: Text of the question.
        where: The file and entry that it comes from, for messages.
        words: Places of its words in the page's words.
        mask: Makes its pixels, bool [height, width] of the page; called only when they are needed.
        value: Name of the value that it marks, where the answer has several; answers of one question and name are one
            value, also over several pages.
        automatic: Whether a model answered without a person. Such an answer is left out, because imported answers count
            as a person's.
    """

    question: str
    where: str
    words: tuple[int, ...] = ()
    mask: Callable[[], Mask] | None = None
    automatic: bool = False
    value: str = ""

    @property
    def nothing(self) -> bool:
        """Whether it says that the document does not answer the question."""
        return not self.words and self.mask is None


@dataclass(frozen=True, slots=True)
class IncomingProposal:
    """Answer of a model to a question, which nobody has looked at.

    Attributes:
        question: Text of the question.
        where: The file and entry that it comes from, for messages.
        mask: Makes its pixels, bool [height, width] of the page.
        by_words: Whether the words that it covers are meant, rather than its pixels.
        model: Name of the model, with its version.
        confidence: As the model states it, 0..1.
    """

    question: str
    where: str
    mask: Callable[[], Mask]
    by_words: bool
    model: str
    confidence: float


@dataclass(frozen=True, slots=True)
class IncomingPage:
    """A page of a set. Pages of one document follow each other.

    Attributes:
        document: Name that the pages of one document share.
        number: Number of the page in its document, from 1.
        image: A PNG or JPEG of `width` x `height` pixels.
        width: Pixels of the image.
        height: Pixels of the image.
        where: The file and entry that it comes from, for messages.
        name: Name for people.
        words: Its words, in the order of the set; empty where the format has none.
        answers: Its answers.
        licence: Licence of the page; None where the set names none.
        proposals: Answers of models; of one model's to a question, the last counts.
        alternatives: Further answers that the set gives to the page's questions. They are left out: a question has one
            answer.
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
    proposals: tuple[IncomingProposal, ...] = ()
    alternatives: int = 0


@dataclass(frozen=True, slots=True)
class Set:
    """An opened set.

    Attributes:
        pages: Yields the pages; may be called several times.
        count: Rough number of pages, for progress.
        lost: Number of entries that cannot be imported, by name.
    """

    pages: Callable[[], Iterator[IncomingPage]]
    count: int
    lost: dict[str, int] = field(default_factory=dict)  # what the format says and cannot come in, by name


def file_in(path: Path, name: str) -> Path:
    """Return the file of that name in a folder, or the path itself when it is a file.

    Raises:
        BadEntry: There is no such file.
    """
    file = path / name if path.is_dir() else path
    if not file.is_file():
        bad(str(path), f"it holds no {name}")
    return file


def lines_in(file: Path) -> int:
    """Return the number of lines of a file, for progress."""
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def load_json(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        BadEntry: The file cannot be read, is no JSON, or holds NaN or infinity.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            bad(path.name, f"it is larger than {MOST_BYTES / 1e9:.0f} GB")
        return json.loads(path.read_text("utf-8-sig"), parse_constant=no_number)
    except OSError as error:
        bad(path.name, f"it cannot be read ({error.strerror or error})")
    except UnicodeDecodeError as error:
        bad(path.name, f"it is not UTF-8 ({error.reason} at byte {error.start})")
    except json.JSONDecodeError as error:
        bad(path.name, f"it is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    except RecursionError:
        bad(path.name, "its JSON is nested too deeply")
    except ValueError as error:
        bad(path.name, str(error))


def json_lines(path: Path, bad_entries: BadEntries) -> Iterator[tuple[str, Any]]:
    """Yield each line of a file of JSON lines: where it stands, and its content. Blank lines are skipped.

    Args:
        path: The file.
        bad_entries: Notes the lines that are no JSON.

    Raises:
        BadEntry: The file cannot be read.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                where = f"{path.name}, line {number}"
                if not line.strip():
                    continue
                row = None
                with bad_entries.leave_out(where):
                    row = _parse_line(line, number, where)
                if row is not None:
                    yield where, row
    except OSError as error:
        bad(path.name, f"it cannot be read ({error.strerror or error})")


def _parse_line(line: bytes, number: int, where: str) -> Any:
    try:
        row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"), parse_constant=no_number)
    except UnicodeDecodeError as error:
        bad(where, f"it is not UTF-8 ({error.reason})")
    except json.JSONDecodeError as error:
        bad(where, f"it is not valid JSON: {error.msg}")
    except (RecursionError, ValueError) as error:
        bad(where, f"it cannot be read: {error}")
    return check_object(row, "it", where)


def no_number(name: str) -> NoReturn:
    """Refuse NaN and infinity, which Python's JSON reader accepts; for its `parse_constant`."""
    raise ValueError(f"it contains {name}, which is not a number")


def inside(folder: Path, name: object, where: str) -> Path:
    """Return the file that a path relative to `folder` names, as `set_files.find_file` matches names.

    Raises:
        BadEntry: The path leads out of the folder, or names no file; the message names the nearest one.
    """
    if not isinstance(name, str) or not name:
        bad(where, "it names no file")
    try:
        path = _within(folder, name, where)
        match = path if path.is_file() else find_file(folder, name)
    except SeveralMatch as several:
        names = ", ".join(map(repr, several.names[:5]))
        bad(where, f"there is no file {name[:200]!r}; several are near to it: {names}")
    except (OSError, ValueError):  # a name with a zero in it, or one too long
        bad(where, f"{name[:80]!r} is not a file name")
    if match is None:
        near = near_name(folder, name)
        bad(where, f"there is no file {name[:200]!r}" + (f"; the nearest is {near!r}" if near else ""))
    return _within(folder, str(match.relative_to(folder)), where) if match != path else path


def _within(folder: Path, name: str, where: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or Path(name).is_absolute():
        bad(where, f"the path {name[:200]!r} points outside the imported folder")
    return path


def whole(value: object, what: str, where: str, least: int = 0) -> int:
    """Return a whole number from `least`, given as 12 or as 12.0.

    Raises:
        BadEntry: The value is anything else; the message calls it `what`.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or value != value // 1
        or not least <= value < 2**31
    ):
        bad(where, f"{what} must be a whole number from {least}, and is {_show_value(value)}")
    return int(value)


def text_of(value: object, what: str, where: str, most: int = MOST_LETTERS) -> str:
    """Return a text of 1 to `most` characters, its white space folded to single spaces.

    Raises:
        BadEntry: The value is anything else; the message calls it `what`.
    """
    folded = " ".join(value.split()) if isinstance(value, str) else ""
    if not folded or len(folded) > most:
        bad(where, f"{what} must be a text of 1 to {most:,} letters, and is {_show_value(value)}")
    return storable(folded)


def check_list(value: object, what: str, where: str) -> list[Any]:
    """Return the value when it is a list.

    Raises:
        BadEntry: It is anything else; the message calls it `what`.
    """
    if not isinstance(value, list):
        bad(where, f"{what} must be a list, and is {_show_value(value)}")
    return value


def check_object(value: object, what: str, where: str) -> dict[str, Any]:
    """Return the value when it is a JSON object.

    Raises:
        BadEntry: It is anything else; the message calls it `what`.
    """
    if not isinstance(value, dict):
        bad(where, f"{what} must be a JSON object, and is {_show_value(value)}")
    return value


def decode_mask(rle: object, size: tuple[int, int], where: str) -> Mask:
    """Return the mask of COCO's run lengths, bool [height, width].

    The size that the run lengths name is checked before they are unpacked.

    Args:
        rle: The run lengths, with "size" and "counts".
        size: Height and width of the page in pixels.
        where: The entry, for the message.

    Raises:
        BadEntry: The size is another, or the run lengths are damaged.
    """
    named = rle.get("size") if isinstance(rle, dict) else None
    if not isinstance(named, list) or [*named] != [*size]:
        bad(
            where, f"the size of its mask must be [height, width] {[*size]} as of its page, and is {_show_value(named)}"
        )
    try:
        return decode_rle(check_object(rle, "a mask", where))
    except ValueError as error:
        bad(where, str(error).rstrip("."))


def box_of(value: object, size: tuple[int, int], where: str) -> Box:
    """Return a box of whole pixels, cut to its page, never empty.

    A box of which no part is on the page is refused: it says that the set means another picture.

    Args:
        value: Four numbers (x0, y0, x1, y1), x1 and y1 exclusive.
        size: Width and height of the page in pixels.
        where: The entry, for the message.

    Raises:
        BadEntry: The value is anything else, the box ends before it begins, or it lies outside its page.
    """
    edges = check_list(value, "a box", where)
    if len(edges) != 4 or not all(_finite(edge) for edge in edges):
        bad(where, f"a box must be four numbers, and is {_show_value(value)}")
    x0, y0, x1, y1 = (round(float(edge)) for edge in edges)
    if x1 < x0 or y1 < y0:
        bad(where, f"the box {_show_value(value)} ends before it begins")
    if any(
        last < 0 or first > length or (last > first and (last == 0 or first == length))
        for first, last, length in ((x0, x1, size[0]), (y0, y1, size[1]))
    ):
        bad(where, f"the box {_show_value(value)} lies outside its page, of {size[0]} x {size[1]} pixels")
    left, top = min(max(0, x0), size[0] - 1), min(max(0, y0), size[1] - 1)
    return left, top, max(left + 1, min(size[0], x1)), max(top + 1, min(size[1], y1))


def check_any(mask: Mask, where: str) -> Mask:
    """Return the pixels that a shape covers.

    Raises:
        BadEntry: There are none on the page.
    """
    if not mask.any():
        bad(where, f"its shape lies outside its page, of {mask.shape[1]} x {mask.shape[0]} pixels")
    return mask


def _finite(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
        and abs(value) < 2**31
    )


def _show_value(value: object) -> str:
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
