"""Headings of a blank page: short bold or large lines, and the one that stands above a field."""

from __future__ import annotations

from engine.synthetic.blank_forms.layout import Layout, is_leader
from engine.synthetic.blank_forms.template import FormField

_LONGEST = 11  # words
_LARGE = 1.25  # relative to the print of the page
_FULL = 0.6  # share of the words of a heading that are bold


def headings(layout: Layout, taken: set[int]) -> list[list[int]]:
    """Return the headings of a page, from the top; no word of `taken`."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for at in layout.by_height:
        word = layout.words[at]
        if at in seen or at in taken or is_leader(word.text) or not (word.bold or word.size > _LARGE * layout.size):
            continue
        run = layout.run(at, leading=False, gap=2.2)
        seen |= set(run)
        bold = sum(layout.words[one].bold or layout.words[one].size > _LARGE * layout.size for one in run)
        first = not _text_before(layout, run)
        if (
            first
            and not set(run) & taken
            and 1 <= len(run) <= _LONGEST
            and bold >= _FULL * len(run)
            and layout.letters(run) >= 4
        ):
            found.append(run)
    return found


def heading_of(layout: Layout, titles: list[list[int]], field: FormField) -> list[int]:
    """Return the nearest heading above a field, in its column of text; empty without one."""
    best: list[int] = []
    for title in titles:
        box = layout.box(title)
        if box[3] <= field.box[1] + 2 and box[0] < field.box[2] and layout.same_column(box, field.box):
            best = title
    return best


def _text_before(layout: Layout, run: list[int]) -> bool:
    """Return whether words stand right before a run on its line."""
    first = layout.words[run[0]]
    return any(
        0 <= first.box[0] - layout.words[at].box[2] < 1.2 * first.size and not is_leader(layout.words[at].text)
        for at in layout.line(run[0])
        if at not in run
    )
