"""FUNSD JSON (Jaume et al. 2019): a file a page, with the text as entities, their words, and links from questions to answers.

An answer is an entity of the label "answer", linked from an entity of the label "question" that carries what was asked; the question
stands nowhere on the page, so its box is empty. All other words are entities of the label "other", a line each.
"""

from itertools import groupby
from typing import Any

from engine.datasets.manifest import FrozenPage, FrozenWord
from engine.interchange.destination import Destination
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, SPLITS, Marked, Release, image_name
from model.masks import iou, rasterise

ANNOTATIONS_FOLDER = "annotations"


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write SPLIT/annotations/ and SPLIT/images/. An answer that no words make is an entity without words, whose box goes around its pixels."""
    counts = {"documents": 0, "pages": 0, "answers": 0, "no_answer": 0}
    likeness = Likeness()
    for document, items in release.documents():
        counts["documents"] += 1
        by_page, unanswered = release.by_page(items, tick)
        counts["answers"] += len(items) - len(unanswered)
        counts["no_answer"] += len(unanswered)
        for page in document.pages:
            if page.id in by_page:
                folder, image = SPLITS[document.split], image_name(document, page)
                to.blob(f"{folder}/{IMAGES_FOLDER}/{image}", page.image_sha256)
                form = _form(release, page, by_page[page.id], likeness)
                to.json(f"{folder}/{ANNOTATIONS_FOLDER}/{image.rsplit('.', 1)[0]}.json", {"form": form})
                counts["pages"] += 1
    return Outcome(counts, {**likeness.figures(), "no_answer_left_out": counts["no_answer"]})


def _form(release: Release, page: FrozenPage, answers: list[Marked], likeness: Likeness) -> list[dict[str, Any]]:
    form: list[dict[str, Any]] = []
    for one in answers:
        number = len(form)
        link = [[number, number + 1]]
        form.append(_entity(number, "question", one.item.question, [], [0, 0, 0, 0], link))
        form.append(_entity(number + 1, "answer", one.text, one.words, list(one.box), link))
        boxes = [word.box for word in one.words] or [one.box]
        likeness.add(iou(rasterise(boxes, one.mask.shape), one.mask))
    named = {word.number for one in answers for word in one.words}
    others = [word for word in release.words(page) if word.number not in named]
    for _, line in groupby(others, key=lambda word: word.line):
        words = tuple(line)
        text = " ".join(word.text for word in words)
        form.append(_entity(len(form), "other", text, words, _around(words), []))
    return form


def _entity(
    number: int,
    label: str,
    text: str,
    words: tuple[FrozenWord, ...] | list[FrozenWord],
    box: list[int],
    links: list[list[int]],
) -> dict[str, Any]:
    return {
        "id": number,
        "text": text,
        "box": box,
        "label": label,
        "words": [{"text": word.text, "box": list(word.box)} for word in words],
        "linking": links,
    }


def _around(words: tuple[FrozenWord, ...]) -> list[int]:
    boxes = [word.box for word in words]
    return [
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    ]
