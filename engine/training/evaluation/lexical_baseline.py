"""Lexical baseline: finds the words most similar to the question, and takes the text beside them.

It learns nothing, and every evaluation prints it beside the model: a useful model must beat it. A page is prepared once
(segments, candidate runs, index from tokens to runs). A question then scores only the runs that share a token with it,
and the cheapest other run; the result equals scoring all runs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from rapidfuzz import fuzz, process

from model.boxes import Box, FloatBox

# fmt: off
STOP_WORDS = frozenset((
    "what", "is", "the", "of", "a", "an", "in", "on", "for", "to", "and", "s", "which", "value", "are", "was", "were",
    "does", "do", "how", "much", "this", "that",
))
# fmt: on
LONGEST_KEY = 12  # words of a run that may be a key
ALIKE = 80.0  # rapidfuzz ratio (0..100) from which two tokens count as equal
GAP = 1.2  # line heights; a wider space ends a segment


class PlacedWord(Protocol):
    """Word with its box (x0, y0, x1, y1) in pixels of the page."""

    @property
    def text(self) -> str:
        """Return the text of the word."""

    @property
    def box(self) -> Box:
        """Return the box in pixels."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run of words that may be a key: words `start` to `end` of a segment, tokens as vocabulary indices."""

    segment: int
    start: int
    end: int
    tokens: tuple[int, ...]
    ends_with_colon: bool


@dataclass(frozen=True, slots=True)
class BaselinePage:
    """Page prepared for questions; see `prepare`."""

    words: Sequence[PlacedWord]
    segments: list[list[int]]  # word indices, left to right
    bounds: list[FloatBox]  # one a segment
    runs: list[Run]  # in reading order of segments
    vocabulary: list[str]  # distinct tokens of the page
    runs_with: list[list[int]]  # vocabulary index -> indices of runs
    cheapest: int | None  # cheapest run when no token matches
    frequency: Counter[str]  # token -> number of words that contain it


def tokens(text: str) -> list[str]:
    """Return the lower-case runs of letters, digits, #, $ and %."""
    return re.findall(r"[a-z0-9#$%]+", text.lower())


def telling_tokens(text: str) -> list[str]:
    """Return the tokens without stop words; all tokens when only stop words exist."""
    all_tokens = tokens(text)
    return [token for token in all_tokens if token not in STOP_WORDS] or all_tokens


def segments(words: Sequence[PlacedWord], gap: float = GAP) -> list[list[int]]:
    """Return word indices grouped into segments of lines.

    Words join a line when their centres are close. A line is split after a colon and at spaces wider than `gap` line
    heights. Lines run from top to bottom, words from left to right.
    """
    pieces: list[list[int]] = []
    for members, height in _lines(words):
        members.sort(key=lambda index: words[index].box[0])
        piece = [members[0]]
        for left, right in pairwise(members):
            space = words[right].box[0] - words[left].box[2]
            if space > gap * max(8, height) or words[left].text.endswith(":"):
                pieces.append(piece)
                piece = []
            piece.append(right)
        pieces.append(piece)
    return pieces


def _lines(words: Sequence[PlacedWord]) -> list[tuple[list[int], float]]:
    """Return the lines of the page: word indices, and the mean height of the line in pixels."""
    members: list[list[int]] = []
    centres: list[float] = []
    heights: list[float] = []
    middle = [(word.box[1] + word.box[3]) / 2 for word in words]
    for index in sorted(range(len(words)), key=middle.__getitem__):
        height = words[index].box[3] - words[index].box[1]
        home = None
        # Words are sorted by vertical position, so only the last few lines can still take one.
        for line in range(max(0, len(members) - 12), len(members)):
            if abs(centres[line] - middle[index]) < 0.5 * max(8, min(height, heights[line])):
                home = line
        if home is None:
            members.append([index])
            centres.append(middle[index])
            heights.append(height)
        else:
            members[home].append(index)
            count = len(members[home])
            centres[home] += (middle[index] - centres[home]) / count
            heights[home] += (height - heights[home]) / count
    return list(zip(members, heights, strict=True))


def prepare(words: Sequence[PlacedWord]) -> BaselinePage:
    """Compute everything about a page that does not depend on the question."""
    parts = segments(words)
    word_tokens = [tokens(word.text) for word in words]
    index_of: dict[str, int] = {}
    for of_word in word_tokens:
        for token in of_word:
            index_of.setdefault(token, len(index_of))
    runs = _runs(words, parts, word_tokens, index_of)
    runs_with: list[list[int]] = [[] for _ in index_of]
    for at, run in enumerate(runs):
        for token_index in set(run.tokens):
            runs_with[token_index].append(at)
    return BaselinePage(
        words=words,
        segments=parts,
        bounds=[_bounds(words, part) for part in parts],
        runs=runs,
        vocabulary=list(index_of),
        runs_with=runs_with,
        cheapest=max(range(len(runs)), key=lambda at: _extras(runs[at], 0), default=None),
        frequency=Counter(token for of_word in word_tokens for token in set(of_word)),
    )


def _runs(
    words: Sequence[PlacedWord], parts: list[list[int]], word_tokens: list[list[str]], index_of: dict[str, int]
) -> list[Run]:
    runs = []
    for at, part in enumerate(parts):
        for start in range(len(part)):
            every: list[int] = []
            telling: list[int] = []
            for end in range(start + 1, min(len(part), start + LONGEST_KEY) + 1):
                of_word = word_tokens[part[end - 1]]
                every += [index_of[token] for token in of_word]
                telling += [index_of[token] for token in of_word if token not in STOP_WORDS]
                if every:
                    colon = words[part[end - 1]].text.endswith(":")
                    runs.append(Run(at, start, end, tuple(telling or every), colon))
    return runs


def predict(page: BaselinePage | Sequence[PlacedWord], question: str) -> list[int]:
    """Return the indices of the answer's words; none without a key or without text beside it.

    `page`: prepared page, or its words (prepared at every call).
    """
    if not isinstance(page, BaselinePage):
        page = prepare(page)
    run = best_run(page, question)
    if run is None:
        return []
    part = page.segments[run.segment]
    return part[run.end :] or _beside(page, part[run.start : run.end])


def best_run(page: BaselinePage, question: str) -> Run | None:
    """Return the run of words most similar to the question, the first of equals; None without tokens."""
    if page.cheapest is None:
        return None
    asked = telling_tokens(question)
    weights = [math.log(1 + len(page.words) / (1 + page.frequency.get(token, 0))) for token in asked]
    alike = [
        {
            index: ratio
            for _, ratio, index in process.extract_iter(
                token, page.vocabulary, scorer=fuzz.ratio, score_cutoff=ALIKE
            )
        }
        for token in asked
    ]  # fmt: skip
    candidates = {at for ratios in alike for index in ratios for at in page.runs_with[index]}
    candidates.add(page.cheapest)
    return page.runs[max(sorted(candidates), key=lambda at: _score(page.runs[at], weights, alike))]


def _score(run: Run, weights: list[float], alike: list[dict[int, float]]) -> float:
    score, used = 0.0, set()
    for weight, ratios in zip(weights, alike, strict=True):
        ratio, at = max((ratios.get(index, 0.0), at) for at, index in enumerate(run.tokens))
        if ratio >= ALIKE:
            score += weight * ratio / 100
            used.add(at)
        else:
            score -= 0.3 * weight
    return score + _extras(run, len(used))


def _extras(run: Run, used: int) -> float:
    """Return the penalty of a run for unmatched tokens, less the bonus for a colon."""
    return 0.5 * run.ends_with_colon - (len(run.tokens) - used)


def _beside(page: BaselinePage, key: list[int]) -> list[int]:
    """Return the nearest segment right of or below a key; right only when the key ends its segment."""
    x0, y0, x1, y1 = _bounds(page.words, key)
    height = max(8, y1 - y0)
    best: tuple[float, list[int]] = (math.inf, [])
    for part, bounds in zip(page.segments, page.bounds, strict=True):
        if part[-1] == key[-1]:
            part = part[: -len(key)]
            if not part:
                continue
            bounds = _bounds(page.words, part)
        if page.words[part[-1]].text.endswith(":"):
            continue
        level = min(y1, bounds[3]) - max(y0, bounds[1])
        column = min(x1, bounds[2]) - max(x0, bounds[0])
        if level > 0.4 * min(bounds[3] - bounds[1], y1 - y0) and bounds[0] >= x1 - 4:
            distance = bounds[0] - x1
        elif column > 0 and bounds[1] >= y1 - 4 and bounds[1] - y1 < 4 * height:
            # A value below is preferred to one right of the key only when it is much nearer.
            distance = (bounds[1] - y1) * 3 + 60
        else:
            continue
        if distance < best[0]:
            best = (distance, part)
    return best[1]


def _bounds(words: Sequence[PlacedWord], indices: list[int]) -> FloatBox:
    boxes = [words[index].box for index in indices]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
