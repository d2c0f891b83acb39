"""JSON in the manner of BoundingDocs, as it is exported: a document a line, its pages with their words, its questions with the boxes of their answers."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from engine.annotation.state import Box
from engine.interchange.incoming import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    bad,
    box_of,
    file_in,
    inside,
    json_lines,
    lines_in,
    listed,
    mapped,
    text_of,
    whole,
)
from model.masks import Mask, rasterise

DOCUMENTS_FILE = "documents.jsonl"


def open_set(path: Path) -> Set:
    """Open a folder with documents.jsonl, or such a file."""
    file = file_in(path, DOCUMENTS_FILE)

    def pages() -> Iterator[IncomingPage]:
        seen: set[str] = set()
        for where, stored in json_lines(file):
            document = mapped(stored, "it", where)
            name = text_of(document.get("doc_id"), '"doc_id"', where)
            if name in seen:
                bad(where, f"the document {name!r} came before")
            seen.add(name)
            yield from _pages(file.parent, document, name, where)

    return Set(pages, lines_in(file))


def _pages(folder: Path, document: dict[str, Any], name: str, where: str) -> Iterator[IncomingPage]:
    images = [mapped(one, "an image", where) for one in listed(document.get("doc_images"), '"doc_images"', where)]
    sizes = {}
    for one in images:
        number = whole(one.get("page"), '"page"', where, 1)
        if number in sizes:
            bad(where, f"page {number} came before")
        sizes[number] = whole(one.get("width"), '"width"', where, 1), whole(one.get("height"), '"height"', where, 1)
    answers: dict[int, list[IncomingAnswer]] = {number: [] for number in sizes}
    for key, stored in mapped(document.get("Q&A"), '"Q&A"', where).items():
        at = f"{where}, question {key}"
        asked = mapped(stored, "it", at)
        question = text_of(asked.get("question"), '"question"', at)
        given = listed(asked.get("answers"), '"answers"', at)
        for one in given:
            answer = mapped(one, "an answer", at)
            number = whole(answer.get("page"), '"page"', at, 1)
            if number not in sizes:
                bad(at, f"there is no page {number}")
            boxes = [_box(box, sizes[number], at) for box in listed(answer.get("location"), '"location"', at)]
            if not boxes:
                bad(at, "an answer has no place")
            answers[number].append(IncomingAnswer(question, at, mask=partial(_mask, boxes, sizes[number])))
        if not given:
            for number in sizes:
                answers[number].append(IncomingAnswer(question, at))
    for one in sorted(images, key=lambda row: int(row["page"])):
        number = int(one["page"])
        words = [mapped(word, "a word", where) for word in listed(one.get("words", []), '"words"', where)]
        yield IncomingPage(
            document=name,
            number=number,
            image=inside(folder, one.get("path"), where),
            width=sizes[number][0],
            height=sizes[number][1],
            where=where,
            name=str(document.get("name") or name),
            words=tuple(
                IncomingWord(
                    text_of(word.get("text"), "a word", where), _box(word.get("location"), sizes[number], where)
                )
                for word in words
            ),
            answers=tuple(answers[number]),
            licence=document.get("licence") if isinstance(document.get("licence"), str) else None,
        )


def _box(value: object, size: tuple[int, int], where: str) -> Box:
    """A box of [width, height, left, top] in thousandths of the page."""
    edges = listed(value, "a place", where)
    if len(edges) != 4 or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in edges):
        bad(where, f"a place must be four numbers, and is {value!r}")
    width, height, left, top = (float(one) / 1000 for one in edges)
    across, down = size
    return box_of([left * across, top * down, (left + width) * across, (top + height) * down], size, where)


def _mask(boxes: list[Box], size: tuple[int, int]) -> Mask:
    return rasterise(boxes, (size[1], size[0]))
