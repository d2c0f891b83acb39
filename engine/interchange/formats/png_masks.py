"""PNG masks: one 1-bit image for each answer on each page, and a line of JSON for each answer."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from db.statuses import AUTOMATIC
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.import_entries import (
    IncomingAnswer,
    IncomingPage,
    Set,
    check_list,
    check_object,
    file_in,
    inside,
    json_lines,
    text_of,
    whole,
)
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.pictures import head_of, size_of
from engine.interchange.release import IMAGES_FOLDER, Release, attributes_of, image_name
from engine.interchange.snapshot_figures import SPLITS
from model.masks import Mask

MASKS_FOLDER, INDEX_FILE = "masks", "answers.jsonl"


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write images/, masks/ and answers.jsonl.

    A line holds an answer with its masks page by page; it has none where the document does not answer. A mask has the
    size of its page, is 1 (white) where the answer is, and is named after the page and the answer.
    """
    counts = {"documents": 0, "masks": 0, "answers": 0, "no_answer": 0}
    with to.text(INDEX_FILE) as index:
        for document, items in release.documents():
            counts["documents"] += 1
            for item in items:
                masks = []
                for marked in release.marked_values(item):
                    image = image_name(document, marked.page)
                    to.blob(f"{IMAGES_FOLDER}/{image}", marked.page.image_sha256)
                    path = f"{MASKS_FOLDER}/{image.rsplit('.', 1)[0]}-{marked.key}.png"
                    with to.file(path) as target:
                        Image.fromarray(marked.mask).save(target, format="PNG", optimize=False)
                    masks.append(
                        {
                            "image": f"{IMAGES_FOLDER}/{image}",
                            "mask": path,
                            "page": marked.page.number,
                            "text": marked.text,
                            **({"value": marked.value} if marked.value else {}),
                        }
                    )
                if not masks:
                    for page in document.pages:
                        to.blob(f"{IMAGES_FOLDER}/{image_name(document, page)}", page.image_sha256)
                counts["masks"] += len(masks)
                counts["answers" if masks else "no_answer"] += 1
                row = {
                    "document": document.name,
                    "question": item.question,
                    "no_answer": not masks,
                    "masks": masks,
                    **attributes_of(item),
                    "split": SPLITS[document.split],
                }
                index.write(json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n")
                tick()
    return Outcome(counts)


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open an answers.jsonl, or the folder that holds one.

    A question that a document does not answer comes in only where another answer brings the document's pages. Other
    such questions are counted as lost.

    Raises:
        BadEntry: There is no such file, or a line is wrong.
    """
    file = file_in(path, INDEX_FILE)
    answers: dict[tuple[str, int], list[IncomingAnswer]] = {}
    images: dict[tuple[str, int], tuple[Path, str, str, str | None]] = {}
    unanswered: dict[str, list[IncomingAnswer]] = {}
    for where, row in json_lines(file, bad_entries):
        named, question = row.get("document_sha256"), row.get("question")
        with bad_entries.leave_out(where, document=str(named), question=str(question)):
            document = text_of(named, '"document_sha256"', where)
            question = text_of(question, '"question"', where)
            read = list(_masks(file.parent, row, document, where))
            if not read:
                unanswered.setdefault(document, []).append(IncomingAnswer(question, where))
            licence = row.get("image_licence")
            for key, image, mask, value in read:
                name = str(row.get("document") or image.name)
                images[key] = (image, where, name, licence if isinstance(licence, str) else None)
                automatic = row.get("status") == AUTOMATIC
                answers.setdefault(key, []).append(
                    IncomingAnswer(
                        question, where, mask=partial(_mask, mask, image, where), automatic=automatic, value=value
                    )
                )

    def pages() -> Iterator[IncomingPage]:
        for key in sorted(images):
            image, where, name, licence = images[key]
            size = None
            with bad_entries.leave_out(where, document=key[0]):
                size = size_of(image, where)
            if size is not None:
                group = (*answers[key], *unanswered.get(key[0], ()))
                yield IncomingPage(key[0], key[1], image, *size, where, name, answers=group, licence=licence)

    lost = sum(len(given) for document, given in unanswered.items() if all(key[0] != document for key in images))
    return Set(pages, len(images), {"no_answer": lost} if lost else {})


def _masks(
    folder: Path, row: dict[str, Any], document: str, where: str
) -> Iterator[tuple[tuple[str, int], Path, Path, str]]:
    """Yield the document and page of each mask of a line, its image, the mask itself, and the name of its value."""
    for one in check_list(row.get("masks"), '"masks"', where):
        entry = check_object(one, "a mask", where)
        key = document, whole(entry.get("page"), '"page"', where, 1)
        value = str(entry.get("value") or "")
        yield key, inside(folder, entry.get("image"), where), inside(folder, entry.get("mask"), where), value


def _mask(path: Path, image: Path, where: str) -> Mask:
    if size_of(path, where) not in (size_of(image, where), head_of(image, where).stored):
        width, height = size_of(image, where)
        bad(where, f"its mask {path.name} has another size than its image, of {width} x {height} pixels")
    with Image.open(path) as opened:
        return np.asarray(opened.convert("L")) > 127


FORMATS = (Format("png", "PNG masks", write, open_set, words=False, files=(INDEX_FILE,)),)
