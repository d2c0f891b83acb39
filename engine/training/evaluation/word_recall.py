"""Recall and precision of the words that OCR reads on pages with given words. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.documents.reading.source_words import overlap
from engine.fields.answer_text import normalise, without_punctuation
from engine.grounded import GroundedPage, GroundedWord
from engine.training.evaluation.bootstrap import clustered_bootstrap
from engine.training.evaluation.judged import centre, holds
from engine.training.evaluation.metric_intervals import LEVEL
from engine.training.evaluation.metrics import auroc
from engine.training.evaluation.ocr_reading import OcrReading
from model.boxes import Box

_SEED = 0
# Forms in which two words are compared, by the suffix of their figures.
_FORMS: dict[str, Callable[[str], str]] = {"": normalise, "_without_punctuation": without_punctuation}


def matched_words(
    given: Sequence[GroundedWord], read: Sequence[GroundedWord], form: Callable[[str], str] = normalise
) -> list[tuple[int, int]]:
    """Return the pairs (given, read) of equal words at the same place; each word is in one pair at most.

    Two words are at the same place when the centre of one lies in the box of the other. Of several possible pairs those
    with the largest overlap (share of the smaller box) are taken first.

    Args:
        given: Words of the page, boxes in pixels.
        read: Words of OCR, boxes in the same pixels.
        form: Form in which two texts must be equal.
    """
    by_text: dict[str, list[int]] = {}
    for at, word in enumerate(given):
        by_text.setdefault(form(word.text), []).append(at)
    near = [
        (-overlap(given[at].box, word.box), at, its)
        for its, word in enumerate(read)
        for at in by_text.get(form(word.text), ())
        if _same_place(given[at].box, word.box)
    ]
    pairs: list[tuple[int, int]] = []
    taken_given: set[int] = set()
    taken_read: set[int] = set()
    for _, at, its in sorted(near):
        if at not in taken_given and its not in taken_read:
            taken_given.add(at)
            taken_read.add(its)
            pairs.append((at, its))
    return pairs


def _same_place(first: Box, second: Box) -> bool:
    return holds(first, centre(second)) or holds(second, centre(first))


@dataclass(slots=True)
class WordRecall:
    """Collector of recall, precision, confidence and seconds over pages."""

    _found: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)  # figure -> (page, found) of each word
    _sure: list[tuple[float, bool]] = field(default_factory=list)  # confidence, and whether the word is right
    _seconds: list[float] = field(default_factory=list)
    _at_once: int = 1
    _empty: int = 0

    def add(self, page: GroundedPage, reading: OcrReading) -> None:
        """Add one page with its reading."""
        self._seconds.append(reading.seconds)
        self._at_once = max(self._at_once, reading.at_once)
        self._empty += not reading.words
        for suffix, form in _FORMS.items():
            # Words of punctuation alone have nothing left to compare, and are left out on both sides.
            given_words = [word for word in page.words if form(word.text)]
            compared = [at for at, word in enumerate(reading.words) if form(word.text)]
            pairs = matched_words(given_words, [reading.words[at] for at in compared], form)
            hit, right = {at for at, _ in pairs}, {compared[its] for _, its in pairs}
            self._of(f"recall{suffix}").extend((page.page_id, at in hit) for at in range(len(given_words)))
            self._of(f"precision{suffix}").extend((page.page_id, at in right) for at in compared)
            if not suffix:
                self._sure += [(sure, at in right) for at in compared if (sure := reading.confidences[at]) is not None]

    def _of(self, name: str) -> list[tuple[str, bool]]:
        return self._found.setdefault(name, [])

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON; shares over all words of all pages, None without any.

        Keys: "pages"; "pages_without_words", of OCR; "given" and "read", numbers of words; "recall", "precision", the
        same with "_without_punctuation"; "interval" of these four (95 %, pages resampled); "confidence_auroc", how well
        the engine's confidence separates right from wrong words; "seconds_p50", "seconds_p95" a page, with up to
        "at_once" pages read at the same time.
        """
        figures: dict[str, Any] = {
            "pages": len(self._seconds),
            "pages_without_words": self._empty,
            "given": len(self._found.get("recall", ())),
            "read": len(self._found.get("precision", ())),
        }
        intervals: dict[str, list[float] | None] = {}
        for name in (f"{name}{suffix}" for suffix in _FORMS for name in ("recall", "precision")):
            rows = self._found.get(name, [])
            interval = clustered_bootstrap(
                [page for page, _ in rows], [float(hit) for _, hit in rows], level=LEVEL, seed=_SEED
            )
            figures[name] = None if interval is None else round(interval.mean, 6)
            intervals[name] = None if interval is None else [round(interval.low, 6), round(interval.high, 6)]
        separated = auroc(
            [sure for sure, right in self._sure if right], [sure for sure, right in self._sure if not right]
        )
        return {
            **figures,
            "interval": intervals,
            "confidence_auroc": separated,
            "seconds_p50": self._quantile(0.5),
            "seconds_p95": self._quantile(0.95),
            "at_once": self._at_once,
        }

    def _quantile(self, share: float) -> float | None:
        return round(float(np.quantile(self._seconds, share)), 2) if self._seconds else None
