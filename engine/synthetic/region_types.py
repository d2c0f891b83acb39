"""Typed regions of a generated page, for probes of image features."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic.assemble import SyntheticPage
from model.boxes import FloatBox

REGION_TYPES = ("heading", "key", "value", "cell", "text", "box", "figure")  # "box" is a checkbox


@dataclass(frozen=True, slots=True)
class TypedRegion:
    """Region of a page: a line of text by its role, a checkbox, or a figure.

    Roles are heading, key, value, cell and running text; figures are signatures, stamps, logos, bar codes and charts.
    `box`: pixels of the page; `words`: indices of the page's words inside.
    """

    kind: str
    box: FloatBox
    words: tuple[int, ...]


def typed_regions(made: SyntheticPage) -> list[TypedRegion]:
    """Return the regions of a page, texts first, in layout order; none empty or off the page."""
    lines: dict[int, list[int]] = {}
    for number, piece in enumerate(made.canvas.pieces):
        if piece.drawn and piece.upright:
            lines.setdefault(piece.line, []).append(number)
    regions = [(str(made.canvas.pieces[group[0]].role), made.canvas.box_of(group)) for group in lines.values()]
    regions += [("box" if figure.kind.startswith("tick-") else "figure", figure.box) for figure in made.canvas.figures]
    return [
        TypedRegion(kind, box, _words_in(made, box))
        for kind, box in regions
        if min(box[2], made.page.width) - max(box[0], 0) >= 1 and min(box[3], made.page.height) - max(box[1], 0) >= 1
    ]


def _words_in(made: SyntheticPage, box: FloatBox) -> tuple[int, ...]:
    """Return the words whose centre lies in a box."""
    indices = []
    for number, word in enumerate(made.page.words):
        x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
        if box[0] <= x <= box[2] and box[1] <= y <= box[3]:
            indices.append(number)
    return tuple(indices)
