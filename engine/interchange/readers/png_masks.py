"""PNG masks, as they are exported: answers.jsonl names pages and masks."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from engine.interchange.incoming import (
    IncomingAnswer,
    IncomingPage,
    Set,
    file_in,
    inside,
    json_lines,
    listed,
    mapped,
    text_of,
    whole,
)
from engine.interchange.pictures import checked, size_of
from engine.statuses import AUTOMATIC
from model.masks import Mask

INDEX_FILE = "answers.jsonl"


def open_set(path: Path) -> Set:
    """Open a folder with answers.jsonl. What a document does not answer comes in where another answer brings its pages."""
    file = file_in(path, INDEX_FILE)
    answers: dict[tuple[str, int], list[IncomingAnswer]] = {}
    images: dict[tuple[str, int], tuple[Path, str, str, str | None]] = {}
    unanswered: dict[str, list[IncomingAnswer]] = {}
    for where, stored in json_lines(file):
        row = mapped(stored, "it", where)
        document = text_of(row.get("document_sha256"), '"document_sha256"', where)
        question = text_of(row.get("question"), '"question"', where)
        masks = listed(row.get("masks"), '"masks"', where)
        if not masks:
            unanswered.setdefault(document, []).append(IncomingAnswer(question, where))
        for one in masks:
            entry = mapped(one, "a mask", where)
            key = document, whole(entry.get("page"), '"page"', where, 1)
            image = inside(file.parent, entry.get("image"), where)
            licence = row.get("image_licence")
            images[key] = (
                image,
                where,
                str(row.get("document") or image.name),
                licence if isinstance(licence, str) else None,
            )
            mask = inside(file.parent, entry.get("mask"), where)
            automatic = row.get("status") == AUTOMATIC
            answers.setdefault(key, []).append(
                IncomingAnswer(question, where, mask=partial(_mask, mask, image, where), automatic=automatic)
            )

    def pages() -> Iterator[IncomingPage]:
        for key in sorted(images):
            image, where, name, licence = images[key]
            width, height = size_of(image, where)
            given = (*answers[key], *unanswered.get(key[0], ()))
            yield IncomingPage(key[0], key[1], image, width, height, where, name, answers=given, licence=licence)

    lost = sum(len(given) for document, given in unanswered.items() if all(key[0] != document for key in images))
    return Set(pages, len(images), {"no_answer": lost} if lost else {})


def _mask(path: Path, image: Path, where: str) -> Mask:
    checked(path, size_of(image, where), where)
    with Image.open(path) as opened:
        return np.asarray(opened.convert("L")) > 127
