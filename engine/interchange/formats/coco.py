"""COCO: pages are images, questions are categories, answers are annotations.

Format: cocodataset.org/#format-data.
Export: an annotation is one value of an answer on one page, as compressed run lengths. Further fields hold what COCO
lacks: the author, the proposing model, the split, and questions that a document does not answer.
Import: the category is the question, the segmentation is the answer. Annotations of one image and category are the
values of one answer; those that Glossator exported say which ones are one value over several pages.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from db.statuses import AUTOMATIC
from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.coco_index import ANNOTATION, CocoIndex, document_of, page_number, reference
from engine.interchange.destination import MANIFEST_FILE, Destination
from engine.interchange.format import Format
from engine.interchange.image_files import image_within
from engine.interchange.import_entries import (
    MOST_POINTS,
    IncomingAnswer,
    IncomingPage,
    Set,
    box_of,
    check_any,
    check_list,
    decode_mask,
    whole,
)
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.polygons import fill_inside
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, attributes_of, image_name, licence_of
from engine.interchange.set_files import is_left_behind
from engine.version import code_version
from model.boxes import Box
from model.masks import Mask, rasterise

ANNOTATIONS_FILE = "annotations.json"
NAMES = (ANNOTATIONS_FILE, "_annotations.coco.json", "instances.json")


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write annotations.json and images/.

    Lists are gathered in files, so that memory does not grow with them.
    """
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
        """Return the number of a page's image; its first use enters the image."""
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
    for marked in sheet.release.marked_values(item):
        about = {"text": marked.text, **attributes, **({"value": marked.value} if marked.value else {})}
        sheet.annotations.add(_annotation(sheet, marked, category, about))


def _annotation(sheet: _Sheet, marked: Marked, category: int, attributes: dict[str, Any]) -> dict[str, Any]:
    x0, y0, x1, y1 = marked.box
    return {
        "id": sheet.annotations.count + 1,
        "image_id": sheet.image(marked.item.document, marked.page),
        "category_id": category,
        "segmentation": marked.rle,
        "area": marked.area,
        "bbox": [x0, y0, x1 - x0, y1 - y0],
        "iscrowd": 0,
        "attributes": attributes,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open a COCO file, or the one in a folder. Images lie beside it, or in images/ beside it.

    Raises:
        BadEntry: There is no such file, or an entry is wrong.
    """
    file = path if path.is_file() else _find_file(path)
    index = CocoIndex(file, bad_entries)
    return Set(partial(_pages, file, index, bad_entries), index.images())


def _pages(file: Path, index: CocoIndex, bad_entries: BadEntries) -> Iterator[IncomingPage]:
    for number, image in index.iter_images():
        where, page = f"{file.name}, image {number}", None
        with bad_entries.leave_out(where, document=document_of(number, image)):
            width, height = (whole(image.get(side), f'"{side}"', where, 1) for side in ("width", "height"))
            page = IncomingPage(
                document=document_of(number, image),
                number=page_number(image, where),
                image=_image(file.parent, image.get("file_name"), where),
                width=width,
                height=height,
                where=where,
                name=str(image.get("document_name") or image.get("file_name")),
                answers=tuple(_answers(file, index, number, image, bad_entries)),
                licence=index.licences.get(str(image.get("license"))),
            )
        if page is not None:
            yield page


def _answers(
    file: Path, index: CocoIndex, number: int, image: dict[str, Any], bad_entries: BadEntries
) -> Iterator[IncomingAnswer]:
    for kind, at, annotation in index.about(number):
        where, answer = f"{file.name}, {kind} {at}", None
        with bad_entries.leave_out(where):
            question = index.questions.get(reference(annotation.get("category_id")))
            if question is None:
                bad(where, f"there is no category {annotation.get('category_id')!r}")
            answer = (
                _answer(annotation, image, question, where) if kind == ANNOTATION else IncomingAnswer(question, where)
            )
        if answer is not None:
            yield answer


def _find_file(folder: Path) -> Path:
    for name in NAMES:
        if (folder / name).is_file():
            return folder / name
    candidates = [
        file for file in folder.glob("*.json") if file.name != MANIFEST_FILE and not is_left_behind(file.name)
    ]
    if len(candidates) == 1:
        return candidates[0]
    return bad(str(folder), f"it contains none of the files {', '.join(NAMES)}, nor a single JSON file")


def _image(folder: Path, name: object, where: str) -> Path:
    return image_within(folder, [name, f"images/{name}"] if isinstance(name, str) and name else [name], where)


def _answer(one: dict[str, Any], image: dict[str, Any], question: str, where: str) -> IncomingAnswer:
    size = (
        whole(image.get("height"), '"height" of its image', where, 1),
        whole(image.get("width"), '"width" of its image', where, 1),
    )
    shape = one.get("segmentation")

    def mask() -> Mask:
        if isinstance(shape, dict):
            return decode_mask(shape, size, where)
        if shape:
            return check_any(fill_inside(_rings(shape, where), size), where)
        return rasterise([_box(one.get("bbox"), size, where)], size)

    stated = one.get("attributes")
    about = stated if isinstance(stated, dict) else {}
    # Elsewhere an annotation is an instance; of Glossator's own, several pages or none may make a value.
    value = str(about.get("value") or "") if "annotation_id" in about else where
    return IncomingAnswer(question, where, mask=mask, automatic=about.get("status") == AUTOMATIC, value=value)


def _rings(shape: object, where: str) -> list[list[tuple[float, float]]]:
    rings = []
    for ring in check_list(shape, '"segmentation"', where):
        points = check_list(ring, "a polygon", where)
        if len(points) > 2 * MOST_POINTS:
            bad(where, f"a polygon has {len(points) // 2:,} points; at most {MOST_POINTS:,} are allowed")
        if len(points) < 6 or len(points) % 2 or not all(_number(coordinate) for coordinate in points):
            bad(where, "a polygon must be x and y of three points or more")
        rings.append(list(zip(points[::2], points[1::2], strict=True)))
    return rings


def _box(value: object, size: tuple[int, int], where: str) -> Box:
    """Return the box of x, y, width and height; `size`: height and width of its page."""
    edges = check_list(value, 'without a segmentation, "bbox"', where)
    if len(edges) != 4 or not all(_number(edge) for edge in edges) or min(edges[2:]) < 0:
        bad(where, '"bbox" must be x, y, width and height')
    x, y, width, height = edges
    return box_of([x, y, x + width, y + height], size[::-1], where)


def _number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
        and abs(value) < 2**31
    )


FORMATS = (Format("coco", "COCO, masks as run lengths", write, open_set, words=False, files=NAMES),)
