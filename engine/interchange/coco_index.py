"""The entries of a COCO file by image, in a temporary SQLite file: they may exceed the memory."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.import_entries import MOST_QUESTIONS, check_list, check_object, text_of, whole
from engine.interchange.json_entries import ALONE, entries


def document_of(number: int, image: dict[str, Any]) -> str:
    """Return the name of the document that an image is a page of; `number`: its id."""
    return str(image.get("document_sha256") or f"image {number}")


def page_number(image: dict[str, Any], where: str) -> int:
    """Return the number of an image in its document, from 1.

    Raises:
        BadEntry: The image names something else.
    """
    return whole(image.get("page_number") or 1, '"page_number"', where, 1)


def reference(value: object) -> int:
    """Return the id that an entry names, given as 12 or as 12.0; -1 for anything else."""
    place = (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**31 and value == value // 1
    )
    return int(value) if place else -1  # type: ignore[call-overload]


ANNOTATION, NO_ANSWER = "annotation", "no_answer"


class CocoIndex:
    """The images, categories and licences of a COCO file, and what is said about each image.

    Attributes:
        questions: Names of the categories by their ids.
        licences: Names of the licences by their ids.
    """

    def __init__(self, file: Path, bad_entries: BadEntries) -> None:
        self._file = file.name
        self.questions: dict[int, str] = {}
        self.licences: dict[str, str] = {}
        self._categories = 0
        self._base = sqlite3.connect("")  # on disk, gone with the connection
        self._base.execute("CREATE TABLE image (id INTEGER PRIMARY KEY, document TEXT, page INTEGER, row TEXT)")
        self._base.execute("CREATE TABLE answer (kind TEXT, at INTEGER, image INTEGER, row TEXT)")
        self._base.execute("CREATE TABLE seen (annotation INTEGER PRIMARY KEY)")
        take = {
            "images": self._take_image,
            "categories": self._take_category,
            "annotations": self._take_annotation,
            "licenses": self._take_licence,
            "no_answer": self._take_unanswered,
        }
        named = set()
        for name, at, entry in entries(file):
            named.add(name)
            if at == ALONE and name in take and name != "licenses":
                check_list(entry, f'"{name}"', self._file)
            elif at != ALONE and name in take:
                with bad_entries.leave_out(f"{self._file}, {name}[{at}]"):
                    take[name](at, entry)
        for name in ("images", "categories", "annotations"):
            if name not in named:
                check_list(None, f'"{name}"', self._file)
        if self._categories > MOST_QUESTIONS:
            bad(self._file, f"it has {self._categories:,} categories; a project can have {MOST_QUESTIONS:,} questions")
        self._base.execute("CREATE INDEX by_image ON answer (image)")
        lost = "SELECT kind, at, image FROM answer WHERE image NOT IN (SELECT id FROM image) ORDER BY kind, at"
        for kind, at, image in self._base.execute(lost):
            where = f"{self._file}, {kind} {at}"
            with bad_entries.leave_out(where):
                bad(where, f"there is no image {image!r}")

    def images(self) -> int:
        """Return the number of images."""
        return int(self._base.execute("SELECT count(*) FROM image").fetchone()[0])

    def iter_images(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the images with their ids; the pages of a document follow each other."""
        for number, row in self._base.execute("SELECT id, row FROM image ORDER BY document, page, id"):
            yield number, json.loads(row)

    def about(self, image: int) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Yield the entries that name an image: the kind, the entry's id or place, and the entry."""
        chosen = "SELECT kind, at, row FROM answer WHERE image = ? ORDER BY rowid"
        for kind, at, row in self._base.execute(chosen, (image,)):
            yield kind, at, json.loads(row)

    def _take_image(self, at: int, entry: object) -> None:
        number, image = self._read_numbered("images", at, entry)
        document = document_of(number, image).encode("utf-8", "replace").decode()  # SQLite keeps no half of a character
        page = page_number(image, f"{self._file}, image {number}")
        try:
            self._base.execute("INSERT INTO image VALUES (?, ?, ?, ?)", (number, document, page, json.dumps(image)))
        except sqlite3.IntegrityError:
            bad(f"{self._file}, images[{at}]", f"its id {number} occurs twice")

    def _take_category(self, at: int, entry: object) -> None:
        self._categories += 1
        if self._categories > MOST_QUESTIONS:
            return  # the others are counted
        number, category = self._read_numbered("categories", at, entry)
        if number in self.questions:
            bad(f"{self._file}, categories[{at}]", f"its id {number} occurs twice")
        self.questions[number] = text_of(category.get("name"), "the name", f"{self._file}, category {number}")

    def _take_annotation(self, at: int, entry: object) -> None:
        number, annotation = self._read_numbered("annotations", at, entry)
        try:
            self._base.execute("INSERT INTO seen VALUES (?)", (number,))
        except sqlite3.IntegrityError:
            bad(f"{self._file}, annotations[{at}]", f"its id {number} occurs twice")
        self._about(ANNOTATION, number, annotation.get("image_id"), annotation)

    def _take_unanswered(self, at: int, entry: object) -> None:
        where = f"{self._file}, no_answer {at}"
        row = check_object(entry, "it", where)
        for image in check_list(row.get("image_ids"), '"image_ids"', where):
            self._about(NO_ANSWER, at, image, {"category_id": row.get("category_id")})

    def _take_licence(self, at: int, entry: object) -> None:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str) and at < MOST_QUESTIONS:
            self.licences[str(entry.get("id"))] = entry["name"]

    def _about(self, kind: str, at: int, image: object, row: dict[str, Any]) -> None:
        number = reference(image)
        if number < 0:
            bad(f"{self._file}, {kind} {at}", f"there is no image {image!r}")
        self._base.execute("INSERT INTO answer VALUES (?, ?, ?, ?)", (kind, at, number, json.dumps(row)))

    def _read_numbered(self, name: str, at: int, entry: object) -> tuple[int, dict[str, Any]]:
        where = f"{self._file}, {name}[{at}]"
        row = check_object(entry, "it", where)
        return whole(row.get("id"), '"id"', where), row
