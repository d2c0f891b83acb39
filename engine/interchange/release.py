"""What an export writes: the answers of a snapshot, document by document, in an order that follows from the snapshot alone.

The names of splits are those that the libraries of the field look for: documents that train are "train", the recent holdout is
"validation", the frozen one "test"; a document that joined groups of different splits is "quarantined".
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
    """One answer on one page: its pixels, bool [height, width], not all of them empty, and the words it names, in reading order."""

    item: FrozenItem
    page: FrozenPage
    mask: Mask
    words: tuple[FrozenWord, ...]

    @property
    def text(self) -> str:
        """The words, joined."""
        return " ".join(word.text for word in self.words)

    @property
    def by_words(self) -> bool:
        """Whether the boxes of its words make its pixels exactly."""
        return bool(self.words) and np.array_equal(
            rasterise([word.box for word in self.words], self.mask.shape), self.mask
        )

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The box around its pixels, x1 and y1 exclusive."""
        columns, rows = np.flatnonzero(self.mask.any(axis=0)), np.flatnonzero(self.mask.any(axis=1))
        return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


class Release:
    """The answers of a snapshot. Reading it twice reads the stored manifest twice; a part of that is held at a time."""

    def __init__(self, workspace: Workspace, project: str, snapshot: Snapshot) -> None:
        self.workspace, self.project, self.snapshot = workspace, project, snapshot
        self._words = lru_cache(maxsize=_PAGES_OF_WORDS)(lambda page: tuple(words_of(workspace, page)))

    def documents(self) -> Iterator[tuple[FrozenDocument, list[FrozenItem]]]:
        """Yield the documents with the answers that say something: a draft may not yet."""
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
        """Return a document's answers by the id of the page that they mark, and those that mark none; `tick` after each."""
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
        """Every question that was answered, in the order of the alphabet."""
        return sorted({item.question for _, items in self.documents() for item in items})

    @cached_property
    def licences(self) -> list[str]:
        """The licences of the documents, in the order of the alphabet."""
        return sorted({licence_of(document) for document, _ in self.documents()})


def licence_of(document: FrozenDocument) -> str:
    """Return the licence of a document's pages."""
    return document.licence or UNKNOWN_LICENCE


def image_name(document: FrozenDocument, page: FrozenPage) -> str:
    """Return the name of a page's image, which is the same in every export: by the document's content and the page's number."""
    return f"{document.sha256[:16]}-{page.number:04d}{_SUFFIXES.get(page.image_media_type, '.png')}"


def attributes_of(item: FrozenItem) -> dict[str, object]:
    """Return what stands beside an answer in formats that have room for it: who said it, on whose proposal, how far it is agreed on."""
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
