"""The answers of a snapshot as exports read them, document by document.

The order is fixed by the snapshot. Splits have the names that libraries of the field look for: "train", "validation"
for the recent holdout, "test" for the frozen holdout. A document that joined groups of different splits is
"quarantined".
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np

from db.tables import Snapshot
from engine.annotation.state import PageMark
from engine.datasets import snapshots
from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage, FrozenWord, words_of
from engine.datasets.manifest_rows import QUARANTINED
from engine.workspace import Workspace
from model.masks import Mask, decode_patch, rasterise

IMAGES_FOLDER = "images"
UNKNOWN_LICENCE = "unknown"
SPLITS = {"train": "train", "recent": "validation", "frozen": "test", QUARANTINED: QUARANTINED}
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png"}
_PAGES_OF_WORDS = 16


@dataclass(frozen=True, slots=True)
class Marked:
    """One answer on one page.

    Attributes:
        item: The answer.
        page: The page.
        mask: Its pixels, bool [height, width]; at least one is True.
        words: Its words in reading order; empty where the answer names none.
    """

    item: FrozenItem
    page: FrozenPage
    mask: Mask
    words: tuple[FrozenWord, ...]

    @property
    def text(self) -> str:
        """Words of the answer, joined by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def by_words(self) -> bool:
        """Whether the boxes of its words cover exactly its pixels."""
        return bool(self.words) and np.array_equal(
            rasterise([word.box for word in self.words], self.mask.shape), self.mask
        )

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Box around its pixels (x0, y0, x1, y1), x1 and y1 exclusive."""
        columns, rows = np.flatnonzero(self.mask.any(axis=0)), np.flatnonzero(self.mask.any(axis=1))
        return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


class Release:
    """The answers of a snapshot.

    Each pass reads the stored manifest again; memory holds one part of it at a time.

    Attributes:
        workspace: Where the snapshot and the page images are stored.
        project: Name of the project.
        snapshot: The snapshot.
    """

    def __init__(self, workspace: Workspace, project: str, snapshot: Snapshot) -> None:
        self.workspace, self.project, self.snapshot = workspace, project, snapshot
        self._words = lru_cache(maxsize=_PAGES_OF_WORDS)(lambda page: tuple(words_of(workspace, page)))

    def documents(self) -> Iterator[tuple[FrozenDocument, list[FrozenItem]]]:
        """Yield each document with its answers; answers that mark nothing yet (empty drafts) are left out."""
        items = snapshots.load(self.workspace, self.snapshot)
        for _, group in groupby(items, key=lambda one: one.document.id):
            of_document = [one for one in group if one.state.no_answer or one.state.marked_pages()]
            if of_document:
                yield of_document[0].document, of_document

    def marked(self, item: FrozenItem) -> list[Marked]:
        """Return an answer page by page; none where the document does not answer."""
        found = []
        there = set(item.state.marked_pages())
        for page in item.document.pages:
            if page.id in there:
                mark: PageMark = item.state.pages[page.id]
                mask = decode_patch(mark.mask.model_dump(), (page.height, page.width))
                named = set(mark.words)
                if mask.any():
                    chosen = tuple(word for word in self.words(page) if word.number in named)
                    found.append(Marked(item, page, mask, chosen))
        return found

    def by_page(
        self, items: Iterable[FrozenItem], tick: Callable[[], None]
    ) -> tuple[dict[str, list[Marked]], list[FrozenItem]]:
        """Sort a document's answers by the page that they mark.

        Args:
            items: The answers of one document.
            tick: Called after each answer.

        Returns:
            The marked answers by the id of their page, and the answers that mark no page.
        """
        found: dict[str, list[Marked]] = {}
        unanswered = []
        for item in items:
            marked = self.marked(item)
            if not marked:
                unanswered.append(item)
            for one in marked:
                found.setdefault(one.page.id, []).append(one)
            tick()
        return found, unanswered

    def words(self, page: FrozenPage) -> tuple[FrozenWord, ...]:
        """Return the words of a page in reading order."""
        return self._words(page)

    @cached_property
    def questions(self) -> list[str]:
        """Every question that was answered, sorted."""
        return sorted({item.question for _, items in self.documents() for item in items})

    @cached_property
    def licences(self) -> list[str]:
        """Licences of the documents, sorted."""
        return sorted({licence_of(document) for document, _ in self.documents()})


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
