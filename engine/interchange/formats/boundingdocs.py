"""JSON in the manner of BoundingDocs (Giovannini et al. 2025, arXiv:2501.03403): a document a line, its questions, and for each
answer its text and the boxes of its words.

A box is [width, height, left, top] in thousandths of the page, as there; with decimals here, so that it is the same pixel again.
"""

import json
from typing import Any

import numpy as np

from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.destination import Destination
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, SPLITS, Marked, Release, image_name, licence_of
from model.masks import iou, rasterise

DOCUMENTS_FILE = "documents.jsonl"
_DECIMALS = 3  # of a thousandth: finer than a pixel on any page


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write documents.jsonl and images/. An answer that no words make is one box around its pixels, and its text is empty."""
    counts = {"documents": 0, "pages": 0, "answers": 0, "no_answer": 0}
    likeness = Likeness()
    with to.text(DOCUMENTS_FILE) as lines:
        for document, items in release.documents():
            counts["documents"] += 1
            questions = {}
            for item in items:
                answers = [_answer(marked, likeness) for marked in release.marked(item)]
                counts["answers" if answers else "no_answer"] += 1
                questions[item.annotation_id] = {
                    "question": item.question,
                    "answers": answers,
                    "rephrased_question": item.question,
                }
                tick()
            pages = _pages(document, items)
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


def _pages(document: FrozenDocument, items: list[FrozenItem]) -> list[FrozenPage]:
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
    likeness.add(iou(rasterise(boxes, marked.mask.shape), marked.mask))
    return {
        "value": marked.text,
        "location": [_location(box, marked.page) for box in boxes],
        "page": marked.page.number,
    }


def _location(box: tuple[int, int, int, int], page: FrozenPage) -> list[float]:
    x0, y0, x1, y1 = np.asarray(box, float) * 1000
    values = ((x1 - x0) / page.width, (y1 - y0) / page.height, x0 / page.width, y0 / page.height)
    return [round(float(value), _DECIMALS) for value in values]
