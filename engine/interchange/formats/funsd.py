"""FUNSD JSON: one file a page, with entities, their words, and links from questions to answers.

Jaume et al. 2019, arXiv:1905.13538.
Export: the entity of a question carries the text that was asked, and an empty box, because the text need not stand on
the page. All words outside answers are entities of the label "other", one a line.
Import: a "question" entity linked to an "answer" entity, by either of them, becomes "What is the ...?". A text that
ends with a question mark is asked unchanged. Where a page asks the same question twice, its first answer comes in.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from engine.datasets.manifest import FrozenPage, FrozenWord
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
    inside,
    load_json,
    whole,
)
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.pictures import head_of, refuse_turned
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, image_name
from engine.interchange.set_files import SeveralMatch, find_file, iter_files
from engine.interchange.snapshot_figures import SPLITS
from model.masks import iou, rasterise
from model.printed_text import printed_text

ANNOTATIONS_FOLDER = "annotations"


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write SPLIT/annotations/ and SPLIT/images/.

    An answer that is not made of words is an entity without words, with a box around its pixels.
    """
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
    for answer in answers:
        number = len(form)
        link = [[number, number + 1]]
        form.append(_entity(number, "question", answer.item.question, [], [0, 0, 0, 0], link))
        form.append(_entity(number + 1, "answer", answer.text, answer.words, list(answer.box), link))
        boxes = [word.box for word in answer.words] or [answer.box]
        likeness.add(iou(*answer.beside(boxes)))
    named = {word.number for answer in answers for word in answer.words}
    others = [word for word in release.words(page) if word.number not in named]
    for _, line in groupby(others, key=lambda word: word.line):
        words = tuple(line)
        text = printed_text(words)
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


_SUFFIXES = (".png", ".jpg", ".jpeg")


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open a folder that holds annotations/ and images/, itself or in the folders of its splits.

    Raises:
        BadEntry: There are no files in annotations/.
    """
    files = sorted(file for file in iter_files(path, ".json") if file.parent.name == ANNOTATIONS_FOLDER)
    if not files:
        bad(str(path), "it holds no annotations/*.json")

    def pages() -> Iterator[IncomingPage]:
        for file in files:
            page = None
            with bad_entries.leave_out(str(file.relative_to(path))):
                page = _page(path, file, bad_entries)
            if page is not None:
                yield page

    return Set(pages, len(files))


def _page(folder: Path, file: Path, bad_entries: BadEntries) -> IncomingPage:
    name = str(file.relative_to(folder))
    form = check_list(check_object(load_json(file), "what it holds", name).get("form"), '"form"', name)
    images = file.parent.parent / "images"
    image = inside(images, _image_name(images, file.stem), name)
    head = head_of(image, name)
    if head.orientation != 1:  # a FUNSD file states no size
        refuse_turned(image, head.orientation, name)
    size = head.stored
    words: list[IncomingWord] = []
    entities: dict[int, tuple[dict[str, Any], tuple[int, ...]]] = {}
    for at, stored in enumerate(form):
        where = f"{name}, entity {at}"
        entity = check_object(stored, "it", where)
        number = whole(entity.get("id"), '"id"', where)
        if number in entities:
            bad(where, f"its id {number} occurs twice")
        first = len(words)
        for one in check_list(entity.get("words"), '"words"', where):
            word = check_object(one, "a word", where)
            text = word.get("text")
            if not isinstance(text, str):
                bad(where, f"the text of a word must be a text, and is {text!r}")
            if text.strip():
                words.append(IncomingWord(text.strip(), box_of(word.get("box"), size, where)))
        entities[number] = entity, tuple(range(first, len(words)))
    answers: list[IncomingAnswer] = []
    places: dict[str, list[list[int]]] = {}  # by question: its different values, as the entities of each
    links: dict[int, list[int]] = {}  # by question; a link counts on whichever side it is written
    for number, (entity, _) in entities.items():
        where = f"{name}, entity {number}"
        with bad_entries.leave_out(where):
            for question, answer in _find_links(entity, entities, where):
                linked = links.setdefault(question, [])
                if answer not in linked:
                    linked.append(answer)
    for number, (entity, _) in entities.items():
        where = f"{name}, entity {number}"
        linked = links.get(number, [])
        asked = _question_of(entity.get("text"))
        if linked and asked:
            given = places.setdefault(asked, [])
            if linked not in given:
                given.append(linked)
                with bad_entries.leave_out(where):
                    value = _answer(asked, [entities[one] for one in linked], size, where)
                    answers.append(replace(value, value=str(len(given))))
    return IncomingPage(
        document=f"{name} {image.name}",
        number=1,
        image=image,
        width=size[0],
        height=size[1],
        where=name,
        name=image.name,
        words=tuple(words),
        answers=tuple(answers),
    )


def _image_name(images: Path, stem: str) -> str:
    """Return the name of the page's image; the first that may be where there is none."""
    names = [f"{stem}{suffix}" for suffix in _SUFFIXES]
    with contextlib.suppress(SeveralMatch):
        return next((name for name in names if find_file(images, name) is not None), names[0])
    return names[0]


def _find_links(entity: dict[str, Any], entities: dict[int, Any], where: str) -> list[tuple[int, int]]:
    """Return the links from a question to an answer that an entity names, as the numbers of both."""
    links = []
    for pair in check_list(entity.get("linking", []), '"linking"', where):
        ends = check_list(pair, "a link", where)
        if len(ends) != 2 or any(end not in entities for end in ends):
            bad(where, f"the link {pair!r} does not name two entities")
        for question, answer in (ends, reversed(ends)):
            if (entities[question][0].get("label"), entities[answer][0].get("label")) == ("question", "answer"):
                links.append((int(question), int(answer)))
    return links


def _question_of(text: object) -> str | None:
    plain = " ".join(text.split()) if isinstance(text, str) else ""
    if plain.endswith("?"):
        return plain
    bare = plain.rstrip(":. ")
    return f"What is the {bare}?" if bare else None


def _answer(
    question: str, entities: list[tuple[dict[str, Any], tuple[int, ...]]], size: tuple[int, int], where: str
) -> IncomingAnswer:
    words = tuple(at for _, places in entities for at in places)
    if words:
        return IncomingAnswer(question, where, words)
    boxes = [box_of(entity.get("box"), size, where) for entity, _ in entities]
    return IncomingAnswer(question, where, mask=lambda: rasterise(boxes, (size[1], size[0])))


FORMATS = (
    Format(
        "funsd",
        "FUNSD JSON",
        write,
        open_set,
        lossy="Answers become the boxes of their words, or one box around the mask. Unanswered questions are left out.",
        marks_automatic=False,
    ),
)
