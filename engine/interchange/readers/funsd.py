"""FUNSD JSON: an entity of the label "answer" that is linked from a "question" answers "What is the ...?"; a question that ends with a
question mark is asked as it stands.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.interchange.incoming import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    bad,
    box_of,
    inside,
    listed,
    load_json,
    mapped,
    whole,
)
from engine.interchange.pictures import size_of
from model.masks import rasterise

_SUFFIXES = (".png", ".jpg", ".jpeg")


def open_set(path: Path) -> Set:
    """Open a folder that holds annotations/ and images/, at its top or in its splits' folders."""
    files = sorted(file for file in path.rglob("*.json") if file.parent.name == "annotations")
    if not files:
        bad(str(path), "it holds no annotations/*.json")

    def pages() -> Iterator[IncomingPage]:
        for file in files:
            yield _page(path, file)

    return Set(pages, len(files))


def _page(folder: Path, file: Path) -> IncomingPage:
    name = str(file.relative_to(folder))
    form = listed(mapped(load_json(file), "what it holds", name).get("form"), '"form"', name)
    images = file.parent.parent / "images"
    there = [suffix for suffix in _SUFFIXES if (images / f"{file.stem}{suffix}").is_file()]
    image = inside(images, f"{file.stem}{there[0] if there else '.png'}", name)
    size = size_of(image, name)
    words: list[IncomingWord] = []
    entities: dict[int, tuple[dict[str, Any], tuple[int, ...]]] = {}
    for at, stored in enumerate(form):
        where = f"{name}, entity {at}"
        entity = mapped(stored, "it", where)
        number = whole(entity.get("id"), '"id"', where)
        if number in entities:
            bad(where, f"its id {number} was used before")
        first = len(words)
        for one in listed(entity.get("words"), '"words"', where):
            word = mapped(one, "a word", where)
            text = word.get("text")
            if not isinstance(text, str):
                bad(where, f"the text of a word must be a text, and is {text!r}")
            if text.strip():
                words.append(IncomingWord(text.strip(), box_of(word.get("box"), size, where)))
        entities[number] = entity, tuple(range(first, len(words)))
    answers: dict[str, IncomingAnswer] = {}
    for number, (entity, _) in entities.items():
        where = f"{name}, entity {number}"
        if entity.get("label") != "question":
            continue
        linked = _linked(entity, number, entities, where)
        asked = _asked(entity.get("text"))
        if linked and asked:
            answers.setdefault(asked, _answer(asked, [entities[one] for one in linked], size, where))
    return IncomingPage(
        document=f"{name} {image.name}",
        number=1,
        image=image,
        width=size[0],
        height=size[1],
        where=name,
        name=image.name,
        words=tuple(words),
        answers=tuple(answers.values()),
    )


def _linked(entity: dict[str, Any], number: int, entities: dict[int, Any], where: str) -> list[int]:
    found = []
    for pair in listed(entity.get("linking", []), '"linking"', where):
        ends = listed(pair, "a link", where)
        if len(ends) != 2 or any(one not in entities for one in ends):
            bad(where, f"the link {pair!r} names no two entities")
        if ends[0] == number and entities[ends[1]][0].get("label") == "answer":
            found.append(int(ends[1]))
    return found


def _asked(text: object) -> str | None:
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
