"""Print beside the widgets of a page that names them, found as on blank forms (engine.synthetic.blank_forms)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.documents.form_layer.widgets import LONGEST_NAME, FormWidget
from engine.documents.reading.page import ReadWord
from engine.synthetic.blank_forms.keys import with_keys
from engine.synthetic.blank_forms.layout import Rules
from engine.synthetic.blank_forms.template import FieldKind, FormField, PrintedWord
from model.boxes import Box, FloatBox

_POINTS = 72.0  # an inch
_HIGH = 32.0  # points: a field with several lines
_MOST_WORDS = 6_000  # of a page whose print is compared with its widgets
_FAR = 4.0  # widths of a field: its name stands not further left of it ...
_NEAR = 12.0  # ... or so many heights of a line
_BLANK = 0.8  # heights: a wider gap ends a name
_BESIDE = 3.0  # heights: print so near above a field, or right of a box to tick, may be its name, too
_LONGEST = 12  # words of a name that stands alone on its row
_KINDS: dict[str, FieldKind] = {"text": "text", "checkbox": "check", "radio": "check"}


def with_printed_names(widgets: Sequence[FormWidget], words: Sequence[ReadWord], dpi: float) -> tuple[FormWidget, ...]:
    """Return the widgets of a page with the print that names them.

    Args:
        widgets: In pixels.
        words: Of the page, in pixels; those inside widgets are values, and name nothing.
        dpi: Pixels per inch.
    """
    if not widgets or len(words) > _MOST_WORDS:
        return tuple(widgets)
    scale = _POINTS / dpi
    print_ = [word for word in words if not any(_lies_in(word.box, widget.box) for widget in widgets)]
    printed = [PrintedWord(word.text, _scale(word.box, scale)) for word in print_]
    fields = [_field(widget, scale) for widget in widgets]
    named = with_keys(printed, fields, Rules(), [widget.name for widget in widgets])
    taken = {at for field in named for at in (*field.column, *field.key, *field.group)}
    boxes = np.array([word.box for word in print_], np.float64).reshape(-1, 4)
    places = np.array([widget.box for widget in widgets], np.float64)
    keys = [
        (*field.column, *field.key) or _alone_left(number, boxes, places, taken, is_tick=widget.is_tick)
        for number, (widget, field) in enumerate(zip(widgets, named, strict=True))
    ]
    return tuple(
        replace(widget, printed=_text(printed, key), asked=_text(printed, field.group))
        for widget, field, key in zip(widgets, named, keys, strict=True)
    )


def _alone_left(
    number: int, words: NDArray[np.float64], widgets: NDArray[np.float64], taken: set[int], *, is_tick: bool
) -> tuple[int, ...]:
    """Return the print that stands alone left of a widget, with nothing between; none where other print may name it.

    Args:
        number: Of the widget.
        words: Boxes of the print, [N, 4].
        widgets: Boxes of all widgets, [W, 4].
        taken: Words that name other widgets.
        is_tick: Whether it is a box to tick.
    """
    x0, y0, x1, y1 = widgets[number]
    if not len(words):
        return ()
    middle, heights = (y0 + y1) / 2, words[:, 3] - words[:, 1]
    level = (words[:, 1] <= middle) & (words[:, 3] > middle)
    height = float(np.median(heights[level])) if level.any() else 0.0
    row = np.flatnonzero(level & (words[:, 2] <= x0 + 0.3 * height))
    if not len(row):
        return ()
    row = row[np.argsort(words[row, 0])]
    if is_tick:
        rivals = level & (words[:, 0] >= x1 - 0.3 * height) & (words[:, 0] < x1 + _BESIDE * height)
    else:
        over = (words[:, 0] < x1) & (words[:, 2] > x0) & (words[:, 3] <= y0 + 0.3 * height)
        rivals = over & (words[:, 3] > y0 - 0.5 * height)
    between = (widgets[:, 1] <= middle) & (widgets[:, 3] > middle) & (widgets[:, 2] <= x0 + 1)
    between &= widgets[:, 2] > words[row[-1], 0]
    far = x0 - words[row[-1], 2] > max(_NEAR * height, _FAR * (x1 - x0))
    if rivals.any() or between.any() or far:
        return ()
    run = [int(row[-1])]
    for at in row[-2::-1].tolist():
        if words[run[0], 0] - words[at, 2] > _BLANK * height:
            break
        run.insert(0, at)
    return tuple(run) if len(run) <= _LONGEST and taken.isdisjoint(run) else ()


def _field(widget: FormWidget, scale: float) -> FormField:
    box = _scale(widget.box, scale)
    kind = _KINDS.get(widget.kind, "choice")
    return FormField(box, "multiline" if kind == "text" and box[3] - box[1] > _HIGH else kind, tooltip=widget.label)


def _text(words: Sequence[PrintedWord], indices: Sequence[int]) -> str:
    return " ".join(words[at].text for at in indices)[:LONGEST_NAME]


def _scale(box: Box, scale: float) -> FloatBox:
    return (box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale)


def _lies_in(inner: Box, outer: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
