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

from engine.synthetic.canvas import Piece
from engine.synthetic.misreadings import load_shipped_model
from model.boxes import FloatBox


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
    def sample(cls, rng: random.Random) -> Reading:
        """Draw a quality at random: half of the pages are read as by our engine, the rest as by others' and by hand."""
        real = rng.random() < 0.5
        model = load_shipped_model()
        return cls(
            slips=model.rate(rng) if real else rng.choice((0.0, 0.0, 0.0, 0.005, 0.01, 0.03, 0.06)),
            splits=rng.choice((0.0, 0.0, 0.0, 0.3, 0.8)),
            merges=model.merges if real else rng.choice((0.0, 0.0, 0.0, 0.01, 0.04)),
            losses=model.losses if real else rng.choice((0.0, 0.0, 0.0, 0.01)),
            jitter=rng.uniform(0.0, 0.1),
            looseness=rng.uniform(-0.02, 0.2),
            tight=rng.random() < 0.35,
            even=rng.random() < 0.2,
        )


@dataclass(slots=True)
class ReadWord:
    """Recognised word; `sources`: piece index -> number of its characters here."""

    text: str
    box: FloatBox
    sources: dict[int, int]


def read_pieces(pieces: Sequence[Piece], reading: Reading, rng: random.Random) -> list[ReadWord]:
    """Return the words of a page in layout order, with the errors of `reading`."""
    boxes = [piece.box(tight=reading.tight) for piece in pieces]
    if reading.even:
        boxes = _even_widths(pieces, boxes)
    read_words: list[ReadWord] = []
    line = -1
    for index, (piece, box) in enumerate(zip(pieces, boxes, strict=True)):
        if reading.losses and rng.random() < reading.losses:
            continue
        parts = _split_piece(piece, box, index, reading, rng)
        same_line = piece.line == line and read_words
        if same_line and reading.merges and rng.random() < reading.merges:
            before = read_words[-1]
            if 0 < parts[0].box[0] - before.box[2] < 0.8 * (box[3] - box[1]):
                parts[0] = _join_words(before, parts[0])
                read_words.pop()
        line = piece.line
        read_words += parts
    for word in read_words:
        if reading.slips:
            word.text = _misread_letters(word.text, reading.slips, rng)
        word.box = _shake_box(word.box, reading, rng)
    return read_words


def _split_piece(piece: Piece, box: FloatBox, index: int, reading: Reading, rng: random.Random) -> list[ReadWord]:
    texts = [piece.text]
    if reading.splits and piece.upright:
        cut = [at.end() for at in re.finditer(r"[./,)\-:](?=\w)|\w(?=[($%#&])", piece.text)]
        cut = [at for at in cut if rng.random() < reading.splits]
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


def _join_words(left: ReadWord, right: ReadWord) -> ReadWord:
    box = (left.box[0], min(left.box[1], right.box[1]), right.box[2], max(left.box[3], right.box[3]))
    return ReadWord(left.text + right.text, box, left.sources | right.sources)


def _misread_letters(text: str, rate: float, rng: random.Random) -> str:
    """Misread each letter with probability `rate`; a letter that was never misread becomes any other."""
    if rng.random() > rate * len(text):  # most words have no slip
        return text
    at = rng.randrange(len(text))
    read_pieces = [_misread_letter(letter, rng) if place == at or rng.random() < rate else letter
            for place, letter in enumerate(text)]  # fmt: skip
    return "".join(read_pieces).replace(" ", "") or text


def _misread_letter(letter: str, rng: random.Random) -> str:
    letter_read = load_shipped_model().misread(letter, rng)
    return rng.choice(ascii_lowercase + digits) if letter_read is None else letter_read


def _shake_box(box: FloatBox, reading: Reading, rng: random.Random) -> FloatBox:
    x0, y0, x1, y1 = box
    height = min(y1 - y0, x1 - x0 + (y1 - y0) * 0.5)
    loose, shake = reading.looseness * height, reading.jitter * height
    if not shake:  # words of a text layer
        return (x0, y0 - loose, x1, y1 + loose)
    return (
        x0 + rng.gauss(0, shake),
        y0 - loose + rng.gauss(0, shake),
        x1 + rng.gauss(0, shake),
        y1 + loose + rng.gauss(0, shake),
    )


def _even_widths(pieces: Sequence[Piece], boxes: list[FloatBox]) -> list[FloatBox]:
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
