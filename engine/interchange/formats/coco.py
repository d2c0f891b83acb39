"""COCO: pages as images, questions as categories, accepted answers as annotations with compressed run lengths.

One annotation is one answer on one page, in however many detached parts. What COCO has no place for stands beside it: who
answered, by which model's proposal, in which split, and the questions that a document does not answer.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.destination import Destination
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, attributes_of, image_name, licence_of
from engine.run_lengths import encode_rle
from engine.version import code_version

ANNOTATIONS_FILE = "annotations.json"


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write annotations.json and images/. Lists are gathered in files, so that memory does not grow with them."""
    with _sheet(release, to) as sheet:
        for document, items in release.documents():
            sheet.documents += 1
            for item in items:
                _add(sheet, document, item)
                tick()
        counts = {
            "documents": sheet.documents,
            "images": sheet.images.count,
            "questions": len(sheet.categories),
            "annotations": sheet.annotations.count,
            "no_answer": sheet.no_answer.count,
        }
        with to.text(ANNOTATIONS_FILE) as file:
            sheet.write(file)
    return Outcome(counts)


class _Lines:
    """A JSON list that is gathered in a temporary file."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self.count = file, 0

    def add(self, row: dict[str, Any]) -> None:
        self._file.write(",\n" if self.count else "\n")
        self._file.write(_json(row))
        self.count += 1

    def copy_to(self, target: IO[str]) -> None:
        target.write("[")
        self._file.seek(0)
        shutil.copyfileobj(self._file, target)
        target.write("\n]")


class _Sheet:
    """The parts of a COCO file while they grow."""

    def __init__(self, release: Release, to: Destination, files: Sequence[IO[str]]) -> None:
        self.release, self.to = release, to
        self.images, self.annotations, self.no_answer = (_Lines(file) for file in files)
        self.categories = {text: number for number, text in enumerate(release.questions, 1)}
        self.licences = {name: number for number, name in enumerate(release.licences, 1)}
        self.documents = 0
        self._of_document: tuple[str, dict[str, int]] = ("", {})  # the numbers of one document's images, by page

    def image(self, document: FrozenDocument, page: FrozenPage) -> int:
        """The number of a page's image, entered at its first use."""
        if self._of_document[0] != document.id:
            self._of_document = (document.id, {})
        numbers = self._of_document[1]
        if page.id not in numbers:
            numbers[page.id] = self.images.count + 1
            name = f"{IMAGES_FOLDER}/{image_name(document, page)}"
            self.to.blob(name, page.image_sha256)
            self.images.add(
                {
                    "id": numbers[page.id],
                    "file_name": name,
                    "width": page.width,
                    "height": page.height,
                    "license": self.licences[licence_of(document)],
                    "document_sha256": document.sha256,
                    "document_name": document.name,
                    "page_number": page.number,
                    "split": document.split,
                }
            )
        return numbers[page.id]

    def write(self, file: IO[str]) -> None:
        release = self.release
        info = {
            "description": f"Answers of the project {release.project}, exported by Glossator.",
            "version": code_version(),
            "snapshot_sha256": release.snapshot.sha256,
        }
        licences = [{"id": number, "name": name, "url": ""} for name, number in self.licences.items()]
        categories = [
            {"id": number, "name": text, "supercategory": "question"} for text, number in self.categories.items()
        ]
        file.write(f'{{"info": {_json(info)},\n"licenses": {_json(licences)},\n"categories": {_json(categories)},\n')
        for name, rows in (("images", self.images), ("annotations", self.annotations), ("no_answer", self.no_answer)):
            file.write(f'"{name}": ')
            rows.copy_to(file)
            file.write("}\n" if rows is self.no_answer else ",\n")


@contextmanager
def _sheet(release: Release, to: Destination) -> Iterator[_Sheet]:
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(3)]
        yield _Sheet(release, to, files)


def _add(sheet: _Sheet, document: FrozenDocument, item: FrozenItem) -> None:
    attributes = attributes_of(item)
    category = sheet.categories[item.question]
    if item.state.no_answer:
        images = [sheet.image(document, page) for page in document.pages]
        sheet.no_answer.add({"image_ids": images, "category_id": category, "attributes": attributes})
        return
    for marked in sheet.release.marked(item):
        sheet.annotations.add(_annotation(sheet, marked, category, {"text": marked.text, **attributes}))


def _annotation(sheet: _Sheet, marked: Marked, category: int, attributes: dict[str, Any]) -> dict[str, Any]:
    x0, y0, x1, y1 = marked.box
    return {
        "id": sheet.annotations.count + 1,
        "image_id": sheet.image(marked.item.document, marked.page),
        "category_id": category,
        "segmentation": encode_rle(marked.mask),
        "area": int(np.count_nonzero(marked.mask)),
        "bbox": [x0, y0, x1 - x0, y1 - y0],
        "iscrowd": 0,
        "attributes": attributes,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
