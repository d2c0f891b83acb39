"""Noise model of OCR: how an engine misreads generated pages, fitted to what it really read on many of them.

engine/training/sources/misreadings.py fits it; `glossator synth OUT --read --misreadings FILE` writes it.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

QUANTILES = 21  # of the rates of pages: the least, those of each further twentieth, the greatest
_FILE = Path(__file__).with_name("misreadings.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Misreadings:
    """Noise model of an engine.

    Args:
        engine: name and version.
        pages: number of pages that it was fitted to.
        rates: quantiles of the share of misread letters of a page, 0..1, rising.
        confusions: letter -> what was read for it, "" for nothing -> how often.
        splits: share of words that were read as several.
        merges: share of words that were read together with another.
        losses: share of words that were not read.
    """

    engine: str
    pages: int
    rates: list[float]
    confusions: dict[str, dict[str, int]]
    splits: float
    merges: float
    losses: float

    def rate(self, rng: random.Random) -> float:
        """Draw the share of misread letters of a page."""
        at = rng.random() * (len(self.rates) - 1)
        low = int(at)
        return self.rates[low] + (at - low) * (self.rates[min(low + 1, len(self.rates) - 1)] - self.rates[low])

    def misread(self, letter: str, rng: random.Random) -> str | None:
        """Draw what is read for a letter, "" for nothing; None for one that was never misread."""
        others = self.confusions.get(letter)
        return rng.choices(list(others), list(others.values()))[0] if others else None

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


@cache
def load_shipped_model() -> Misreadings:
    """Return the model of the engine that reads scans."""
    return Misreadings(**json.loads(_FILE.read_text(encoding="utf-8")))
