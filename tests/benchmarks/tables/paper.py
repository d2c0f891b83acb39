"""Pages on which generated tables are drawn: texts with their places, lines and grounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pymupdf

from model.boxes import FloatBox
from tests.benchmarks.tables.truth import Mark

MARGIN = 44.0  # points, at all sides
_ASCENT, _DESCENT = 0.75, 0.2  # of the size, above and below the base line
_ALLOWANCE = 0.5  # points around a text, so that rounding to pixels leaves its centre inside


@dataclass(slots=True)
class Paper:
    """A document that is being drawn. `y` is the base line of what was drawn last, in points.

    Args:
        face: "helv", "tiro" or "cour".
        size: Of letters, in points.
        width: Of its pages, in points.
        height: Of its pages.
    """

    face: str
    size: float
    width: float
    height: float
    document: pymupdf.Document = field(default_factory=pymupdf.open)
    y: float = 0.0
    _fonts: dict[bool, pymupdf.Font] = field(init=False)
    _writer: pymupdf.TextWriter | None = None

    def __post_init__(self) -> None:
        bold = {"helv": "hebo", "tiro": "tibo", "cour": "cobo"}[self.face]
        self._fonts = {False: pymupdf.Font(self.face), True: pymupdf.Font(bold)}

    @property
    def bottom(self) -> float:
        """Return where the content of a page ends, in points; its footer stands below."""
        return self.height - MARGIN - 2 * self.size

    @property
    def number(self) -> int:
        """Return the number of the page that is being drawn, from 1."""
        return int(self.document.page_count)

    def add_page(self) -> None:
        """Begin a page; the one before it is finished."""
        self.finish()
        page = self.document.new_page(width=self.width, height=self.height)
        self._writer = pymupdf.TextWriter(page.rect)
        self.y = MARGIN + self.size

    def finish(self) -> None:
        """Write the texts of the page over its lines and grounds."""
        if self._writer is not None:
            self._writer.write_text(self.document[-1])
            self._writer = None

    def length(self, text: str, size: float | None = None, bold: bool = False) -> float:
        """Return the width of a text, in points."""
        return float(self._fonts[bold].text_length(text, size or self.size))

    def write(self, x: float, y: float, text: str, *, size: float | None = None, bold: bool = False) -> Mark:
        """Write a text from `x` on the base line `y`, in points; return its place."""
        assert self._writer is not None, "A page must be added before something is written."
        size = size or self.size
        self._writer.append((x, y), text, font=self._fonts[bold], fontsize=size)
        return self._mark((x, y - _ASCENT * size, x + self.length(text, size, bold), y + _DESCENT * size))

    def write_right(self, x: float, y: float, text: str, *, bold: bool = False) -> Mark:
        """Write a text that ends at `x`."""
        return self.write(x - self.length(text, bold=bold), y, text, bold=bold)

    def write_turned(self, x: float, y: float, text: str) -> None:
        """Write a text upwards, by 90 degrees, from the base line `x`, beginning at `y`."""
        name = {"helv": "helv", "tiro": "tiro", "cour": "cour"}[self.face]
        self.document[-1].insert_text((x, y), text, fontname=name, fontsize=self.size, rotate=90)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.6) -> None:
        """Draw a line."""
        self.document[-1].draw_line((x0, y0), (x1, y1), width=width)

    def ground(self, box: FloatBox, grey: float = 0.9) -> None:
        """Fill a box with a ground."""
        self.document[-1].draw_rect(pymupdf.Rect(box), color=None, fill=(grey, grey, grey))

    def wrap(self, text: str, width: float) -> list[str]:
        """Return the lines of a text that is no wider than `width`, in points, where its words allow that."""
        lines = [""]
        for word in text.split(" "):
            longer = f"{lines[-1]} {word}".lstrip()
            if lines[-1] and self.length(longer) > width:
                lines.append(word)
            else:
                lines[-1] = longer
        return lines

    def paragraph(self, texts: Sequence[str], x: float, leading: float = 1.4, bold: bool = False) -> None:
        """Write lines below each other from `x`, and move `y` below them."""
        for text in texts:
            self.write(x, self.y, text, bold=bold)
            self.y += leading * self.size

    def _mark(self, box: FloatBox) -> Mark:
        x0, y0, x1, y1 = box
        spare = _ALLOWANCE
        return Mark(
            self.number,
            (
                round((x0 - spare) / self.width, 5),
                round((y0 - spare) / self.height, 5),
                round((x1 + spare) / self.width, 5),
                round((y1 + spare) / self.height, 5),
            ),
        )
