"""The contact sheet: all pages small on one picture, their answers tinted."""

from itertools import islice

import numpy as np
import pytest
from PIL import Image

from engine.synthetic import generate_kind
from engine.synthetic.contact_sheet import ContactSheet, contact_sheet


def test_all_pages_are_on_the_sheet_side_by_side() -> None:
    pages = list(islice(generate_kind("certificate", 2), 5))
    sheet = contact_sheet(pages, side=120, columns=3)
    assert sheet.width == 3 * 120 + 4 * 12
    assert 2 * 80 < sheet.height < 2 * (180 + 32) + 12


def test_words_of_answers_are_tinted_and_nothing_else_is() -> None:
    made = next(page for page in generate_kind("table", 3) if not any(asked.figures for asked in page.canvas.asked))
    small = ContactSheet(side=made.page.width)
    small.add(made, Image.new("RGB", (made.page.width, made.page.height), "white"))
    pixels = np.asarray(small.pictures[0])[: min(made.page.height, small.tallest)]
    coloured = pixels[..., 2] < 250
    (x0, y0, x1, y1) = next(made.page.words[q.answers[0][0]].box for q in made.page.questions if q.answers)
    assert coloured[y0 + 1 : y1 - 1, x0 + 1 : x1 - 1].all()
    assert 0 < coloured.mean() < 0.5


def test_a_sheet_without_pages_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one page"):
        contact_sheet([])
