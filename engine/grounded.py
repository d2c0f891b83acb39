"""The grounded format: pages with words, questions and the words (or regions) that answer them.

One page a line of `pages.jsonl`, UTF-8, images beside it in `images/`. Boxes are pixels of the page's image. A question
lists every acceptable answer: as indices of words, or as COCO run lengths at page size where no word makes the answer
(signatures, checkboxes). Neither answers nor masks means: this page does not answer the question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from PIL import Image

from db.statuses import AUTOMATIC
from model.boxes import Box
from model.kinds import KINDS, Kind

PAGES_FILE = "pages.jsonl"
IMAGES_FOLDER = "images"


class GroundedFormatError(ValueError):
    """A malformed line of a grounded file; the message names file and line."""


@dataclass(frozen=True, slots=True)
class GroundedWord:
    """A word and its box (x0, y0, x1, y1) in page pixels."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class GroundedQuestion:
    """A question with its acceptable answers.

    Attributes:
        question_id: id of the question.
        question: text of the question.
        answers: word indices, one list per acceptable answer.
        printed_key: whether the page has a printed key that matches the question.
        masks: further acceptable answers as COCO RLE at page size, {"size": [height, width], "counts": "..."}.
        region_type: content of the masks, as "signature".
        kind: kind of value that the question wants, as the type of a field tells it; None where it is not known.
    """

    question_id: str
    question: str
    answers: list[list[int]]
    printed_key: bool = False
    masks: list[dict[str, Any]] = field(default_factory=list)
    region_type: str | None = None
    kind: Kind | None = None

    @property
    def answerable(self) -> bool:
        """Whether the page answers the question."""
        return bool(self.answers or self.masks)


@dataclass(frozen=True, slots=True)
class GroundedPage:
    """A page. `image`: path relative to the folder of `pages.jsonl`, or None for a page with words only."""

    page_id: str
    image: str | None
    width: int
    height: int
    words: list[GroundedWord]
    questions: list[GroundedQuestion]


def read_pages(source: str | Path) -> Iterator[GroundedPage]:
    """Yield the pages of a grounded dataset in order.

    Blank lines are skipped. Unreviewed automatic answers ("answered" in an export) are left out: they must serve
    neither training nor evaluation.

    Args:
        source: folder with `pages.jsonl`, or that file.

    Raises:
        FileNotFoundError: there is no such file.
        GroundedFormatError: a line is malformed.
    """
    path = pages_file(source)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield _of_people(json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8")))
            except UnicodeDecodeError as error:
                raise GroundedFormatError(f"{path}, line {number}: not UTF-8 ({error.reason}).") from error
            except json.JSONDecodeError as error:
                raise GroundedFormatError(f"{path}, line {number}: not JSON ({error.msg}).") from error
            except GroundedFormatError as error:
                raise GroundedFormatError(f"{path}, line {number}: {error}") from error


def _of_people(stored: object) -> GroundedPage:
    page, automatic = page_from_json(stored), automatic_questions(stored)
    return replace(page, questions=[question for at, question in enumerate(page.questions) if at not in automatic])


def automatic_questions(stored: object) -> set[int]:
    """Return the indices of a page's questions with unreviewed automatic answers.

    Args:
        stored: JSON object of a line.
    """
    about = stored.get("answered") if isinstance(stored, dict) else None
    rows = about if isinstance(about, list) else []
    return {at for at, row in enumerate(rows) if isinstance(row, dict) and row.get("status") == AUTOMATIC}


def pages_file(source: str | Path) -> Path:
    """Return the path of `pages.jsonl`.

    Args:
        source: folder with that file, or the file.

    Raises:
        FileNotFoundError: there is no such file.
    """
    path = Path(source)
    if path.is_dir():
        path = path / PAGES_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist. Name a folder with {PAGES_FILE}, or that file.")
    return path


def write_pages(
    folder: str | Path,
    pages: Iterable[tuple[GroundedPage, Image.Image | bytes | None]],
) -> int:
    """Write `pages.jsonl` and the images into a folder; the file gets its name only when it is complete.

    Args:
        folder: folder, created if missing.
        pages: each page with its image: a Pillow image (stored as PNG), the bytes of a file, or None. The page's
            `image` is
            the path to store it under; None means `images/<page_id>.png`.

    Returns:
        Number of pages.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / (PAGES_FILE + ".part")
    count = 0
    with unfinished.open("w", encoding="utf-8") as lines:
        for page, image in pages:
            stored = page_to_json(page)
            if image is not None:
                name = page.image or f"{IMAGES_FOLDER}/{page.page_id}.png"
                target = _inside(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(image, bytes):
                    target.write_bytes(image)
                else:
                    image.save(target)
                stored["image"] = name
            lines.write(json.dumps(stored, ensure_ascii=False) + "\n")
            count += 1
    unfinished.replace(folder / PAGES_FILE)
    return count


def _inside(folder: Path, name: str) -> Path:
    target = folder / name
    if not target.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"The image path {name!r} leaves the folder {folder}. Use a path inside it.")
    return target


def page_to_json(page: GroundedPage) -> dict[str, Any]:
    """Return a page as the JSON object of one line."""
    return {
        "page_id": page.page_id,
        "image": page.image,
        "width": page.width,
        "height": page.height,
        "words": [{"text": word.text, "box": list(word.box)} for word in page.words],
        "questions": [_question_to_json(question) for question in page.questions],
    }


def _question_to_json(question: GroundedQuestion) -> dict[str, Any]:
    stored: dict[str, Any] = {
        "question_id": question.question_id,
        "question": question.question,
        "answers": question.answers,
        "printed_key": question.printed_key,
    }
    if question.masks:
        stored["masks"] = question.masks
    if question.region_type is not None:
        stored["region_type"] = question.region_type
    if question.kind is not None:
        stored["kind"] = question.kind.value
    return stored


def page_from_json(stored: object) -> GroundedPage:
    """Return the page of a JSON object.

    Args:
        stored: JSON object of one line.

    Raises:
        GroundedFormatError: the object is malformed.
    """
    page = _object(stored, "the page")
    page_id = page.get("page_id")
    if not isinstance(page_id, str) or not page_id:
        raise GroundedFormatError('"page_id" must be a text that is not empty.')
    image = page.get("image")
    if image is not None and not isinstance(image, str):
        raise GroundedFormatError(f'page {page_id}: "image" must be a path or null.')
    width, height = (_size(page.get(side), side, page_id) for side in ("width", "height"))
    words = [
        _word(word, f"page {page_id}, word {at}")
        for at, word in enumerate(_list(page.get("words"), f'page {page_id}: "words"'))
    ]
    questions = [
        _question(question, f"page {page_id}, question {at}", len(words), (height, width))
        for at, question in enumerate(_list(page.get("questions", []), f'page {page_id}: "questions"'))
    ]
    return GroundedPage(page_id, image, width, height, words, questions)


def _word(stored: object, where: str) -> GroundedWord:
    word = _object(stored, where)
    text, box = word.get("text"), word.get("box")
    if not isinstance(text, str):
        raise GroundedFormatError(f'{where}: "text" must be a text.')
    if not isinstance(box, list) or len(box) != 4 or not all(_is_number(edge) for edge in box):
        raise GroundedFormatError(f'{where}: "box" must be four numbers [x0, y0, x1, y1].')
    x0, y0, x1, y1 = (round(edge) for edge in box)
    if x1 < x0 or y1 < y0:
        raise GroundedFormatError(f'{where}: "box" {box} ends before it begins.')
    return GroundedWord(text, (x0, y0, x1, y1))


def _question(stored: object, where: str, words: int, size: tuple[int, int]) -> GroundedQuestion:
    question = _object(stored, where)
    question_id, text = question.get("question_id"), question.get("question")
    if not isinstance(question_id, str):
        raise GroundedFormatError(f'{where}: "question_id" must be a text.')
    if not isinstance(text, str) or not text.strip():
        raise GroundedFormatError(f'{where}: "question" must be a text that is not empty.')
    answers = [
        _answer(answer, f"{where}, answer {at}", words)
        for at, answer in enumerate(_list(question.get("answers"), f'{where}: "answers"'))
    ]
    masks = [_mask(mask, where, size) for mask in _list(question.get("masks", []), f'{where}: "masks"')]
    printed_key = question.get("printed_key", False)
    if not isinstance(printed_key, bool):
        raise GroundedFormatError(f'{where}: "printed_key" must be true or false.')
    region_type = question.get("region_type")
    if region_type is not None and not isinstance(region_type, str):
        raise GroundedFormatError(f'{where}: "region_type" must be a text.')
    kind = question.get("kind")
    if kind is not None and kind not in KINDS:
        raise GroundedFormatError(f'{where}: "kind" must be one of {", ".join(KINDS)}.')
    return GroundedQuestion(
        question_id, text, answers, printed_key, masks, region_type, None if kind is None else Kind(kind)
    )


def _answer(stored: object, where: str, words: int) -> list[int]:
    answer = _list(stored, where)
    for index in answer:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < words:
            raise GroundedFormatError(f"{where}: {index!r} is not the index of one of the page's {words} words.")
    if not answer:
        raise GroundedFormatError(f'{where} is empty: a question that the page does not answer has "answers": [].')
    return cast(list[int], answer)


def _mask(stored: object, where: str, size: tuple[int, int]) -> dict[str, Any]:
    mask = _object(stored, f"{where}, mask")
    if mask.get("size") != list(size):
        raise GroundedFormatError(f'{where}, mask: "size" must be the page\'s [height, width] {list(size)}.')
    if not isinstance(mask.get("counts"), str | list):
        raise GroundedFormatError(f'{where}, mask: "counts" must be COCO run lengths.')
    return mask


def _size(value: object, side: str, page_id: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise GroundedFormatError(f'page {page_id}: "{side}" must be a whole number of pixels above 0.')
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise GroundedFormatError(f"{what} must be a JSON object.")
    return cast(dict[str, Any], value)


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise GroundedFormatError(f"{what} must be a list.")
    return value
