"""Fit of the noise model of generated pages to what an OCR engine really reads on them.

The words that a page shows are compared with those that were read at the same place: letters taken for others, words
split, merged and lost, by page, because a worn page is misread all over and a clean one hardly.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from rapidfuzz.distance import Levenshtein

from engine.grounded import GroundedPage, GroundedWord
from engine.synthetic import SyntheticPage
from engine.synthetic.misreadings import QUANTILES, Misreadings
from model.boxes import FloatBox

_SAME_WORD = 0.5  # distance over length, from which a reading at the same place says nothing about letters
_INSIDE = 0.3  # share of the narrower box that must be covered across
_FEWEST = 2  # times that letters were confused; a single one may be random


@dataclass(slots=True)
class _Counts:
    """Counts of misread words over all pages."""

    rates: list[float] = field(default_factory=list)  # of misread letters, by page
    confusions: dict[str, Counter[str]] = field(default_factory=dict)
    words: int = 0
    split: int = 0
    merged: int = 0
    lost: int = 0


def fit_misreadings(engine: str, pages: Iterable[tuple[SyntheticPage, GroundedPage]]) -> Misreadings:
    """Return the noise model of an engine.

    Args:
        engine: name and version of the engine.
        pages: generated pages with the words that were read on their pictures.

    Raises:
        ValueError: No page was given, or none has words.
    """
    counts = _Counts()
    number = 0
    for made, read in pages:
        _add(counts, made, read.words)
        number += 1
    if not counts.words:
        raise ValueError("The noise model needs pages with words.")
    return Misreadings(
        engine=engine,
        pages=number,
        rates=[round(float(rate), 5) for rate in np.quantile(counts.rates, np.linspace(0, 1, QUANTILES))],
        confusions={
            letter: frequent
            for letter, others in sorted(counts.confusions.items())
            if (frequent := {reading: count for reading, count in sorted(others.items()) if count >= _FEWEST})
        },
        splits=round(counts.split / counts.words, 5),
        merges=round(counts.merged / counts.words, 5),
        losses=round(counts.lost / counts.words, 5),
    )


def _add(counts: _Counts, made: SyntheticPage, words: Sequence[GroundedWord]) -> None:
    pieces = [
        (piece.text, piece.box(tight=True))
        for piece in made.canvas.pieces
        if piece.drawn and piece.upright and piece.text.strip()
    ]
    places = [_find_words_at(box, words) for _, box in pieces]
    claimed = Counter(at for place in places for at in place)
    letters = misread = 0
    for (text, _), place in zip(pieces, places, strict=True):
        counts.words += 1
        if not place:
            counts.lost += 1
        elif any(claimed[at] > 1 for at in place):
            counts.merged += 1
        else:
            counts.split += len(place) > 1
            read = "".join(words[at].text for at in place)
            if Levenshtein.normalized_distance(text, read) < _SAME_WORD:
                edits = Levenshtein.editops(text, read)
                letters, misread = letters + len(text), misread + len(edits)
                for edit in edits:
                    if edit.tag != "insert":
                        reading = read[edit.dest_pos] if edit.tag == "replace" else ""
                        counts.confusions.setdefault(text[edit.src_pos], Counter())[reading] += 1
    if letters:
        counts.rates.append(misread / letters)


def _find_words_at(box: FloatBox, words: Sequence[GroundedWord]) -> list[int]:
    """Return the words that were read where a box lies, from left to right."""
    middle = (box[1] + box[3]) / 2
    indices = []
    for at, word in enumerate(words):
        x0, y0, x1, y1 = word.box
        across = min(x1, box[2]) - max(x0, box[0])
        if y0 <= middle <= y1 and across > _INSIDE * min(x1 - x0, box[2] - box[0]):
            indices.append(at)
    return sorted(indices, key=lambda at: words[at].box[0])
