"""Layout engine: a canvas with text set word by word, each with its box, and drawn lines and figures.

No font is needed: widths come from `metrics`. A canvas can be read as words (`ocr`) and drawn (`render`). Coordinates
are pixels of the page, y downwards.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal

from engine.synthetic.metrics import ASCENT, DESCENT, extent_of, width_of
from model.boxes import FloatBox

Role = Literal["heading", "key", "value", "cell", "text"]  # role of a text on its page


@dataclass(frozen=True, slots=True)
class Face:
    """Look of a text.

    `size`: pixels of an em; `stretch`: horizontal; `ink`: colour of the text, 0 black; `shake`: vertical deviation of
    handwritten words, in ems.
    """

    family: str = "sans"
    size: float = 14.0
    bold: bool = False
    italic: bool = False
    stretch: float = 1.0
    ink: tuple[int, int, int] = (0, 0, 0)
    shake: float = 0.0

    def width(self, text: str) -> float:
        """Return the advance width in pixels."""
        return width_of(text, self.family) * self.size * self.stretch * (1.06 if self.bold else 1.0)

    @property
    def space(self) -> float:
        """Return the width of a space in pixels."""
        return width_of(" ", self.family) * self.size * self.stretch

    @property
    def height(self) -> float:
        """Return the height from the tops of capitals to the feet of descenders, in pixels."""
        return (ASCENT + DESCENT) * self.size

    def scale(self, factor: float, *, bold: bool | None = None) -> Face:
        """Return the face at another size."""
        return replace(self, size=self.size * factor, bold=self.bold if bold is None else bold)


@dataclass(slots=True)
class Piece:
    """Word after layout: ink starts at `x`, on `baseline`, `width` pixels wide.

    `drawn` False: for OCR only, its look comes from a `Figure` (a ticked box read as "X"). `upright` False: set from
    bottom to top along the page's side.
    """

    text: str
    x: float
    baseline: float
    width: float
    face: Face
    line: int
    drawn: bool = True
    upright: bool = True
    role: Role = "text"

    def box(self, *, tight: bool) -> FloatBox:
        """Return the box of the ink: of the word's own characters when tight, else of a line of its face."""
        size = self.face.size
        above, below = extent_of(self.text) if tight else (ASCENT, DESCENT)
        if not self.upright:
            return (self.x - above * size, self.baseline - self.width, self.x + below * size, self.baseline)
        return (self.x, self.baseline - above * size, self.x + self.width, self.baseline + below * size)


@dataclass(frozen=True, slots=True)
class Rule:
    """Straight line."""

    x0: float
    y0: float
    x1: float
    y1: float
    width: float = 1.0
    ink: tuple[int, int, int] = (0, 0, 0)
    dash: float = 0.0  # length of dashes, 0 solid


@dataclass(frozen=True, slots=True)
class Panel:
    """Filled rectangle behind the text."""

    box: FloatBox
    fill: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure without text: checkbox, signature, stamp. `kind` selects the drawing, `seed` varies it."""

    kind: str
    box: FloatBox
    seed: int
    text: str = ""
    ticked: bool = False
    ink: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Asked:
    """Question with acceptable answers as piece indices, and `figures` that answer it as regions."""

    question: str
    answers: list[list[int]]
    printed_key: bool = True
    figures: list[Figure] = field(default_factory=list)
    region_type: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """Result of `Canvas.write`: piece indices, right end, top of the last line, and whether all fitted."""

    pieces: list[int]
    right: float
    top: float
    whole: bool


def break_lines(face: Face, text: str, room: float) -> list[str]:
    """Return the text wrapped to `room` pixels where words allow it; no lines for an empty text."""
    lines: list[str] = []
    for word in text.split():
        if lines and face.width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


class Canvas:
    """Page during layout."""

    def __init__(self, width: float, height: float, rng: random.Random, face: Face) -> None:
        self.width = width
        self.height = height
        self.rng = rng
        self.face = face
        self.pieces: list[Piece] = []
        self.rules: list[Rule] = []
        self.panels: list[Panel] = []
        self.figures: list[Figure] = []
        self.asked: list[Asked] = []
        self.tables: list[Figure] = []  # regions of tables; not drawn as figures
        self.lines = 0

    def write(
        self,
        text: str,
        x: float,
        y: float,
        *,
        right: float = inf,
        face: Face | None = None,
        hang: float | None = None,
        leading: float = 1.35,
        loose: float = 0.0,
        role: Role = "text",
    ) -> Written:
        """Set a text from (x, y), the top of its capitals; a share `loose` of its spaces is widened.

        Words that would pass `right` wrap to `hang` (x when None); a word wider than a line is narrowed. Words below
        the foot of the page are dropped, and `whole` is False.
        """
        face = face or self.face
        rng, size, space = self.rng, face.size, face.space
        home = x if hang is None else hang
        limit = min(right, self.width - 2)
        set_pieces: list[int] = []
        self.lines += 1
        start, wide = x, 0.0
        for word in text.split():
            width = face.width(word)
            if x + width > limit and x > home + 1:
                x, y = home, y + size * leading
                self.lines += 1
                start = x
            if y + face.height > self.height:
                return Written(set_pieces, x, y, False)
            if x == start and x + width > limit:
                width = max(limit - x, 0.45 * width)
            lift = rng.uniform(-face.shake, face.shake) * size if face.shake else 0.0
            set_pieces.append(len(self.pieces))
            self.pieces.append(Piece(word, x, y + ASCENT * size + lift, width, face, self.lines, role=role))
            x += width + space * (rng.uniform(0.8, 1.7) if face.shake else 1.0)
            wide = space * rng.uniform(1.5, 9.0) if loose and rng.random() < loose else 0.0
            x += wide
        return Written(set_pieces, x - space - wide if set_pieces else x, y, True)

    def write_fitted(
        self, text: str, x: float, y: float, right: float, *, face: Face | None = None, role: Role = "text"
    ) -> Written:
        """Set a single line, narrowed when it would pass `right`."""
        face = face or self.face
        wide = face.width(text)
        if x + wide > right:
            face = replace(face, stretch=face.stretch * max(0.5, (right - x) / wide))
        return self.write(text, x, y, face=face, role=role)

    def write_right(
        self, text: str, right: float, y: float, *, face: Face | None = None, role: Role = "text"
    ) -> Written:
        """Set a single line that ends at `right`."""
        face = face or self.face
        return self.write(text, max(2.0, right - face.width(text)), y, face=face, role=role)

    def write_centre(
        self, text: str, y: float, *, centre: float | None = None, face: Face | None = None, role: Role = "text"
    ) -> Written:
        """Set a text around `centre` (the page's middle when None); a long one fills lines from the margin."""
        face = face or self.face
        middle = self.width / 2 if centre is None else centre
        x = middle - face.width(text) / 2
        margin = face.size * 0.6
        if x < margin:
            return self._write_centred_lines(text, y, middle, margin, face, role)
        return self.write(text, x, y, face=face, right=self.width - margin, role=role)

    def _write_centred_lines(
        self, text: str, y: float, middle: float, margin: float, face: Face, role: Role
    ) -> Written:
        room = 2 * (min(middle, self.width - middle) - margin)
        lines = break_lines(face, text, room)
        pieces: list[int] = []
        written = Written([], middle, y, True)
        for at, line in enumerate(lines):
            x = max(margin, middle - face.width(line) / 2)
            written = self.write(line, x, y + at * face.size * 1.3, face=face, right=self.width - margin, role=role)
            pieces += written.pieces
        return Written(pieces, written.right, written.top, written.whole)

    def write_upwards(self, text: str, x: float, y: float, *, face: Face | None = None) -> None:
        """Set a word along the side of the page, from the bottom up."""
        face = face or self.face
        self.lines += 1
        self.pieces.append(Piece(text, x, y, face.width(text), face, self.lines, upright=False))

    def read_only(self, text: str, box: FloatBox) -> int:
        """Add a word that OCR would read in a figure; return its index."""
        self.lines += 1
        size = (box[3] - box[1]) / (ASCENT + DESCENT)
        face = replace(self.face, size=size)
        self.pieces.append(Piece(text, box[0], box[1] + ASCENT * size, box[2] - box[0], face, self.lines, drawn=False))
        return len(self.pieces) - 1

    def rule(self, x0: float, y0: float, x1: float, y1: float, width: float = 1.0, dash: float = 0.0) -> None:
        """Draw a line."""
        self.rules.append(Rule(x0, y0, x1, y1, width, dash=dash))

    def frame(self, box: FloatBox, width: float = 1.0) -> None:
        """Draw a rectangular frame."""
        x0, y0, x1, y1 = box
        self.rules += [Rule(x0, y0, x1, y0, width), Rule(x0, y1, x1, y1, width)]
        self.rules += [Rule(x0, y0, x0, y1, width), Rule(x1, y0, x1, y1, width)]

    def figure(
        self, kind: str, box: FloatBox, text: str = "", *, ticked: bool = False, ink: tuple[int, int, int] = (0, 0, 0)
    ) -> Figure:
        """Add a figure."""
        figure = Figure(kind, box, self.rng.randrange(1 << 30), text, ticked, ink)
        self.figures.append(figure)
        return figure

    def ask(
        self,
        question: str,
        *answers: list[int],
        printed_key: bool = True,
        figures: list[Figure] | None = None,
        region_type: str | None = None,
    ) -> None:
        """Add a question; without answers and figures it is a negative one."""
        nonempty = [answer for answer in answers if answer]
        self.asked.append(Asked(question, nonempty, printed_key, figures or [], region_type))

    def table(self, box: FloatBox) -> None:
        """Record the region of a table."""
        self.tables.append(Figure("table", box, 0))

    def state(self) -> tuple[int, ...]:
        """Return the amount of content, for `back_to`."""
        return tuple(len(content) for content in self._contents())

    def back_to(self, state: tuple[int, ...]) -> None:
        """Remove everything added since `state`."""
        for content, count in zip(self._contents(), state, strict=True):
            del content[count:]

    def _contents(self) -> tuple[list[Any], ...]:
        return (self.pieces, self.rules, self.panels, self.figures, self.asked, self.tables)

    def collides(self, first: int) -> bool:
        """Return whether a word since piece `first` overlaps another word."""
        boxes = [piece.box(tight=True) for piece in self.pieces]
        for at in range(first, len(boxes)):
            x0, y0, x1, y1 = boxes[at]
            for u0, v0, u1, v1 in boxes[:at]:
                if u0 < x1 and x0 < u1 and v0 < y1 and y0 < v1:
                    shared = (min(x1, u1) - max(x0, u0)) * (min(y1, v1) - max(y0, v0))
                    if shared > 0.15 * min((x1 - x0) * (y1 - y0), (u1 - u0) * (v1 - v0)):
                        return True
        return False

    def box_of(self, pieces: list[int]) -> FloatBox:
        """Return the box around pieces, with line heights."""
        boxes = [self.pieces[at].box(tight=False) for at in pieces]
        return (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )
