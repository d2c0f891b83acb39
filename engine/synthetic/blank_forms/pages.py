"""Endless, seeded stream of filled pages of real forms."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from PIL import Image

from engine.synthetic import questions
from engine.synthetic.assemble import SyntheticPage, assemble
from engine.synthetic.blank_forms.asking import Asking, tokens
from engine.synthetic.blank_forms.filler import fill
from engine.synthetic.blank_forms.layout import is_leader
from engine.synthetic.blank_forms.template import FormTemplate, band
from engine.synthetic.draft import page_width
from engine.synthetic.values import value

KIND = "real form"
FEWEST_WORDS = 20
_WHOLE = 0.35  # share of pages that stay whole where they may
_BAND_WORDS = (90, 330)  # of a part of a page
_FEWEST_FIELDS = 4
_ATTEMPTS = 8  # to find a question that a page does not answer
_FEWEST_ANSWERS = 3
Printed = Callable[[FormTemplate, tuple[float, float], tuple[int, int]], Image.Image]


def form_pages(
    templates: Sequence[FormTemplate], seed: int, *, most_words: int | None = None, printed: Printed | None = None
) -> Iterator[SyntheticPage]:
    """Yield filled pages, and parts of pages from edge to edge, without end; equal seeds give equal pages.

    Page n depends only on templates, seed and n.

    Args:
        templates: Blank pages.
        seed: Seed of the draws.
        most_words: Greatest number of words of a page.
        printed: Draws the part of a blank page between two heights, in points, at a size in pixels; to render pages.

    Raises:
        ValueError: There are no templates.
    """
    if not templates:
        raise ValueError("There are no blank forms to fill.")
    weights = [min(len(template.named_fields()), 40) ** 0.5 for template in templates]
    number = 0
    while True:
        attempt = 0
        while (
            page := _page(
                templates,
                weights,
                f"{seed} real form {number} {attempt}",
                f"blank-{seed}-{number}",
                most_words,
                printed,
            )
        ) is None:
            attempt += 1
        yield page
        number += 1


def _page(
    templates: Sequence[FormTemplate],
    weights: Sequence[float],
    name: str,
    page_id: str,
    most_words: int | None,
    printed: Printed | None,
) -> SyntheticPage | None:
    rng = random.Random(name)
    whole = rng.choices(templates, weights)[0]
    extent = _extent(whole, rng, most_words)
    part = whole if extent == (0.0, whole.height) else band(whole, *extent)
    if len(part.named_fields()) < _FEWEST_FIELDS:
        return None
    canvas, filled = fill(part, rng, page_width(rng))
    Asking(part, filled, rng).ask(canvas)
    samples = rng.sample(range(len(templates)), min(6, len(templates)))
    page = assemble(
        canvas, KIND, name, page_id, lambda: _absent(part, [templates[at] for at in samples], rng),
        paper=None if printed is None else lambda size: printed(whole, extent, size),
    )  # fmt: skip
    count = len(page.page.words)
    if count < FEWEST_WORDS or (most_words is not None and count > most_words):
        return None
    return page if sum(bool(question.answers) for question in page.page.questions) >= _FEWEST_ANSWERS else None


def _extent(template: FormTemplate, rng: random.Random, most_words: int | None) -> tuple[float, float]:
    """Return the part of a page to show, from top to bottom in points: all of it, or a band with fewer words."""
    heights = sorted(word.middle for word in template.words if not is_leader(word.text))
    if (most_words is None or len(heights) < 0.85 * most_words) and rng.random() < _WHOLE:
        return (0.0, template.height)
    wanted = rng.randint(*_BAND_WORDS)
    if most_words is not None:
        wanted = min(wanted, round(0.85 * most_words))
    if len(heights) <= wanted:
        return (0.0, template.height)
    first = rng.randint(0, len(heights) - wanted)
    top = 0.0 if first == 0 else _find_cut(template, heights[first])
    bottom = template.height if first + wanted >= len(heights) else _find_cut(template, heights[first + wanted])
    return (top, bottom) if bottom - top > 60 else (0.0, template.height)


def _find_cut(template: FormTemplate, near: float) -> float:
    """Return a height near another one that cuts few words and fields."""
    boxes = [word.box for word in template.words] + [field.box for field in template.fields]
    boxes = [box for box in boxes if box[1] < near + 14 and box[3] > near - 14]
    places = [near + 1.5 * step for step in range(-8, 9)]
    return min(places, key=lambda y: (sum(box[1] < y < box[3] for box in boxes), abs(y - near)))


def _absent(part: FormTemplate, others: Sequence[FormTemplate], rng: random.Random) -> str:
    """Return a question for a field of another page, with words that no field of this page has."""
    printed = set(tokens(" ".join(word.text for word in part.words)))
    page_keys = [set(tokens(part.name(field))) for field in part.named_fields()]
    for _ in range(_ATTEMPTS):
        template = rng.choice(others)
        named = [field for field in template.named_fields() if field.kind != "check"]
        name = template.name(rng.choice(named)) if named else value(rng, "phrase")
        asked = set(tokens(name))
        if not asked <= printed and all(2 * len(asked & key) < min(len(asked), len(key)) for key in page_keys):
            return questions.about(rng, name)
    return questions.about(rng, value(rng, "phrase"))
