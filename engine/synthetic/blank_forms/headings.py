"""Headings of a blank page: bold or large lines, and the one that stands above a field."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic.blank_forms.layout import Layout, is_leader, is_marker
from engine.synthetic.blank_forms.template import FormField
from model.boxes import FloatBox

_LONGEST = 14  # words of a heading that people would name
_LARGER = 1.12  # of a strong heading, relative to the print of the page
_OPENINGS = ("part", "section", "schedule", "step")
_REACH = 120.0  # points below bold print to which it may be a heading
_LARGE = 1.25  # relative to the print of the page
_FULL = 0.6  # share of the words of a heading's line that are bold
_NEXT = 1.7  # distance of the lines of a heading, in font sizes


@dataclass(slots=True)
class Heading:
    """Heading with its words in reading order, and its box in points."""

    words: list[int]
    box: FloatBox
    strong: bool = False  # by its size or its first word; otherwise bold print among print of its size


def headings(layout: Layout, taken: set[int]) -> list[Heading]:
    """Return the headings of a page, from the top; none with a word of `taken`."""
    page_headings: list[Heading] = []
    seen: set[int] = set()
    for at in layout.by_height:
        word = layout.words[at]
        if at in seen or is_leader(word.text) or not _stands_out(layout, at):
            continue
        run = _line(layout, at)
        seen |= set(run)
        bold = sum(_stands_out(layout, heading) for heading in run)
        if _text_before(layout, run) or bold < _FULL * len(run):
            continue
        box = layout.box(run)
        before = next((heading for heading in reversed(page_headings) if _continues(layout, heading, run, box)), None)
        if before is None:
            page_headings.append(Heading(run, box))
        else:
            before.words += run
            before.box = layout.box(before.words)
    for heading in page_headings:
        heading.strong = _is_strong(layout, heading.words)
    return [
        heading
        for heading in page_headings
        if not set(heading.words) & taken
        and any(layout.words[at].text.isalpha() and layout.letters([at]) >= 4 for at in heading.words)
    ]


def heading_of(layout: Layout, titles: list[Heading], field: FormField) -> list[int]:
    """Return the words of the nearest heading above a field, in its column of text; empty for a long one."""
    best: list[int] = []
    for title in titles:
        box = title.box
        if box[3] > field.box[1] + 2 or box[0] >= field.box[2] or not layout.same_column(box, field.box):
            continue
        if title.strong or _reaches(layout, box, field):
            best = title.words
    if best and is_marker(layout.words[best[0]].text):
        best = best[1:]
    starts = bool(best) and not layout.words[best[0]].text[:1].islower()
    return best if starts and len(best) <= _LONGEST else []


def _line(layout: Layout, at: int) -> list[int]:
    """Return the words of a heading on the line of a word; its number may stand apart, other columns do not belong."""
    wide = layout.run_around(at, leading=False, gap=2.2)
    first = layout.words[wide[0]].text
    numbered = is_marker(first) or first.lower().strip(":.") in _OPENINGS
    return wide if numbered else layout.run_around(at, leading=False)


def _is_strong(layout: Layout, words: list[int]) -> bool:
    first = layout.words[words[0]]
    return first.size > _LARGER * layout.size or first.text.lower().strip(":.") in _OPENINGS


def _reaches(layout: Layout, box: FloatBox, field: FormField) -> bool:
    """Return whether bold print stands near above a field, without a box to tick between that it may ask for."""
    overlaps = box[0] < field.box[2] and box[2] > field.box[0]
    return (
        overlaps
        and field.box[1] - box[3] < _REACH
        and not any(
            tick_box.kind == "check"
            and box[3] - 4 < tick_box.box[1] < field.box[1]
            and abs(tick_box.box[0] - box[0]) < 60
            for tick_box in layout.fields
        )
    )


def _stands_out(layout: Layout, at: int) -> bool:
    return layout.words[at].bold or layout.words[at].size > _LARGE * layout.size


def _continues(layout: Layout, before: Heading, run: list[int], box: FloatBox) -> bool:
    """Return whether a line is the next one of a heading."""
    size = layout.words[run[0]].size
    last = layout.words[before.words[-1]]
    return (
        0.3 * size < layout.words[run[0]].middle - last.middle < _NEXT * size
        and abs(last.size - size) < 0.2 * size
        and before.box[0] - 3 <= box[0] < before.box[0] + 30
        and box[0] < before.box[2]
    )


def _text_before(layout: Layout, run: list[int]) -> bool:
    """Return whether words stand right before a run on its line."""
    first = layout.words[run[0]]
    return any(
        0 <= first.box[0] - layout.words[at].box[2] < 1.2 * first.size and not is_leader(layout.words[at].text)
        for at in layout.line(run[0])
        if at not in run
    )
