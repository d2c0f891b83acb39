"""Words of evaluation pages by our own OCR, read as uploads are, and cached in a folder."""

import os
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import engine.documents as documents
from db.blobs import sha256_of
from engine.documents.limits import ReadLimits
from engine.documents.ocr.choose import find_engine
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadPage
from engine.documents.reading.source_words import turned_box
from engine.documents.refusal import DocumentRefused, Reason
from engine.grounded import GroundedPage, GroundedWord
from engine.training.evaluation.ocr_reading import OcrReading, load_reading, store_reading
from model.boxes import FloatBox

_AHEAD = 2  # pages submitted for each worker: a long page does not leave the others idle

# The limits, not the image: hours of reading must not end for one page.
_SCARCE = (Reason.TOO_SLOW, Reason.TOO_MUCH_MEMORY)

_Key = tuple[str | None, int, int]


class OcrWords:
    """Reads page images as uploads are read; returns words in pixels of the page, in reading order.

    Attributes:
        engine: "rapidocr" or "tesseract".
        version: version of its package or program.
        language: languages that are read, such as "eng+deu".
    """

    def __init__(
        self,
        folder: Path,
        limits: ReadLimits,
        *,
        kept_in: Path | None = None,
        workers: int = 1,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        """Open the reader.

        Args:
            folder: Folder of the pages' images.
            limits: Limits of reading; `ocr` and `ocr_language` choose the engine.
            kept_in: Folder of the cache, one JSON file for each image, engine and language; None for no cache.
            workers: Pages that `read_ahead` reads at once. With 1, cached readings that had company are made again,
                so that every time is that of a page alone.
            warn: Called with a sentence when a language is missing or a page is asked without words.

        Raises:
            ValueError: No OCR engine is installed, or it lacks the languages.
        """
        engine, missing = find_engine(limits.ocr, limits.ocr_language, 1)
        if engine is None:
            languages = limits.ocr_language.split("+")
            packages = " and ".join(["tesseract-ocr", *(f"tesseract-ocr-{name}" for name in languages)])
            raise ValueError(
                f"No OCR engine for {' or '.join(languages)} is installed: install Tesseract (Debian: {packages})."
            )
        if missing and warn is not None:
            warn(missing)
        self.engine, self.language, self.version = engine.name, engine.language, _version(engine.name)
        self._folder = folder
        self._limits = limits
        self._kept_in = kept_in
        self._workers = workers
        self._warn = warn
        self._read: dict[_Key, OcrReading] = {}

    def __call__(self, page: GroundedPage) -> list[GroundedWord]:
        """Return the words of a page's image. Raises ValueError without an image or for an unreadable one."""
        return list(self.reading(page).words)

    def read_ahead(self, pages: Iterable[GroundedPage]) -> Iterator[tuple[GroundedPage, OcrReading]]:
        """Yield each page with its reading; up to `workers` pages are read at once.

        Pages on which OCR gave up come last: they are read again alone, since company slows each down and the limits
        on time stay. Readings stay in memory for later calls. Raises ValueError as a call does.
        """
        again = []
        for page, reading in self._at_once(pages):
            if reading.failed and self._workers > 1:
                again.append(page)
            else:
                yield page, self._remember(page, reading)
        for page in again:
            yield page, self._remember(page, self._read_page(page, alone=True))

    def _at_once(self, pages: Iterable[GroundedPage]) -> Iterator[tuple[GroundedPage, OcrReading]]:
        waiting: deque[tuple[GroundedPage, Future[OcrReading]]] = deque()
        pool = ThreadPoolExecutor(self._workers)  # each waits for a process of its own
        try:
            for page in pages:
                waiting.append((page, pool.submit(self._read_page, page)))
                if len(waiting) > _AHEAD * self._workers:
                    first, reading = waiting.popleft()
                    yield first, reading.result()
            for page, reading in waiting:
                yield page, reading.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def reading(self, page: GroundedPage) -> OcrReading:
        """Return the reading of a page's image. Raises ValueError without an image or for an unreadable one."""
        known = self._read.get(_key(page))
        return self._remember(page, self._read_page(page, alone=True)) if known is None else known

    def _remember(self, page: GroundedPage, reading: OcrReading) -> OcrReading:
        """Remember the last reading of a page, and warn when OCR gave up."""
        self._read[_key(page)] = reading
        if reading.failed and self._warn is not None:
            self._warn(f"Page {page.page_id}: {' '.join(reading.warnings)}")
        return reading

    def _read_page(self, page: GroundedPage, alone: bool = False) -> OcrReading:
        """Return a page's reading from the cache, or read it; `alone`: no other page is being read."""
        if page.image is None:
            raise ValueError(f"Page {page.page_id} has no image, so there is nothing for OCR to read.")
        image = self._folder / page.image
        if not image.is_file():
            raise ValueError(f"Page {page.page_id}: its image {image} does not exist, so OCR cannot read it.")
        cache_file = self._kept_in and self._kept_in / f"{sha256_of(image)}-{self.engine}-{self.language}.json"
        made = {
            "engine": self.engine,
            "version": self.version,
            "language": self.language,
            "reader": reader_code(),
            "size": [page.width, page.height],
        }
        cached = None if cache_file is None else load_reading(cache_file, made)
        if cached is not None and (self._workers > 1 or cached.at_once == 1):
            return cached
        reading = self._fresh(page, image, 1 if alone else self._workers)
        if cache_file is not None and not reading.failed:
            store_reading(cache_file, made, reading)
        return reading

    def _fresh(self, page: GroundedPage, image: Path, at_once: int) -> OcrReading:
        began = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory(prefix="glossator-") as out:
                document = read_document(image, name=image.name, limits=self._limits, out_dir=Path(out))
        except DocumentRefused as refused:
            if refused.reason not in _SCARCE:
                raise
            return OcrReading((), (), time.perf_counter() - began, at_once, (str(refused),))
        seconds = time.perf_counter() - began
        read = document.pages[0]
        words = words_upright(read, (page.width, page.height))
        sure = tuple(word.confidence for word in read.words)
        return OcrReading(tuple(words), sure, seconds, at_once, document.warnings)


def default_workers() -> int:
    """Return the number of pages to read at once: one for each core that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)


def _key(page: GroundedPage) -> _Key:
    return page.image, page.width, page.height


def _version(engine: str) -> str:
    """Return the version of an engine's package or program; "unknown" if it does not tell."""
    try:
        if engine != "tesseract":
            return version(engine)
        output = subprocess.run([engine, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
        return output.split("\n")[0].removeprefix("tesseract").strip() or "unknown"
    except (PackageNotFoundError, OSError, subprocess.TimeoutExpired):
        return "unknown"


@cache
def reader_code() -> str:
    """Return a 12-digit hash of the code that reads documents: results of other code must not be reused."""
    folder = Path(documents.__file__).parent
    rooms = (folder, folder / "reading", folder / "text_layer", folder / "ocr")
    files = sorted(file for room in rooms for file in room.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def words_upright(read: ReadPage, size: tuple[int, int]) -> list[GroundedWord]:
    """Return the words of a page in pixels of the stored image, undoing the rotation for OCR.

    size: (width, height) of the stored image.
    """
    picture = (read.width, read.height)
    back = (360 - read.rotation) % 360
    width, height = picture if read.rotation % 180 == 0 else picture[::-1]
    across, down = size[0] / width, size[1] / height
    words = []
    for word in read.words:
        box: FloatBox = turned_box(word.box, back, picture)
        x0, y0, x1, y1 = box[0] * across, box[1] * down, box[2] * across, box[3] * down
        words.append(GroundedWord(word.text, (round(x0), round(y0), round(x1), round(y1))))
    return words
