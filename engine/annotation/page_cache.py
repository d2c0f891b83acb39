"""Cache of encoded pages, keyed by page, checkpoint and word version."""

import io
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PIL import Image
from sqlalchemy import select

from db.tables import Page, PageWord
from engine.annotation.predictors import Loaded
from engine.annotation.shared_results import SharedResults
from engine.errors import NotFound
from engine.queries import existing
from engine.settings import Settings
from engine.workspace import Workspace
from model.examples import Word

if TYPE_CHECKING:
    from model.inference import EncodedPage


@dataclass(frozen=True, slots=True)
class PageWords:
    """Words of a page in reading order; `numbers` are their stable numbers."""

    numbers: list[int]
    words: list[Word]
    lines: list[int]


def words_of(workspace: Workspace, page_id: str) -> PageWords:
    """Return the words of a page in reading order, without retired words. Raises NotFound."""
    with workspace.database.read() as session:
        existing(session, Page, page_id)
        rows = session.scalars(
            select(PageWord)
            .where(PageWord.page_id == page_id, PageWord.retired_at.is_(None))
            .order_by(PageWord.position)
        ).all()
    return PageWords(
        [row.number for row in rows],
        [Word(row.text, (row.x0, row.y0, row.x1, row.y1)) for row in rows],
        [row.line for row in rows],
    )


def picture_and_words(workspace: Workspace, page_id: str) -> tuple[Image.Image, PageWords]:
    """Return the RGB image of a page and its words, the input of a predictor. Raises NotFound."""
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
    words = words_of(workspace, page_id)
    with Image.open(io.BytesIO(workspace.blobs.read(page.image_sha256))) as image:
        return image.convert("RGB"), words


@dataclass(frozen=True, slots=True)
class CachedPage:
    """Encoded page, and the numbers of its words in the order of the encoding."""

    encoded: "EncodedPage"
    numbers: list[int]


def passes_at_once(settings: Settings) -> int:
    """Return the number of parallel forward passes; more passes than cores slow every one down."""
    cores = os.cpu_count() or 1
    return max(1, cores // (settings.threads or cores))


class PageCache:
    """Cache of the `settings.page_cache` most recently used encoded pages; concurrent requests share one encoding."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pages: SharedResults[tuple[str, str, int], CachedPage] = SharedResults(workspace.settings.page_cache)
        self._encoding = threading.Semaphore(passes_at_once(workspace.settings))

    def holds(self, page_id: str, loaded: Loaded) -> bool:
        """Return whether the page is encoded."""
        return self._pages.is_done(self._key(page_id, loaded))

    def is_begun(self, page_id: str, loaded: Loaded) -> bool:
        """Return whether the page is encoded or being encoded."""
        return self._pages.is_begun(self._key(page_id, loaded))

    def get(self, page_id: str, loaded: Loaded) -> CachedPage:
        """Return the page encoded by this version; encodes it when absent. Raises NotFound."""
        key = self._key(page_id, loaded)
        if not self._pages.is_begun(key):  # with an older version of its words, a page is never asked again
            self._pages.discard(lambda old: old[:2] == key[:2] and old[2] < key[2])
        return self._pages.get(key, lambda: self._encode(page_id, loaded))

    def _key(self, page_id: str, loaded: Loaded) -> tuple[str, str, int]:
        with self._workspace.database.read() as session:
            version = session.scalar(select(Page.words_version).where(Page.id == page_id))
        if version is None:
            raise NotFound("There is no such page.")
        return page_id, loaded.version.checkpoint_sha256, version

    def _encode(self, page_id: str, loaded: Loaded) -> CachedPage:
        return self.encode(*picture_and_words(self._workspace, page_id), loaded)

    def encode(self, picture: Image.Image, words: PageWords, loaded: Loaded) -> CachedPage:
        """Return an encoded page that is not held here; waits for its turn, as all pages do."""
        with self._encoding:
            return CachedPage(loaded.predictor.encode(picture, words.words), words.numbers)
