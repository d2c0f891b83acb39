"""Encoded pages, kept in memory by (page, checkpoint, version of its words): encoded once, never again on a click."""

import io
import os
import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass

from PIL import Image
from sqlalchemy import select

from db.tables import Page, PageWord
from engine.annotation.predictors import Loaded
from engine.errors import NotFound
from engine.queries import existing
from engine.settings import Settings
from engine.workspace import Workspace
from model.inference import EncodedPage, Word


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page in reading order; `numbers` are their stable numbers."""

    numbers: list[int]
    words: list[Word]
    lines: list[int]


def words_of(workspace: Workspace, page_id: str) -> PageWords:
    """Return the words of a page in reading order, without retired ones. NotFound for an unknown page."""
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
    """Return what a predictor reads of a page: its image in colour, and its words. NotFound for an unknown page."""
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
    words = words_of(workspace, page_id)
    with Image.open(io.BytesIO(workspace.blobs.read(page.image_sha256))) as image:
        return image.convert("RGB"), words


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page that can be asked: the encoding, and the numbers of its words in the encoding's order."""

    encoded: EncodedPage
    numbers: list[int]


def passes_at_once(settings: Settings) -> int:
    """Return how many forward passes may run at once: more than there are cores for only make everybody wait longer."""
    cores = os.cpu_count() or 1
    return max(1, cores // (settings.threads or cores))


class PageCache:
    """The most recently used encoded pages, at most `size`. Two who need the same page wait for one encoding."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pages: OrderedDict[tuple[str, str, int], Future[CachedPage]] = OrderedDict()
        self._lock = threading.Lock()
        self._encoding = threading.Semaphore(passes_at_once(workspace.settings))

    def holds(self, page_id: str, loaded: Loaded) -> bool:
        """Return whether the page is encoded already."""
        key = self._key(page_id, loaded)
        with self._lock:
            future = self._pages.get(key)
        return future is not None and future.done()

    def begun(self, page_id: str, loaded: Loaded) -> bool:
        """Return whether the page is encoded already, or somebody is encoding it."""
        key = self._key(page_id, loaded)
        with self._lock:
            return key in self._pages

    def get(self, page_id: str, loaded: Loaded) -> CachedPage:
        """Return the page, encoded by this version, encoding it if need be. NotFound for an unknown page."""
        key = self._key(page_id, loaded)
        with self._lock:
            future = self._pages.get(key)
            mine = future is None
            if future is None:
                for old in [each for each in self._pages if each[:2] == key[:2] and each[2] < key[2]]:
                    del self._pages[old]  # its words have been mended since: nobody asks for it again
                future = self._pages[key] = Future()
                while len(self._pages) > self._workspace.settings.page_cache:
                    self._pages.popitem(last=False)
            else:
                self._pages.move_to_end(key)
        if mine:
            try:
                future.set_result(self._encode(page_id, loaded))
            except BaseException as error:
                with self._lock:
                    self._pages.pop(key, None)  # the next one tries again
                future.set_exception(error)
        return future.result()

    def _key(self, page_id: str, loaded: Loaded) -> tuple[str, str, int]:
        with self._workspace.database.read() as session:
            version = session.scalar(select(Page.words_version).where(Page.id == page_id))
        if version is None:
            raise NotFound("There is no such page.")
        return page_id, loaded.version.checkpoint_sha256, version

    def _encode(self, page_id: str, loaded: Loaded) -> CachedPage:
        picture, words = picture_and_words(self._workspace, page_id)
        with self._encoding:
            return CachedPage(loaded.predictor.encode(picture, words.words), words.numbers)
