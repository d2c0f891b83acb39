"""Grounded JSONL (engine.grounded): pages with words, and questions with their words or pixels.

`glossator evaluate` and `glossator simulate` read this format. An import returns what was exported, to the pixel.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.datasets.manifest import FrozenDocument, FrozenItem
from engine.grounded import (
    PAGES_FILE,
    GroundedFormatError,
    GroundedPage,
    GroundedQuestion,
    GroundedWord,
    automatic_questions,
    page_from_json,
    page_to_json,
)
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.import_entries import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    box_of,
    check_object,
    decode_mask,
    file_in,
    inside,
    json_lines,
    lines_in,
    text_of,
    whole,
)
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, Release, image_name, licence_of
from engine.interchange.snapshot_figures import SPLITS


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write pages.jsonl and images/.

    A question stands on the pages that are marked. Where the document does not answer it, it stands on every page.
    The other pages of an answered document do not carry the question: people mark one place and rarely look for a
    second.
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
            **({"instead_of": [asdict(answer) for answer in item.instead_of]} if item.instead_of else {}),
        }
        for marked in release.marked_values(item):
            place = {word.number: at for at, word in enumerate(release.words(marked.page))}
            by_words = marked.by_words
            asked.setdefault(marked.page.id, []).append(
                {
                    "question_id": f"{item.question_id}-v{marked.value}" if marked.value else item.question_id,
                    "question": item.question,
                    "answers": [[place[word.number] for word in marked.words]] if by_words else [],
                    "masks": [] if by_words else [marked.rle],
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
                        GroundedQuestion(
                            question["question_id"], question["question"], question["answers"], masks=question["masks"]
                        )
                        for question in asked[page.id]
                    ],
                )
            ),
            "answered": [question["about"] for question in asked[page.id]],
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


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open a pages.jsonl, or the folder that holds one.

    Several acceptable answers to a question are its values.

    Raises:
        BadEntry: There is no such file.
    """
    file = file_in(path, PAGES_FILE)

    def pages() -> Iterator[IncomingPage]:
        seen: set[str] = set()
        for where, stored in json_lines(file, bad_entries):
            page = None
            with bad_entries.leave_out(where, document=_document(stored)):
                page = _page(file.parent, stored, where)
                name = str(stored["page_id"])
                if name in seen:
                    page = None
                    bad(where, f"the page {name!r} occurs twice")
                seen.add(name)
            if page is not None:
                yield page

    return Set(pages, lines_in(file))


def _document(stored: dict[str, Any]) -> str:
    about = stored.get("document")
    return str((isinstance(about, dict) and about.get("sha256")) or stored.get("page_id"))


def _page(folder: Path, stored: Any, where: str) -> IncomingPage:
    try:
        page = page_from_json(stored)
    except GroundedFormatError as error:
        bad(where, str(error).rstrip("."))
    size = (page.width, page.height)
    about = check_object(stored.get("document", {}), '"document"', where)
    answers = []
    automatic = automatic_questions(stored)
    for place, question in enumerate(page.questions):
        at = f"{where}, question {question.question_id}"
        text = text_of(question.question, '"question"', at)
        value = _value_of(question.question_id, place, page)
        given: list[IncomingAnswer] = [
            IncomingAnswer(text, at, tuple(words), None, place in automatic, value) for words in question.answers
        ]
        given += [
            IncomingAnswer(
                text, at, (), partial(decode_mask, mask, (page.height, page.width), at), place in automatic, value
            )
            for mask in question.masks
        ]
        for number, answer in enumerate(given):
            answers.append(replace(answer, value=f"{value}/{number}") if number else answer)
        if not given:
            answers.append(IncomingAnswer(text, at, automatic=place in automatic))
    return IncomingPage(
        document=_document(stored),
        number=whole(about.get("page") or 1, '"page"', where, 1),
        image=inside(folder, page.image, where),
        width=page.width,
        height=page.height,
        where=where,
        name=str(about.get("name") or Path(str(page.image)).name),
        words=tuple(IncomingWord(word.text, box_of(list(word.box), size, where)) for word in page.words),
        answers=tuple(answers),
        licence=about.get("licence") if isinstance(about.get("licence"), str) else None,
    )


def _value_of(question_id: str, place: int, page: GroundedPage) -> str:
    """Return the name of the value that a question of a page marks.

    Values over several pages have one number. A page of another source may ask a question twice: each is a value.
    """
    number = _VALUE.search(question_id)
    if number is not None:
        return number.group()
    first = next(
        at for at, question in enumerate(page.questions) if question.question == page.questions[place].question
    )
    return "" if first == place else str(place)


_VALUE = re.compile(r"-v\d+$")
FORMATS = (Format("grounded", "Grounded JSONL, Glossator's own", write, open_set, files=(PAGES_FILE,)),)
