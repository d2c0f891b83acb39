"""Layout of a receipt, printed line by line."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.synthetic.canvas import Canvas, Role


@dataclass(slots=True)
class ReceiptLayout:
    """Receipt during printing; `y`: top of the next line in pixels."""

    canvas: Canvas
    rng: random.Random
    y: float
    left: float
    right: float
    leading: float  # ems from line to line
    case: Callable[[str], str]
    ending: str  # after keys
    value_x: float | None  # start of aligned values
    centred: bool
    dates: list[list[int]] = field(default_factory=list)
    times: list[list[int]] = field(default_factory=list)
    numbers: dict[str, list[int]] = field(default_factory=dict)  # name in META -> its pieces

    @property
    def em(self) -> float:
        """Return the size of an em in pixels."""
        return self.canvas.face.size

    def feed(self, lines: float = 1.0) -> None:
        """Advance by some lines."""
        self.y += lines * self.leading * self.em

    def line(
        self, text: str, factor: float = 1.0, *, centred: bool | None = None, bold: bool = False, role: Role = "text"
    ) -> list[int]:
        """Print a line of its own; return its pieces."""
        face = self.canvas.face.scale(factor, bold=bold)
        if self.centred if centred is None else centred:
            middle = (self.left + self.right) / 2
            written = self.canvas.write_centre(self.case(text), self.y, centre=middle, face=face, role=role)
        else:
            written = self.canvas.write(self.case(text), self.left, self.y, right=self.right, face=face, role=role)
        self.y = written.top + self.leading * face.size
        return written.pieces

    def dashes(self, share: float = 0.35) -> None:
        """Sometimes print a dividing line: drawn, or of characters that OCR may read as a word."""
        if self.rng.random() > share:
            return
        form = self.rng.random()
        if form < 0.5:
            self.canvas.rule(self.left, self.y + 0.3 * self.em, self.right, self.y + 0.3 * self.em, dash=self.em * 0.4)
        else:
            sign = self.rng.choice("-=*_")
            count = int((self.right - self.left) / max(1.0, self.canvas.face.width(sign)))
            self.canvas.write(sign * count, self.left, self.y, right=self.right)
        self.feed()

    def pair(self, key: str, values: list[str], *, x: float | None = None, feed: bool = True) -> list[list[int]]:
        """Print a key and its values on one line, without an empty key; return the pieces of each value."""
        x = self.left if x is None else x
        at = x
        if key:
            at = (
                self.canvas.write(self.case(key) + self.ending, x, self.y, right=self.right, role="key").right
                + 0.4 * self.em
            )
            if self.value_x is not None and x == self.left:
                if at < self.value_x - 1.2 * self.em and self.ending.strip() == "" and self.rng.random() < 0.5:
                    self.canvas.write(":", self.value_x - 0.7 * self.em, self.y, role="key")
                at = max(at, self.value_x)
        value_pieces = []
        if key and self.ending.strip() and at != self.value_x and self.rng.random() < 0.2:
            # No space between key and value, or none after the colon: OCR joins them to one word.
            values = [f":{values[0]}", *values[1:]]
        for text in values:
            written = self.canvas.write(self.case(text), at, self.y, right=self.right, role="value")
            value_pieces.append(written.pieces)
            at = written.right + self.em * self.rng.uniform(0.4, 1.6)
            self.y = written.top
        if feed:
            self.feed()
        return value_pieces
