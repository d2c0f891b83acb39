"""Snapshot as grounded pages with questions, for training and for judging."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from PIL import Image
from sqlalchemy import select

from db.statuses import AUTOMATIC
from db.tables import Document
from engine.annotation.state import AnnotationState, PageMark
from engine.datasets.frozen_fields import fields_of_head, frozen_kinds
from engine.datasets.frozen_words import WordsReader
from engine.datasets.manifest import FrozenItem, FrozenPage, FrozenWord, items_of, read_head
from engine.fields.types import FieldType
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.run_lengths import Rle, rle_of_patch
from engine.training.evaluation.judged_values import AcceptedValue, KnownValues
from engine.workspace import Workspace
from model.boxes import Box
from model.examples import Example
from model.masks import Mask, check_patch, iou, pixels_inside, rasterise, words_under
from model.printed_text import printed_text

MOST_UNANSWERED_PAGES = 3  # of a document that does not answer a question; the first ones represent the others
NEAR = 0.8  # IoU from which words represent a manually edited mask, in training
_OPEN_IMAGES = 16
_AT_ONCE = 500  # documents of one query


@dataclass(frozen=True, slots=True)
class UnlabelledPage:
    """Page of a document without accepted answers: the document, its group of like documents, and the words."""

    document_id: str
    group_id: str
    example: Example


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pages of a snapshot; `image` is a blob's SHA-256, the id names a document's page in a split."""

    pages: tuple[GroundedPage, ...]
    documents: dict[str, str]  # page id -> document
    splits: dict[str, str]  # page id -> split
    weights: dict[str, dict[str, float]] = field(default_factory=dict)  # page id -> question id -> weight, where not 1
    unlabelled: tuple[UnlabelledPage, ...] = ()  # beside the snapshot; words are learned from them
    groups: dict[str, str] = field(default_factory=dict)  # document -> its group of like documents
    values: KnownValues = field(default_factory=KnownValues)  # of fields, for judging

    def of(self, *splits: str) -> list[GroundedPage]:
        """Return the pages of some splits."""
        return [page for page in self.pages if self.splits[page.page_id] in splits]

    def group(self, page: GroundedPage) -> str:
        """Return the group of the page's document; its id where the document is gone."""
        document = self.documents[page.page_id]
        return self.groups.get(document, document)


@dataclass(slots=True)
class _Asked:
    """Answers to one question on one page; each of several is acceptable."""

    question: str
    answers: list[list[int]]
    masks: list[Rle]


def corpus_of(workspace: Workspace, sha256: str, *, exact: bool = True) -> Corpus:
    """Return the pages of a snapshot (its manifest's SHA-256) that have answers.

    An answer takes precedence over "not in the document" by another person. Raises Refused when the snapshot was
    changed on disk.

    Args:
        workspace: Open workspace.
        sha256: Manifest of the snapshot.
        exact: Represent an answer by its words only when they equal its mask, for judging. Otherwise, for training,
            words that nearly equal it suffice: the network learns more from words.
    """
    pages: dict[str, FrozenPage] = {}
    documents: dict[str, str] = {}
    splits: dict[str, str] = {}
    asked: dict[str, dict[str, _Asked]] = {}
    weights: dict[str, dict[str, float]] = {}
    words: dict[str, tuple[FrozenWord, ...]] = {}
    reader = WordsReader(workspace)
    head = read_head(workspace, sha256)
    kinds, fields = frozen_kinds(head), fields_of_head(head, ())
    accepted: dict[str, dict[str, list[AcceptedValue]]] = {}
    for item in items_of(workspace, sha256):
        if item.status == AUTOMATIC:  # a model must not be trained or judged on a model's answers
            continue
        if item.question_id in fields.fields and fields.fields[item.question_id].type is FieldType.TABLE:
            continue  # rows are found by the layout of the words, not by the network
        marked = set(item.state.marked_pages())
        for page in _pages_that_count(item, marked):
            if page.id not in pages:  # in the order of the snapshot, in which its words lie
                words[page.id] = reader.of(page)
            pages[page.id], documents[page.id], splits[page.id] = page, item.document.id, item.document.split
            entry = asked.setdefault(page.id, {}).setdefault(item.question_id, _Asked(item.question, [], []))
            if item.weight != 1.0:
                weights.setdefault(page.id, {})[item.question_id] = item.weight
            if page.id in marked:
                numbers = [word.number for word in words[page.id]]
                boxes = [word.box for word in words[page.id]]
                # The network marks one place: each of several values is an acceptable answer.
                for part in item.state.single_values():
                    if page.id in part.pages:
                        _enter(entry, part.pages[page.id], page, numbers, boxes, exact)
                        if exact and item.question_id in fields.fields and part.marked_pages() == [page.id]:
                            value = _accepted_value(part, page.id, words[page.id])
                            accepted.setdefault(page.id, {}).setdefault(item.question_id, []).append(value)
    grounded = [
        GroundedPage(
            page_id=page_id,
            image=page.image_sha256,
            width=page.width,
            height=page.height,
            words=[GroundedWord(word.text, word.box) for word in words.pop(page_id)],
            questions=[
                GroundedQuestion(
                    question_id,
                    entry.question,
                    entry.answers,
                    masks=[dict(rle) for rle in entry.masks],
                    kind=kinds.get(question_id),
                )
                for question_id, entry in sorted(asked[page_id].items())
            ],
        )
        for page_id, page in sorted(pages.items())
    ]
    return Corpus(
        tuple(grounded),
        documents,
        splits,
        weights,
        groups=_groups_of(workspace, documents.values()),
        values=KnownValues(fields.fields, fields.context, accepted),
    )


def _accepted_value(part: AnnotationState, page_id: str, words: Sequence[FrozenWord]) -> AcceptedValue:
    """Return a value of an answer, which marks one page: its text, and what a person said of it."""
    marked = set(part.pages[page_id].words)
    printed = printed_text(word for word in words if word.number in marked)
    if part.correction is None:
        return AcceptedValue(printed)
    text, reading = part.correction.text, part.correction.reading
    return AcceptedValue(
        printed if text is None else text, None if reading is None else reading.value, text is not None
    )


def _groups_of(workspace: Workspace, documents: Iterable[str]) -> dict[str, str]:
    """Return the groups of those documents that are there."""
    wanted = sorted(set(documents))
    groups: dict[str, str] = {}
    with workspace.database.read() as session:
        for start in range(0, len(wanted), _AT_ONCE):
            some = select(Document.id, Document.group_id).where(Document.id.in_(wanted[start : start + _AT_ONCE]))
            groups.update(session.execute(some).tuples().all())
    return groups


def image_opener(workspace: Workspace) -> Callable[[GroundedPage], Image.Image]:
    """Return a function that opens the image of a corpus page, RGB; caches the last few."""

    @lru_cache(maxsize=_OPEN_IMAGES)
    def open_image(sha256: str) -> Image.Image:
        """Open an image by its SHA-256."""
        with workspace.blobs.open(sha256) as file, Image.open(file) as image:
            return image.convert("RGB")

    return lambda page: open_image(str(page.image))


def _pages_that_count(item: FrozenItem, marked: set[str]) -> Iterable[FrozenPage]:
    """Yield the pages that carry the answer; without one, the first pages, as pages without an answer.

    Unmarked pages of an answered document are left out: people mark one place and rarely search for a second.
    """
    if marked:
        return [page for page in item.document.pages if page.id in marked]
    return item.document.pages[:MOST_UNANSWERED_PAGES] if item.state.no_answer else []


def _enter(
    entry: _Asked,
    mark: PageMark,
    page: FrozenPage,
    numbers: Sequence[int],
    boxes: Sequence[Box],
    exact: bool,
) -> None:
    """Add an answer; its pixels are compared in the smallest window that holds them and the words beside them."""
    patch = mark.mask
    check_patch(patch.box, patch.counts, (page.height, page.width))
    if not any(patch.counts[1::2]):
        return
    place = {number: at for at, number in enumerate(numbers)}
    chosen = sorted({place[number] for number in mark.words if number in place})
    seen = [_clip_to_page(box, page) for box in boxes]
    near = [] if exact else [at for at, box in enumerate(seen) if _meet(box, patch.box)]
    shown = [patch.box, *(seen[at] for at in {*chosen, *near} if _meet(seen[at], seen[at]))]
    left, top = min(box[0] for box in shown), min(box[1] for box in shown)
    size = max(box[3] for box in shown) - top, max(box[2] for box in shown) - left
    moved = [(x0 - left, y0 - top, x1 - left, y1 - top) for x0, y0, x1, y1 in seen]
    x0, y0, x1, y1 = patch.box
    mask = np.zeros(size, bool)
    mask[y0 - top : y1 - top, x0 - left : x1 - left] = pixels_inside(patch.box, patch.counts)
    under = [near[at] for at in words_under(mask, [moved[at] for at in near])]
    for candidate in (chosen, under):
        if candidate and _stands_for(rasterise([moved[at] for at in candidate], size), mask, exact):
            if candidate not in entry.answers:
                entry.answers.append(candidate)
            return
    rle = rle_of_patch(patch.box, patch.counts, (page.height, page.width))
    if rle not in entry.masks:
        entry.masks.append(rle)


def _clip_to_page(box: Box, page: FrozenPage) -> Box:
    """Return the part of a box on the page; without one, a box without area."""
    x0, y0, x1, y1 = box
    return max(0, x0), max(0, y0), min(page.width, x1), min(page.height, y1)


def _meet(first: Box, second: Box) -> bool:
    """Return whether two boxes share pixels."""
    return max(first[0], second[0]) < min(first[2], second[2]) and max(first[1], second[1]) < min(first[3], second[3])


def _stands_for(words: Mask, mask: Mask, exact: bool) -> bool:
    return np.array_equal(words, mask) if exact else iou(words, mask) >= NEAR
