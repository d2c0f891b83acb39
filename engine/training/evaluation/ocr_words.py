"""Words of evaluation pages by our own OCR, cached in a folder: OCR takes seconds a page."""

import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import engine.documents as documents
from db.blobs import sha256_of
from engine.documents.found import FloatBox, turned_box
from engine.documents.limits import ReadLimits
from engine.documents.ocr import find_engine
from engine.documents.open import read_document
from engine.documents.page import ReadPage
from engine.grounded import GroundedPage, GroundedWord


class OcrWords:
    """Reads page images as uploads are read; returns words in pixels of the page, in reading order."""

    def __init__(
        self,
        folder: Path,
        limits: ReadLimits,
        *,
        kept_in: Path | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        """Open the reader.

        Args:
            folder: Folder of the pages' images.
            limits: Limits of reading.
            kept_in: Folder of the cache, one JSON file an image; None for no cache.
            warn: Called with a sentence when a page is asked without words.

        Raises:
            ValueError: No OCR engine is installed, or it lacks the languages.
        """
        engine, _ = find_engine(limits.ocr_language)
        if engine is None:
            languages = limits.ocr_language.split("+")
            packages = " and ".join(["tesseract-ocr", *(f"tesseract-ocr-{name}" for name in languages)])
            raise ValueError(
                f"No OCR engine for {' or '.join(languages)} is installed: install Tesseract (Debian: {packages})."
            )
        self._folder = folder
        self._limits = limits
        self._language = engine.language
        self._kept_in = kept_in
        self._warn = warn

    def __call__(self, page: GroundedPage) -> list[GroundedWord]:
        """Return the words of a page's image. Raises ValueError without an image or for an unreadable one."""
        if page.image is None:
            raise ValueError(f"Page {page.page_id} has no image, so there is nothing for OCR to read.")
        image = self._folder / page.image
        if not image.is_file():
            raise ValueError(f"Page {page.page_id}: its image {image} does not exist, so OCR cannot read it.")
        kept = None if self._kept_in is None else self._kept_in / f"{sha256_of(image)}.json"
        made = {"language": self._language, "reader": _reader(), "size": [page.width, page.height]}
        if kept is not None and (words := _kept(kept, made)) is not None:
            return words
        with tempfile.TemporaryDirectory(prefix="glossator-") as out:
            document = read_document(image, name=image.name, limits=self._limits, out_dir=Path(out))
        words = words_upright(document.pages[0], (page.width, page.height))
        if document.warnings and not words:  # OCR may have run out of time: not cached, so the next run tries again
            if self._warn is not None:
                self._warn(f"Page {page.page_id}: {' '.join(document.warnings)}")
        elif kept is not None:
            _keep(kept, made, words)
        return words


def _kept(path: Path, made: dict[str, Any]) -> list[GroundedWord] | None:
    """Return cached words, if they were read in the same way."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if any(stored[name] != value for name, value in made.items()):
            return None
        return [
            GroundedWord(str(text), (int(x0), int(y0), int(x1), int(y1))) for text, x0, y0, x1, y1 in stored["words"]
        ]
    except (OSError, ValueError, KeyError, TypeError):  # missing or not ours: read again
        return None


def _keep(path: Path, made: dict[str, Any], words: list[GroundedWord]) -> None:
    stored = {**made, "words": [[word.text, *word.box] for word in words]}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(path)


@cache
def _reader() -> str:
    """Return a 12-digit hash of the code that reads documents: results of other code must not be reused."""
    files = sorted(Path(documents.__file__).parent.glob("*.py"))
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
