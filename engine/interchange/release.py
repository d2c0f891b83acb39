"""The answers of a snapshot as exports read them, document by document.

The order is fixed by the snapshot. Splits have the names that libraries of the field look for: "train", "validation"
for the recent holdout, "test" for the frozen holdout. A document that joined groups of different splits is
"quarantined".
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from db.tables import Snapshot
from engine.annotation.state import AnnotationState, PageMark, Patch
from engine.datasets import snapshots
from engine.datasets.frozen_words import WordsReader
from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage, FrozenWord
from engine.interchange.edges import edge_rings
from engine.interchange.polygons import Ring, fill_inside, fill_polygons, outlines
from engine.interchange.snapshot_figures import UNKNOWN_LICENCE, Figures, count_answers
from engine.run_lengths import Rle, rle_of_patch
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import Mask, check_patch, decode_patch, iou, pixels_inside, rasterise
from model.printed_text import printed_text

IMAGES_FOLDER = "images"
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png"}


@dataclass(frozen=True, slots=True)
class Marked:
    """One answer on one page. Pixels are kept as run lengths: a page's raster may take megabytes.

    Attributes:
        item: The answer.
        page: The page.
        patch: Its pixels; at least one is set.
        words: Its words in reading order; empty where the answer names none.
        value: Number of the value that it marks, from 1, where the answer has several; else 0.
    """

    item: FrozenItem
    page: FrozenPage
    patch: Patch
    words: tuple[FrozenWord, ...]
    value: int = 0

    @property
    def key(self) -> str:
        """Id of the answer, with the number of the value where the answer has several."""
        return f"{self.item.annotation_id}-v{self.value}" if self.value else self.item.annotation_id

    @property
    def text(self) -> str:
        """Words of the answer, joined as they are printed."""
        return printed_text(self.words)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the page in pixels."""
        return self.page.height, self.page.width

    @property
    def area(self) -> int:
        """Number of its pixels."""
        return sum(self.patch.counts[1::2])

    @property
    def mask(self) -> Mask:
        """Its pixels on the whole page, bool [height, width]."""
        return decode_patch(self.patch.model_dump(), self.size)

    @property
    def rle(self) -> Rle:
        """Its pixels as COCO's run lengths."""
        return rle_of_patch(self.patch.box, self.patch.counts, self.size)

    @property
    def by_words(self) -> bool:
        """Whether the boxes of its words cover exactly its pixels."""
        return bool(self.words) and np.array_equal(*self.beside([word.box for word in self.words]))

    @property
    def box(self) -> Box:
        """Box around its pixels (x0, y0, x1, y1), x1 and y1 exclusive."""
        pixels = pixels_inside(self.patch.box, self.patch.counts)
        columns, rows = np.flatnonzero(pixels.any(axis=0)), np.flatnonzero(pixels.any(axis=1))
        x, y = self.patch.box[:2]
        return x + int(columns[0]), y + int(rows[0]), x + int(columns[-1]) + 1, y + int(rows[-1]) + 1

    @property
    def rings(self) -> list[Ring]:
        """A ring through the edge pixels of each detached part (engine.interchange.polygons)."""
        return outlines(pixels_inside(self.patch.box, self.patch.counts), self.patch.box[:2])

    @property
    def edge_rings(self) -> list[Ring]:
        """A ring around each detached part, along the edges between pixels (engine.interchange.edges)."""
        return edge_rings(pixels_inside(self.patch.box, self.patch.counts), self.patch.box[:2])

    def likeness(self, rings: Iterable[Ring]) -> float:
        """Return the IoU of what its own rings through pixels cover and of its pixels; rings never leave its box."""
        return self._likeness(fill_polygons, rings)

    def edge_likeness(self, rings: Iterable[Sequence[tuple[float, float]]]) -> float:
        """Return the IoU of what rings along edges cover, as pycocotools rasters them, and of its pixels."""
        return self._likeness(fill_inside, rings)

    def _likeness(
        self,
        fill: Callable[[list[list[tuple[float, float]]], tuple[int, int]], Mask],
        rings: Iterable[Sequence[tuple[float, float]]],
    ) -> float:
        x0, y0, x1, y1 = self.patch.box
        moved = [[(x - x0, y - y0) for x, y in ring] for ring in rings]
        return iou(fill(moved, (y1 - y0, x1 - x0)), pixels_inside(self.patch.box, self.patch.counts))

    def beside(self, boxes: Sequence[Box]) -> tuple[Mask, Mask]:
        """Return the union of boxes and the answer, both inside the smallest window of the page that holds them."""
        height, width = self.size
        seen = [(max(0, x0), max(0, y0), min(width, x1), min(height, y1)) for x0, y0, x1, y1 in boxes]
        shown = [box for box in seen if box[0] < box[2] and box[1] < box[3]]
        left, top, *_ = (min(box[at] for box in (self.patch.box, *shown)) for at in range(4))
        *_, right, bottom = (max(box[at] for box in (self.patch.box, *shown)) for at in range(4))
        moved = [(x0 - left, y0 - top, x1 - left, y1 - top) for x0, y0, x1, y1 in shown]
        mask = np.zeros((bottom - top, right - left), bool)
        x0, y0, x1, y1 = self.patch.box
        mask[y0 - top : y1 - top, x0 - left : x1 - left] = pixels_inside(self.patch.box, self.patch.counts)
        return rasterise(moved, mask.shape), mask


class Release:
    """The answers of a snapshot.

    Each pass reads the stored manifest again; memory holds one part of it at a time. A pass that makes the answers'
    states costs several times as much as one that counts them.

    Attributes:
        workspace: Where the snapshot and the page images are stored.
        project: Name of the project.
        snapshot: The snapshot.
        look: Called some times a second during long steps; it may raise.
    """

    def __init__(
        self, workspace: Workspace, project: str, snapshot: Snapshot, look: Callable[[], None] = lambda: None
    ) -> None:
        """Open the answers of a snapshot."""
        self.workspace, self.project, self.snapshot = workspace, project, snapshot
        self.look = look
        self._words = WordsReader(workspace)

    def documents(self) -> Iterator[tuple[FrozenDocument, list[FrozenItem]]]:
        """Yield each document with its answers; answers that mark nothing yet (empty drafts) are left out."""
        items = snapshots.load(self.workspace, self.snapshot)
        for _, group in groupby(items, key=lambda item: item.document.id):
            of_document = [item for item in group if item.state.no_answer or item.state.marked_pages()]
            if of_document:
                yield of_document[0].document, of_document

    def marked_pages(self, item: FrozenItem) -> list[Marked]:
        """Return an answer page by page; none where the document does not answer."""
        marks = []
        pages = set(item.state.marked_pages())
        for page in item.document.pages:
            if page.id in pages:
                mark: PageMark = item.state.pages[page.id]
                check_patch(mark.mask.box, mark.mask.counts, (page.height, page.width))
                if any(mark.mask.counts[1::2]):
                    named = set(mark.words)
                    chosen = tuple(word for word in self.words(page) if word.number in named) if named else ()
                    marks.append(Marked(item, page, mark.mask, chosen))
        return marks

    def values_of(self, item: FrozenItem) -> list[tuple[AnnotationState, list[Marked]]]:
        """Return the values of an answer in order, each with its marks page by page."""
        several = bool(item.state.values)
        parts = []
        for place, part in enumerate(item.state.single_values(), 1):
            own = replace(item, state=part)
            parts.append((part, [replace(mark, value=place if several else 0) for mark in self.marked_pages(own)]))
        return [(part, marked) for part, marked in parts if marked]

    def marked_values(self, item: FrozenItem) -> list[Marked]:
        """Return an answer value by value, and each page by page; none where the document does not answer."""
        return [mark for _, marked in self.values_of(item) for mark in marked]

    def by_page(
        self, items: Iterable[FrozenItem], tick: Callable[[], None]
    ) -> tuple[dict[str, list[Marked]], list[FrozenItem]]:
        """Sort a document's answers by the page that they mark.

        Args:
            items: The answers of one document.
            tick: Called after each answer.

        Returns:
            The marked values by the id of their page, and the answers that mark no page.
        """
        marks: dict[str, list[Marked]] = {}
        unanswered = []
        for item in items:
            marked = self.marked_values(item)
            if not marked:
                unanswered.append(item)
            for mark in marked:
                marks.setdefault(mark.page.id, []).append(mark)
            tick()
        return marks, unanswered

    def words(self, page: FrozenPage) -> tuple[FrozenWord, ...]:
        """Return the words of a page in reading order."""
        return self._words.of(page)

    @cached_property
    def figures(self) -> Figures:
        """Counts of the answers, for the card and the heads of files."""
        return count_answers(self.workspace, self.snapshot.sha256, self.look)

    @property
    def questions(self) -> list[str]:
        """Every question that was answered, sorted."""
        return sorted(self.figures.questions)

    @property
    def licences(self) -> list[str]:
        """Licences of the documents, sorted."""
        return sorted(self.figures.licences)


def licence_of(document: FrozenDocument) -> str:
    """Return the licence of a document's pages, or UNKNOWN_LICENCE."""
    return document.licence or UNKNOWN_LICENCE


def image_name(document: FrozenDocument, page: FrozenPage) -> str:
    """Return the file name of a page's image, made of the document's SHA-256 and the page's number.

    It is the same in every export.
    """
    return f"{document.sha256[:16]}-{page.number:04d}{_SUFFIXES.get(page.image_media_type, '.png')}"


def attributes_of(item: FrozenItem) -> dict[str, object]:
    """Return the attributes of an answer for formats that have room for them.

    They name the revision, the status, the author, the model version that proposed the answer, its weight, and the
    split and licence of its document.
    """
    return {
        "annotation_id": item.annotation_id,
        "revision": item.revision,
        "revision_id": item.revision_id,
        "status": item.status,
        "author": item.author,
        "source": item.source,
        "model_version": item.model_version,
        "weight": item.weight,
        "split": item.document.split,
        "document_sha256": item.document.sha256,
        "image_licence": licence_of(item.document),
    }
