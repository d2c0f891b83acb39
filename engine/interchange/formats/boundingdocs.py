"""BoundingDocs-like JSON: one document a line, with questions and located answers.

Giovannini et al. 2025, arXiv:2501.03403. As in the original, a box is [width, height, left, top] in thousandths of the
page. Decimals are kept, so that an import returns the same pixels.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.import_entries import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    box_of,
    check_list,
    check_object,
    file_in,
    inside,
    json_lines,
    lines_in,
    text_of,
    whole,
)
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, image_name, licence_of
from engine.interchange.snapshot_figures import SPLITS
from model.boxes import Box
from model.masks import Mask, iou, rasterise

DOCUMENTS_FILE = "documents.jsonl"
_DECIMALS = 3  # of a thousandth: finer than a pixel on any page


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write documents.jsonl and images/.

    An answer that is not made of words is one box around its pixels, with an empty text.
    """
    counts = {"documents": 0, "pages": 0, "answers": 0, "no_answer": 0}
    likeness = Likeness()
    with to.text(DOCUMENTS_FILE) as lines:
        for document, items in release.documents():
            counts["documents"] += 1
            questions = {}
            for item in items:
                answers = [_answer(marked, likeness) for marked in release.marked_values(item)]
                counts["answers" if answers else "no_answer"] += 1
                questions[item.annotation_id] = {
                    "question": item.question,
                    "answers": answers,
                    "rephrased_question": item.question,
                }
                tick()
            pages = _pages_written(document, items)
            for page in pages:
                to.blob(f"{IMAGES_FOLDER}/{image_name(document, page)}", page.image_sha256)
            counts["pages"] += len(pages)
            row = {
                "source": release.project,
                "doc_id": document.sha256,
                "name": document.name,
                "split": SPLITS[document.split],
                "licence": licence_of(document),
                "doc_images": [_image(release, document, page) for page in pages],
                "Q&A": questions,
            }
            lines.write(json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n")
    return Outcome(counts, likeness.figures())


def _pages_written(document: FrozenDocument, items: list[FrozenItem]) -> list[FrozenPage]:
    marked = {page for item in items for page in item.state.marked_pages()}
    return [page for page in document.pages if page.id in marked or any(item.state.no_answer for item in items)]


def _image(release: Release, document: FrozenDocument, page: FrozenPage) -> dict[str, Any]:
    return {
        "path": f"{IMAGES_FOLDER}/{image_name(document, page)}",
        "page": page.number,
        "width": page.width,
        "height": page.height,
        "words": [{"text": word.text, "location": _location(word.box, page)} for word in release.words(page)],
    }


def _answer(marked: Marked, likeness: Likeness) -> dict[str, Any]:
    boxes = [word.box for word in marked.words] or [marked.box]
    likeness.add(iou(*marked.beside(boxes)))
    return {
        "value": marked.text,
        "location": [_location(box, marked.page) for box in boxes],
        "page": marked.page.number,
        **({"number": marked.value} if marked.value else {}),
    }


def _location(box: tuple[int, int, int, int], page: FrozenPage) -> list[float]:
    x0, y0, x1, y1 = np.asarray(box, float) * 1000
    values = ((x1 - x0) / page.width, (y1 - y0) / page.height, x0 / page.width, y0 / page.height)
    return [round(float(value), _DECIMALS) for value in values]


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open a documents.jsonl, or the folder that holds one.

    Raises:
        BadEntry: There is no such file.
    """
    file = file_in(path, DOCUMENTS_FILE)

    def pages() -> Iterator[IncomingPage]:
        seen: set[str] = set()
        for where, stored in json_lines(file, bad_entries):
            read: list[IncomingPage] = []
            with bad_entries.leave_out(where):
                name = text_of(stored.get("doc_id"), '"doc_id"', where)
                if name in seen:
                    bad(where, f"the document {name!r} occurs twice")
                seen.add(name)
                read = list(_pages_read(file.parent, stored, name, where, bad_entries))
            yield from read

    return Set(pages, lines_in(file))


def _pages_read(
    folder: Path, document: dict[str, Any], name: str, where: str, bad_entries: BadEntries
) -> Iterator[IncomingPage]:
    images = [
        check_object(image, "an image", where)
        for image in check_list(document.get("doc_images"), '"doc_images"', where)
    ]
    sizes = {}
    for image in images:
        number = whole(image.get("page"), '"page"', where, 1)
        if number in sizes:
            bad(where, f"page {number} occurs twice")
        sizes[number] = whole(image.get("width"), '"width"', where, 1), whole(image.get("height"), '"height"', where, 1)
    answers: dict[int, list[IncomingAnswer]] = {number: [] for number in sizes}
    for key, stored in check_object(document.get("Q&A"), '"Q&A"', where).items():
        at = f"{where}, question {key}"
        read: list[tuple[int, IncomingAnswer]] = []
        with bad_entries.leave_out(at):
            read = list(_answers_read(check_object(stored, "it", at), sizes, at))
        for number, answer in read:
            answers[number].append(answer)
    for image in sorted(images, key=lambda row: int(row["page"])):
        number = int(image["page"])
        words = [check_object(word, "a word", where) for word in check_list(image.get("words", []), '"words"', where)]
        yield IncomingPage(
            document=name,
            number=number,
            image=inside(folder, image.get("path"), where),
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


def _answers_read(
    asked: dict[str, Any], sizes: dict[int, tuple[int, int]], at: str
) -> Iterator[tuple[int, IncomingAnswer]]:
    """Yield what a question has on each page, by the page's number."""
    question = text_of(asked.get("question"), '"question"', at)
    answers = check_list(asked.get("answers"), '"answers"', at)
    for one in answers:
        answer = check_object(one, "an answer", at)
        number = whole(answer.get("page"), '"page"', at, 1)
        if number not in sizes:
            bad(at, f"there is no page {number}")
        boxes = [_box(box, sizes[number], at) for box in check_list(answer.get("location"), '"location"', at)]
        if not boxes:
            bad(at, "an answer has no location")
        mask, value = partial(_mask, boxes, sizes[number]), str(answer.get("number") or "")
        yield number, IncomingAnswer(question, at, mask=mask, value=value)
    if not answers:
        for number in sizes:
            yield number, IncomingAnswer(question, at)


def _box(value: object, size: tuple[int, int], where: str) -> Box:
    """Return the box of [width, height, left, top] in thousandths of a page of `size` (width, height)."""
    edges = check_list(value, "a place", where)
    if len(edges) != 4 or not all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in edges):
        bad(where, f"a location must be four numbers, and is {value!r}")
    width, height, left, top = (float(edge) / 1000 for edge in edges)
    across, down = size
    return box_of([left * across, top * down, (left + width) * across, (top + height) * down], size, where)


def _mask(boxes: list[Box], size: tuple[int, int]) -> Mask:
    return rasterise(boxes, (size[1], size[0]))


FORMATS = (
    Format(
        "boundingdocs",
        "BoundingDocs-like JSON",
        write,
        open_set,
        lossy="Answers become the boxes of their words, or one box around the mask.",
        marks_automatic=False,
        files=(DOCUMENTS_FILE,),
    ),
)
