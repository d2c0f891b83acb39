"""Manifest of a snapshot: its canonical form, and the reader.

A manifest is a head and its parts. Each is canonical JSON, stored as a blob named by its SHA-256. The head names the
parts, and the head's SHA-256 names the snapshot. A part holds the answers of some groups of documents, so a reader
holds a few hundred answers at a time. It names every revision with its state, and every page with the blob of its image
and the file of its words (engine.datasets.frozen_words). The head names these files, those of the answers left out, and
what each person's answers weigh together. Nothing depends on the clock, on the database, or on how many answers were
read at a time. Where a part ends follows from the ids of the groups of documents: an answer more changes one part, and
the next snapshot stores only what is new.

Old formats are read for ever. In format 3 each page had a blob of its words, and parts held the answers left out and
ended after 500 answers; the same choice frozen anew has another SHA-256 in format 4. Format 2 was one text with head
and part together. Format 1 lacked weights, reliability of people, and the answers left out: its answers weigh 1.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from db.statuses import AUTOMATIC
from engine.annotation.state import AnnotationState
from engine.errors import NotFound, Refused
from engine.workspace import Workspace
from model.boxes import Box

FORMAT = "glossator-snapshot/4"
_IN_PARTS = "glossator-snapshot/3"
_IN_ONE = ("glossator-snapshot/2", "glossator-snapshot/1")


@dataclass(frozen=True, slots=True)
class FrozenWord:
    """Frozen word; `number` is the one that states name, and a page's words are in reading order."""

    number: int
    text: str
    box: Box  # pixels of the rendered page, x1 and y1 exclusive
    line: int
    confidence: float | None = None  # of reading, 0..1; None where no OCR read it


@dataclass(frozen=True, slots=True)
class FrozenPage:
    """Frozen page; its image is a blob, and its words stand in one (engine.datasets.frozen_words)."""

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
    instead_of: tuple["PassedOver", ...] = ()
    score: float | None = None  # predicted IoU of the proposal that was corrected or accepted, 0..1
    answered: float | None = None  # probability, by the model, that the document answers


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Accepted answer that contradicts the label and was passed over for it; `why`: reason of the choice."""

    annotation_id: str
    revision_id: str
    author: str
    why: str


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
    head = read_head(workspace, sha256)
    for part in _parts(workspace, head):
        documents = {row["id"]: _document(row, head.get("words", {})) for row in part["documents"]}
        place = {document: at for at, document in enumerate(documents)}
        for row in sorted(part["items"], key=lambda row: (place[row["document_id"]], row["annotation_id"])):
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
                instead_of=tuple(PassedOver(**answer) for answer in row.get("instead_of", ())),
                score=row.get("score"),
                answered=row.get("answered"),
            )


def left_out_of(workspace: Workspace, sha256: str) -> Iterator[LeftOut]:
    """Yield the answers that a manifest left out, group by group, by annotation."""
    for row in _left_out(workspace, read_head(workspace, sha256)):
        yield LeftOut(**{**row, "reasons": tuple(row["reasons"])})


def left_out_count(workspace: Workspace, sha256: str) -> int:
    """Return how many answers a manifest left out."""
    head = read_head(workspace, sha256)
    if head["format"] == FORMAT:
        return sum(file["answers"] for file in head["left_out"])
    return sum(1 for _ in _left_out(workspace, head))


def revisions_of(workspace: Workspace, sha256: str) -> Iterator[str]:
    """Yield the ids of all accepted revisions at the time of a manifest, chosen or not."""
    head = read_head(workspace, sha256)
    for part in _parts(workspace, head):
        yield from (str(row["revision_id"]) for row in part["items"] if row["status"] != AUTOMATIC)
        yield from part.get("passed_over", [])
    yield from (str(row["revision_id"]) for row in _left_out(workspace, head))


def people_of(workspace: Workspace, sha256: str) -> dict[str, dict[str, Any]]:
    """Return the basis of weights by person: reliability, comparisons, gold_questions."""
    people: dict[str, dict[str, Any]] = read_head(workspace, sha256).get("people", {})
    return people


def weights_of(workspace: Workspace, sha256: str) -> dict[str, tuple[int, float]]:
    """Return by person how many answers a manifest took, and the sum of their weights."""
    head = read_head(workspace, sha256)
    if head["format"] == FORMAT:
        return {name: (row["answers"], row["weights"]) for name, row in head["authors"].items()}
    weights_by_author: dict[str, tuple[int, float]] = {}
    for part in _parts(workspace, head):
        for row in part["items"]:
            if row["status"] != AUTOMATIC:
                answers, weights = weights_by_author.get(row["author"], (0, 0.0))
                weights_by_author[row["author"]] = answers + 1, weights + row.get("weight", 1.0)
    return weights_by_author


def parts_of(workspace: Workspace, sha256: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of a manifest as JSON; checks each one's SHA-256."""
    yield from _parts(workspace, read_head(workspace, sha256))


def files_naming_people(workspace: Workspace, sha256: str) -> set[str]:
    """Return the files of a manifest that have names of people: head, parts, answers left out, and skips."""
    return {sha256, *_files_beside_words(read_head(workspace, sha256))}


def files_of(workspace: Workspace, sha256: str) -> set[str]:
    """Return the files that were stored for a manifest alone, and those of its words.

    What it names besides was there before it: files of documents, page images, and weights. Of a manifest of format 1
    to 3 with a missing part, further files of words may be unknown.
    """
    head = read_head(workspace, sha256)
    files = {sha256, *_files_beside_words(head), *head.get("words", {}).values()}
    if head["format"] != FORMAT:
        with contextlib.suppress(NotFound):
            for part in _parts(workspace, head):
                files.update(page["words_sha256"] for document in part["documents"] for page in document["pages"])
    return files


def documents_of(workspace: Workspace, sha256: str, of_files: dict[str, set[str]], wanted: Set[str]) -> set[str]:
    """Return those of some documents that a manifest names, those of answers left out among them.

    Args:
        workspace: Open workspace.
        sha256: Of the manifest.
        of_files: What was found before, by file: manifests share files, and each is read once. Filled.
        wanted: Ids of the documents, the same for all these manifests.

    Raises:
        NotFound: A file is missing.
        Refused: A file was changed.
    """
    head = read_head(workspace, sha256)
    files = head.get("parts", [sha256]) + [file["sha256"] for file in _left_out_files(head)]
    for file in files:
        if file not in of_files:
            content = json.loads(whole(workspace, file))
            rows = content if isinstance(content, list) else content.get("left_out", [])
            named = {str(row["document_id"]) for row in rows}
            if isinstance(content, dict):
                named.update(str(row["id"]) for row in content["documents"])
            of_files[file] = named & wanted
    return set().union(*(of_files[file] for file in files))


def _left_out_files(head: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the files of answers left out; before format 4, parts have the answers themselves."""
    files: list[dict[str, Any]] = head["left_out"] if head["format"] == FORMAT else []
    return files


def _files_beside_words(head: dict[str, Any]) -> set[str]:
    return {*head.get("parts", ()), *(file["sha256"] for file in (*_left_out_files(head), *head.get("skips", ())))}


def _parts(workspace: Workspace, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if head["format"] in _IN_ONE:
        yield head
        return
    for part in head["parts"]:
        yield json.loads(whole(workspace, part))


def _left_out(workspace: Workspace, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if head["format"] == FORMAT:
        for file in head["left_out"]:
            yield from json.loads(whole(workspace, file["sha256"]))
        return
    for part in _parts(workspace, head):
        yield from part.get("left_out", [])


def read_head(workspace: Workspace, sha256: str) -> dict[str, Any]:
    """Return the head of a manifest as JSON. Raises Refused for changed bytes or an unknown format."""
    head: dict[str, Any] = json.loads(whole(workspace, sha256))
    if head.get("format") not in (FORMAT, _IN_PARTS, *_IN_ONE):
        raise Refused(f"The snapshot {sha256[:12]} has a format that this version cannot read; update Glossator.")
    return head


def ends_after(group_id: str, groups: int) -> bool:
    """Return whether a file ends after a group of documents: on average, every `groups`-th ends one.

    Args:
        group_id: Id of the group; its last digits are random.
        groups: A power of two, up to 65,536.
    """
    return int(group_id[-4:], 16) % groups == 0


def canonical(value: object) -> bytes:
    """Return canonical JSON, the same bytes for equal values: sorted keys, no spaces, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def whole(workspace: Workspace, sha256: str, of: str = "the snapshot") -> bytes:
    """Return a file of a snapshot. Raises NotFound when it is missing, Refused when it was changed on disk.

    `of`: what it is a file of, for the sentence.
    """
    try:
        content = workspace.blobs.read(sha256)
    except LookupError as error:
        raise NotFound(f"A part of {of} is missing; restore it from a backup: {error}") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Refused(f"The file {sha256[:12]} of {of} was changed on disk; restore it from a backup.")
    return content


def _document(row: dict[str, Any], words: Mapping[str, str]) -> FrozenDocument:
    return FrozenDocument(
        id=row["id"],
        sha256=row["sha256"],
        name=row["name"],
        split=row["split"],
        licence=row["licence"],
        source=row["source"],
        pages=tuple(_page(page, words) for page in row["pages"]),
    )


def _page(row: dict[str, Any], words: Mapping[str, str]) -> FrozenPage:
    return FrozenPage(
        id=row["id"],
        number=row["number"],
        width=row["width"],
        height=row["height"],
        image_sha256=row["image_sha256"],
        image_media_type=row["image_media_type"],
        words_sha256=words[row["words"]] if "words" in row else row["words_sha256"],
    )
