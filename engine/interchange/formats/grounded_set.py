"""Grounded JSONL: pages with their words, and each question with the words, or else the pixels, that answer it.

The format of this project's own sets (engine.grounded): `glossator evaluate` and `glossator simulate` read it, and an import gives back
what was exported, to the pixel.
"""

import json
from typing import Any

from engine.datasets.manifest import FrozenDocument, FrozenItem
from engine.grounded import PAGES_FILE, GroundedPage, GroundedQuestion, GroundedWord, page_to_json
from engine.interchange.destination import Destination
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, SPLITS, Release, image_name, licence_of
from engine.run_lengths import encode_rle


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write pages.jsonl and images/: the pages that carry an answer, and every page of a document that does not answer a question.

    A page that is not marked where another one is says nothing of that question: people mark one place and rarely look for a second.
    """
    counts = {"documents": 0, "pages": 0, "questions": 0, "no_answer": 0}
    with to.text(PAGES_FILE) as lines:
        for document, items in release.documents():
            counts["documents"] += 1
            for page in _pages(release, document, items):
                to.blob(page["image"], page.pop("image_sha256"))
                counts["pages"] += 1
                lines.write(json.dumps(page, ensure_ascii=False, allow_nan=False) + "\n")
            for item in items:
                counts["no_answer" if item.state.no_answer else "questions"] += 1
                tick()
    return Outcome(counts)


def _pages(release: Release, document: FrozenDocument, items: list[FrozenItem]) -> list[dict[str, Any]]:
    asked: dict[str, list[dict[str, Any]]] = {}
    for item in items:
        about = {
            "annotation_id": item.annotation_id,
            "status": item.status,
            "author": item.author,
            "source": item.source,
            "model_version": item.model_version,
            "weight": item.weight,
        }
        for marked in release.marked(item):
            place = {word.number: at for at, word in enumerate(release.words(marked.page))}
            by_words = marked.by_words
            asked.setdefault(marked.page.id, []).append(
                {
                    "question_id": item.question_id,
                    "question": item.question,
                    "answers": [[place[word.number] for word in marked.words]] if by_words else [],
                    "masks": [] if by_words else [encode_rle(marked.mask)],
                    "about": about,
                }
            )
        for page in document.pages if item.state.no_answer else ():
            asked.setdefault(page.id, []).append(
                {"question_id": item.question_id, "question": item.question, "answers": [], "masks": [], "about": about}
            )
    return [
        {
            **page_to_json(
                GroundedPage(
                    image_name(document, page).rsplit(".", 1)[0],
                    f"{IMAGES_FOLDER}/{image_name(document, page)}",
                    page.width,
                    page.height,
                    [GroundedWord(word.text, word.box) for word in release.words(page)],
                    [
                        GroundedQuestion(one["question_id"], one["question"], one["answers"], masks=one["masks"])
                        for one in asked[page.id]
                    ],
                )
            ),
            "answered": [one["about"] for one in asked[page.id]],
            "document": {
                "sha256": document.sha256,
                "name": document.name,
                "page": page.number,
                "split": SPLITS[document.split],
                "licence": licence_of(document),
            },
            "image_sha256": page.image_sha256,
        }
        for page in document.pages
        if page.id in asked
    ]
