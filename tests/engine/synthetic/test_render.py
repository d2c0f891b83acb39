"""The picture and the words are of the same page: ink is where the boxes say, with fonts of the system or without."""

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.synthetic import KINDS, SyntheticPage, generate_kind
from engine.synthetic.canvas import Canvas, Face, Figure
from engine.synthetic.figures import draw_figure
from engine.synthetic.fonts import FOLDERS, Fonts
from engine.synthetic.render import draw_clean
from engine.synthetic.scan import apply_wear

NOWHERE = (Path("/nowhere"),)


def ink_of(made: SyntheticPage, folders: tuple[Path, ...]) -> np.ndarray:
    """What was drawn of the text alone: bool [H, W]."""
    canvas = made.canvas
    canvas.rules, canvas.figures, canvas.panels = [], [], []
    image = draw_clean(canvas, made.page.width, made.page.height, random.Random(1), folders)
    return np.asarray(image.convert("L")) < 200


@pytest.mark.parametrize("folders", [FOLDERS, NOWHERE], ids=["fonts of the system", "no fonts installed"])
@pytest.mark.parametrize("kind", KINDS)
def test_ink_is_inside_the_boxes_of_words_and_every_word_has_some(kind: str, folders: tuple[Path, ...]) -> None:
    for made in islice(generate_kind(kind, 12), 2):
        ink = ink_of(made, folders)
        inside = np.zeros_like(ink)
        empty = 0
        pieces = [piece for piece in made.canvas.pieces if piece.drawn]
        for piece in pieces:
            loose = 0.08 * piece.face.size + 1 if piece.face.family != "hand" else 0.3 * piece.face.size
            x0, y0, x1, y1 = piece.box(tight=False)
            box = (slice(max(0, round(y0 - loose)), round(y1 + loose)), slice(max(0, round(x0 - 1)), round(x1 + 2)))
            inside[box] = True
            empty += not ink[box].any()
        assert empty <= 0.02 * len(pieces)
        assert (ink & ~inside).sum() < 0.01 * ink.sum()


@pytest.mark.parametrize(
    "kind", ["tick-box", "tick-line", "tick-round", "signature", "stamp", "seal", "barcode", "logo", "chart"]
)
@pytest.mark.parametrize("seed", range(4))
def test_a_figure_stays_inside_its_box_and_fills_it(kind: str, seed: int) -> None:
    image = Image.new("RGB", (300, 200), "white")
    figure = Figure(kind, (60, 50, 220, 120), seed, "PAID|4 May 2019", ticked=True)
    draw_figure(image, figure, Fonts(random.Random(seed)))
    ink = np.asarray(image.convert("L")) < 250
    ys, xs = np.nonzero(ink)
    assert xs.min() >= 60
    assert ys.min() >= 50
    assert xs.max() < 220
    assert ys.max() < 120
    # A box to tick and a seal are as wide as they are high.
    assert xs.max() - xs.min() > 0.5 * 160 or (kind in ("tick-box", "seal") and ys.max() - ys.min() > 0.9 * 70)
    assert ink.sum() > 60


def test_a_figure_that_nobody_can_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="'dragon'"):
        draw_figure(Image.new("RGB", (9, 9)), Figure("dragon", (0, 0, 5, 5), 1), Fonts(random.Random(1)))


def test_a_ticked_box_holds_more_ink_than_an_empty_one() -> None:
    for shape in ("tick-box", "tick-line", "tick-round"):
        dark = []
        for ticked in (False, True):
            image = Image.new("RGB", (40, 40), "white")
            draw_figure(image, Figure(shape, (8, 8, 30, 30), 3, ticked=ticked), Fonts(random.Random(1)))
            dark.append((255 - np.asarray(image.convert("L"), np.float32)).sum())
        assert dark[1] > 1.3 * dark[0]


@pytest.mark.parametrize("seed", range(12))
def test_wear_moves_nothing(seed: int) -> None:
    """A black bar stays where it was, however the page was copied."""
    image = Image.new("RGB", (240, 320), "white")
    image.paste((0, 0, 0), (60, 100, 180, 140))
    worn = np.asarray(apply_wear(image, random.Random(seed)).convert("L"), np.float32)
    assert worn.shape == (320, 240)
    bar = worn[104:136, 66:174].mean()
    around = np.concatenate([worn[60:94].ravel(), worn[146:180].ravel()]).mean()
    assert around - bar > 60


def test_the_same_page_gives_the_same_picture() -> None:
    pictures = [next(generate_kind("form", 3)).render() for _ in range(2)]
    assert pictures[0].mode == "RGB"
    assert pictures[0].tobytes() == pictures[1].tobytes()


def test_a_word_that_is_too_wide_for_its_line_is_set_narrower() -> None:
    canvas = Canvas(200, 300, random.Random(1), Face("sans", 14))
    written = canvas.write("incomprehensibilities", 20, 20, right=90)
    box = canvas.box_of(written.pieces)
    assert written.whole
    assert box[2] <= 91
