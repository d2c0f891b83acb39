"""Simulated OCR of a page: words with boxes, with recognition errors.

Errors change the words only, never the image. A word records its source pieces, so that answers survive splits and
merges.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, digits

from engine.synthetic.misreadings import shipped
from engine.synthetic.sheet import FloatBox, Piece


@dataclass(frozen=True, slots=True)
class Reading:
    """Quality of OCR; each rate is a probability per word (`slips`: per character)."""

    slips: float = 0.0
    splits: float = 0.0  # after punctuation inside a word
    merges: float = 0.0  # with the next word of the line
    losses: float = 0.0
    jitter: float = 0.0  # of edges, in line heights
    looseness: float = 0.0  # added above and below, in line heights
    tight: bool = False  # boxes follow the ink of each word, otherwise of the line
    even: bool = False  # widths by number of characters, as when a line's box is divided among its words

    @classmethod
    def drawn(cls, chance: random.Random) -> Reading:
        """Draw a quality at random: half of the pages are read as by our engine, the rest as by others' and by hand."""
        real = chance.random() < 0.5
        model = shipped()
        return cls(
            slips=model.rate(chance) if real else chance.choice((0.0, 0.0, 0.0, 0.005, 0.01, 0.03, 0.06)),
            splits=chance.choice((0.0, 0.0, 0.0, 0.3, 0.8)),
            merges=model.merges if real else chance.choice((0.0, 0.0, 0.0, 0.01, 0.04)),
            losses=model.losses if real else chance.choice((0.0, 0.0, 0.0, 0.01)),
            jitter=chance.uniform(0.0, 0.1),
            looseness=chance.uniform(-0.02, 0.2),
            tight=chance.random() < 0.35,
            even=chance.random() < 0.2,
        )


@dataclass(slots=True)
class ReadWord:
    """Recognised word; `sources`: piece index -> number of its characters here."""

    text: str
    box: FloatBox
    sources: dict[int, int]


def read(pieces: Sequence[Piece], reading: Reading, chance: random.Random) -> list[ReadWord]:
    """Return the words of a page in layout order, with the errors of `reading`."""
    boxes = [piece.box(tight=reading.tight) for piece in pieces]
    if reading.even:
        boxes = _evened(pieces, boxes)
    read_words: list[ReadWord] = []
    line = -1
    for index, (piece, box) in enumerate(zip(pieces, boxes, strict=True)):
        if reading.losses and chance.random() < reading.losses:
            continue
        parts = _split(piece, box, index, reading, chance)
        same_line = piece.line == line and read_words
        if same_line and reading.merges and chance.random() < reading.merges:
            before = read_words[-1]
            if 0 < parts[0].box[0] - before.box[2] < 0.8 * (box[3] - box[1]):
                parts[0] = _joined(before, parts[0])
                read_words.pop()
        line = piece.line
        read_words += parts
    for word in read_words:
        if reading.slips:
            word.text = _slipped(word.text, reading.slips, chance)
        word.box = _shaken(word.box, reading, chance)
    return read_words


def _split(piece: Piece, box: FloatBox, index: int, reading: Reading, chance: random.Random) -> list[ReadWord]:
    texts = [piece.text]
    if reading.splits and piece.upright:
        cut = [at.end() for at in re.finditer(r"[./,)\-:](?=\w)|\w(?=[($%#&])", piece.text)]
        cut = [at for at in cut if chance.random() < reading.splits]
        texts = [piece.text[a:b] for a, b in zip([0, *cut], [*cut, len(piece.text)], strict=True)]
    if len(texts) == 1:
        return [ReadWord(piece.text, box, {index: len(piece.text)})]
    x0, y0, x1, y1 = box
    step = (x1 - x0) / len(piece.text)
    parts, done = [], 0
    for text in texts:
        parts.append(
            ReadWord(text, (x0 + done * step, y0, x0 + (done + len(text) - 0.15) * step, y1), {index: len(text)})
        )
        done += len(text)
    return parts


def _joined(left: ReadWord, right: ReadWord) -> ReadWord:
    box = (left.box[0], min(left.box[1], right.box[1]), right.box[2], max(left.box[3], right.box[3]))
    return ReadWord(left.text + right.text, box, left.sources | right.sources)


def _slipped(text: str, rate: float, chance: random.Random) -> str:
    """Misread each letter with probability `rate`; a letter that was never misread becomes any other."""
    if chance.random() > rate * len(text):  # most words have no slip
        return text
    at = chance.randrange(len(text))
    read = [_read_for(letter, chance) if place == at or chance.random() < rate else letter
            for place, letter in enumerate(text)]  # fmt: skip
    return "".join(read).replace(" ", "") or text


def _read_for(letter: str, chance: random.Random) -> str:
    other = shipped().misread(letter, chance)
    return chance.choice(ascii_lowercase + digits) if other is None else other


def _shaken(box: FloatBox, reading: Reading, chance: random.Random) -> FloatBox:
    x0, y0, x1, y1 = box
    height = min(y1 - y0, x1 - x0 + (y1 - y0) * 0.5)
    loose, shake = reading.looseness * height, reading.jitter * height
    if not shake:  # words of a text layer
        return (x0, y0 - loose, x1, y1 + loose)
    return (
        x0 + chance.gauss(0, shake),
        y0 - loose + chance.gauss(0, shake),
        x1 + chance.gauss(0, shake),
        y1 + loose + chance.gauss(0, shake),
    )


def _evened(pieces: Sequence[Piece], boxes: list[FloatBox]) -> list[FloatBox]:
    lines: dict[int, list[int]] = {}
    for index, piece in enumerate(pieces):
        if piece.upright:
            lines.setdefault(piece.line, []).append(index)
    evened = list(boxes)
    for members in lines.values():
        left, right = boxes[members[0]][0], boxes[members[-1]][2]
        signs = sum(len(pieces[at].text) for at in members) + len(members) - 1
        step = (right - left) / max(1, signs)
        done = 0
        for at in members:
            length = len(pieces[at].text)
            evened[at] = (left + done * step, boxes[at][1], left + (done + length) * step, boxes[at][3])
            done += length + 1
    return evened
