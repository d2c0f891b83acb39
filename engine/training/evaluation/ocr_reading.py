"""Result of OCR on one evaluation page, and its file in a cache: OCR takes seconds a page."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.grounded import GroundedWord


@dataclass(frozen=True, slots=True)
class OcrReading:
    """Words of a page as OCR read them.

    Attributes:
        words: words in reading order, boxes in pixels of the page.
        confidences: the engine's confidence in each word, 0..1; None where it gives none.
        seconds: wall-clock time of the reading, start of the process and loading of the engine included.
        at_once: pages that were read at the same time; above 1, `seconds` includes waiting for each other.
        warnings: sentences of the reading, such as that time ran out; not cached.
    """

    words: tuple[GroundedWord, ...]
    confidences: tuple[float | None, ...]
    seconds: float
    at_once: int
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether OCR gave up: such a reading is not cached, so that the next run tries again."""
        return bool(self.warnings) and not self.words


def load_reading(path: Path, made: Mapping[str, Any]) -> OcrReading | None:
    """Return a cached reading; None when there is none, or one made in another way than `made`."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if any(stored[name] != value for name, value in made.items()):
            return None
        rows = [
            (GroundedWord(str(text), (int(x0), int(y0), int(x1), int(y1))), None if sure is None else float(sure))
            for text, x0, y0, x1, y1, sure in stored["words"]
        ]
        return OcrReading(
            tuple(word for word, _ in rows),
            tuple(sure for _, sure in rows),
            float(stored["seconds"]),
            int(stored["at_once"]),
        )
    except (OSError, ValueError, KeyError, TypeError):  # missing or not ours: read again
        return None


def store_reading(path: Path, made: Mapping[str, Any], reading: OcrReading) -> None:
    """Write a reading into the cache, complete or not at all; `made` says how it was made."""
    stored = {
        **made,
        "seconds": round(reading.seconds, 3),
        "at_once": reading.at_once,
        "words": [[word.text, *word.box, sure] for word, sure in zip(reading.words, reading.confidences, strict=True)],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")
    unfinished.replace(path)
