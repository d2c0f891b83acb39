"""Manifest of a snapshot: its canonical form, and the reader.

A manifest is a head and its parts. Each is canonical JSON, stored as a blob named by its SHA-256. The head names the
parts, and the head's SHA-256 names the snapshot. A part holds the answers of some groups of documents, so a reader
holds a few hundred answers at a time. It names every revision with its state, and every page with blobs of its image
and words. Nothing depends on the clock.

Format 2 was one text with head and part together. Format 1 lacked weights, reliability of people, and the answers left
out: its answers weigh 1.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine.annotation.state import AnnotationState, Box
from engine.errors import NotFound, Refused
from engine.statuses import AUTOMATIC
from engine.workspace import Workspace

FORMAT = "glossator-snapshot/3"
_IN_ONE = ("glossator-snapshot/2", "glossator-snapshot/1")


@dataclass(frozen=True, slots=True)
class FrozenWord:
    """Frozen word; `number` is the one that states name, and a page's words are in reading order."""

    number: int
    text: str
    box: Box  # pixels of the rendered page, x1 and y1 exclusive
    line: int


@dataclass(frozen=True, slots=True)
class FrozenPage:
    """Frozen page; image and words are blobs."""

    id: str
    number: int
    width: int
    height: int
    image_sha256: str
    image_media_type: str
    words_sha256: str


@dataclass(frozen=True, slots=True)
class FrozenDocument:
    """Frozen document with the split of its group; "quarantined" when excluded."""

    id: str
    sha256: str
    name: str
    split: str
    licence: str | None
    source: str
    pages: tuple[FrozenPage, ...]


@dataclass(frozen=True, slots=True)
class FrozenItem:
    """Frozen answer: the revision, its state, its author, and its document.

    With status AUTOMATIC the author is the model: the ids are those of the automatic answer, and the weight is its
    confidence.
    """

    annotation_id: str
    revision_id: str
    revision: int
    status: str
    question_id: str
    question: str
    author: str
    source: str
    model_version: str | None  # SHA-256 of the checkpoint whose proposal was corrected, or that answered automatically
    document: FrozenDocument
    state: AnnotationState
    weight: float = 1.0  # weight in training, 0..1 (engine.datasets.weights)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Accepted answer that was left out, with the names of its failed checks (engine.datasets.quality)."""

    annotation_id: str
    revision_id: str
    document_id: str
    document: str
    question: str
    author: str
    reasons: tuple[str, ...]


def items_of(workspace: Workspace, sha256: str) -> Iterator[FrozenItem]:
    """Yield the answers of a manifest, document by document. Raises Refused for changed bytes."""
    for part in parts_of(workspace, sha256):
        documents = {row["id"]: _document(row) for row in part["documents"]}
        place = {document: at for at, document in enumerate(documents)}
        for row in sorted(part["items"], key=lambda one: (place[one["document_id"]], one["annotation_id"])):
            yield FrozenItem(
                annotation_id=row["annotation_id"],
                revision_id=row["revision_id"],
                revision=row["revision"],
                status=row["status"],
                question_id=row["question_id"],
                question=row["question"],
                author=row["author"],
                source=row["source"],
                model_version=row["model_version"],
                document=documents[row["document_id"]],
                state=AnnotationState.model_validate(row["state"]),
                weight=row.get("weight", 1.0),
            )


def left_out_of(workspace: Workspace, sha256: str) -> Iterator[LeftOut]:
    """Yield the answers that a manifest left out, group by group, by annotation."""
    for part in parts_of(workspace, sha256):
        for row in part.get("left_out", []):
            yield LeftOut(**{**row, "reasons": tuple(row["reasons"])})


def revisions_of(workspace: Workspace, sha256: str) -> Iterator[str]:
    """Yield the ids of all accepted revisions at the time of a manifest, chosen or not."""
    for part in parts_of(workspace, sha256):
        of_people = [row for row in part["items"] if row["status"] != AUTOMATIC]
        yield from (str(row["revision_id"]) for row in [*of_people, *part.get("left_out", [])])
        yield from part.get("passed_over", [])


def people_of(workspace: Workspace, sha256: str) -> dict[str, dict[str, Any]]:
    """Return the basis of weights by person: reliability, comparisons, gold_questions."""
    people: dict[str, dict[str, Any]] = read_head(workspace, sha256).get("people", {})
    return people


def parts_of(workspace: Workspace, sha256: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of a manifest as JSON; checks each one's SHA-256."""
    head = read_head(workspace, sha256)
    if head["format"] in _IN_ONE:
        yield head
        return
    for part in head["parts"]:
        yield json.loads(_whole(workspace, part))


def read_head(workspace: Workspace, sha256: str) -> dict[str, Any]:
    """Return the head of a manifest as JSON. Raises Refused for changed bytes or an unknown format."""
    head: dict[str, Any] = json.loads(_whole(workspace, sha256))
    if head.get("format") not in (FORMAT, *_IN_ONE):
        raise Refused(f"The snapshot {sha256[:12]} has a format that this version cannot read; update Glossator.")
    return head


def words_of(workspace: Workspace, page: FrozenPage) -> list[FrozenWord]:
    """Return the frozen words of a page in reading order."""
    rows = json.loads(_whole(workspace, page.words_sha256))
    return [FrozenWord(row["number"], row["text"], tuple(row["box"]), row["line"]) for row in rows]


def canonical(value: object) -> bytes:
    """Return canonical JSON, the same bytes for equal values: sorted keys, no spaces, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def _document(row: dict[str, Any]) -> FrozenDocument:
    return FrozenDocument(
        id=row["id"],
        sha256=row["sha256"],
        name=row["name"],
        split=row["split"],
        licence=row["licence"],
        source=row["source"],
        pages=tuple(FrozenPage(**page) for page in row["pages"]),
    )


def _whole(workspace: Workspace, sha256: str) -> bytes:
    try:
        content = workspace.blobs.read(sha256)
    except LookupError as error:
        raise NotFound(f"A part of the snapshot is missing; restore it from a backup: {error}") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Refused(f"The file {sha256[:12]} of a snapshot was changed on disk; restore it from a backup.")
    return content
