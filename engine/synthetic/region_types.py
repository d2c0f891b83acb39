"""What kinds of regions a generated page has, and where: for judging features by whether they tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic.assemble import SyntheticPage
from engine.synthetic.sheet import FloatBox

REGION_TYPES = ("heading", "key", "value", "cell", "text", "box", "figure")  # a box is one to tick


@dataclass(frozen=True, slots=True)
class TypedRegion:
    """A line of a heading, a key, a value, a cell of a table or running text; or a box to tick, or a figure (signature,
    stamp, logo, bar code, chart). `box`: pixels of the page; `words`: those of the page that stand in it, by number."""

    kind: str
    box: FloatBox
    words: tuple[int, ...]


def typed_regions(made: SyntheticPage) -> list[TypedRegion]:
    """The regions of a page, texts first, in the order in which they were set; none of them empty or off the page."""
    lines: dict[int, list[int]] = {}
    for number, piece in enumerate(made.sheet.pieces):
        if piece.drawn and piece.upright:
            lines.setdefault(piece.line, []).append(number)
    found = [(str(made.sheet.pieces[group[0]].role), made.sheet.box_of(group)) for group in lines.values()]
    found += [("box" if figure.kind.startswith("tick-") else "figure", figure.box) for figure in made.sheet.figures]
    return [
        TypedRegion(kind, box, _words_in(made, box))
        for kind, box in found
        if min(box[2], made.page.width) - max(box[0], 0) >= 1 and min(box[3], made.page.height) - max(box[1], 0) >= 1
    ]


def _words_in(made: SyntheticPage, box: FloatBox) -> tuple[int, ...]:
    """Words whose centre lies in a box."""
    found = []
    for number, word in enumerate(made.page.words):
        x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
        if box[0] <= x <= box[2] and box[1] <= y <= box[3]:
            found.append(number)
    return tuple(found)
