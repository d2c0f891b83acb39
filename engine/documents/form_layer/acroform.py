"""Widgets of a PDF's page as MuPDF holds them.

Entries are read from the file's objects: a field hands its entries down to its kids (ISO 32000-2, 12.7.4).
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pymupdf

from engine.documents.form_layer.widgets import (
    LONGEST_NAME,
    LONGEST_OPTION,
    LONGEST_VALUE,
    MOST_OF_PAGE,
    MOST_OPTIONS,
    TICKS,
    FormWidget,
    WidgetKind,
)
from engine.documents.reading.source_words import clip
from model.boxes import Box

_DEEPEST = 32  # fields above a widget; a chain of parents may be a circle
_UNSEEN = 1 | 2 | 32  # flags of an annotation: invisible, hidden, not viewed
_READ_ONLY, _PASSWORD, _RADIO, _PUSH_BUTTON, _COMBO = 1, 1 << 13, 1 << 15, 1 << 16, 1 << 17
_OFF = ("", "Off")
_mupdf = pymupdf.mupdf


def read_widgets(page: pymupdf.Page, matrix: pymupdf.Matrix, size: tuple[int, int]) -> tuple[FormWidget, ...]:
    """Return the widgets of a page that people see, at most `MOST_OF_PAGE`; push buttons are left out.

    Args:
        page: The page.
        matrix: Maps points of the page as shown, with its /Rotate, to pixels of the image.
        size: (width, height) of the image in pixels; widgets off the page are left out.
    """
    pdf_page = _pdf_page(page)
    shown = _mupdf.FzMatrix()
    _mupdf.pdf_page_transform(pdf_page, _mupdf.FzRect(_mupdf.FzRect.Fixed_UNIT), shown)
    to_pixels = pymupdf.Matrix(shown.a, shown.b, shown.c, shown.d, shown.e, shown.f) * matrix
    found = []
    for annotation in islice(_annotations(pdf_page), MOST_OF_PAGE):
        place = _mupdf.pdf_annot_obj(annotation)
        layer = _mupdf.pdf_dict_get(place, _name("OC"))
        is_off = _mupdf.pdf_is_ocg_hidden(pdf_page.doc(), _mupdf.PdfResourceStack(), "View", layer)
        if is_off or _mupdf.pdf_annot_flags(annotation) & _UNSEEN:
            continue
        box = _box(place, to_pixels, size)
        widget = _widget(_Field(place), box) if box is not None else None
        if widget is not None:
            found.append(widget)
    return tuple(found)


def complete_appearances(page: pymupdf.Page) -> None:
    """Let MuPDF draw what a form without appearances says: ticks without a state, and the shown text of a choice.

    Changes the document in memory alone.
    """
    for annotation in islice(_annotations(_pdf_page(page)), MOST_OF_PAGE):
        field = _Field(_mupdf.pdf_annot_obj(annotation))
        kind, on_state = _kind(field), _on_state(field)
        if kind in TICKS and not field.own("AS").m_internal and _is_ticked(field, on_state):
            field.put("AS", _name(on_state))
        elif kind == "choice" and not field.own("AP").m_internal:
            options = list(_options(field.entry("Opt")))
            shown = _choice(field.entry("V"), options)
            if shown and shown not in dict(options):  # a text for programs stands in the file, and would be drawn
                field.put("V", _mupdf.pdf_new_text_string(shown))


def _pdf_page(page: pymupdf.Page) -> Any:
    return _mupdf.pdf_page_from_fz_page(page.this) if isinstance(page.this, _mupdf.FzPage) else page.this


def _annotations(pdf_page: Any) -> Iterator[Any]:
    annotation = _mupdf.pdf_first_widget(pdf_page)
    while annotation.m_internal:
        yield annotation
        annotation = _mupdf.pdf_next_widget(annotation)


def _box(place: Any, to_pixels: pymupdf.Matrix, size: tuple[int, int]) -> Box | None:
    """Return the place of a widget; None for one without an area, or off the page."""
    corners = _mupdf.pdf_dict_get(place, _name("Rect"))
    if _mupdf.pdf_array_len(corners) != 4:
        return None
    x0, y0, x1, y1 = (_mupdf.pdf_to_real(_mupdf.pdf_array_get(corners, at)) for at in range(4))
    rect = pymupdf.Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)) * to_pixels
    if not (rect.x1 - rect.x0 >= 1 and rect.y1 - rect.y0 >= 1):  # nan, too
        return None
    return clip((rect.x0, rect.y0, rect.x1, rect.y1), size)


class _Field:
    """Entries of a widget and of the fields above it, the nearest first."""

    def __init__(self, place: Any) -> None:
        self.place = place
        self.chain = [place]
        above = _mupdf.pdf_dict_get(place, _name("Parent"))
        while _mupdf.pdf_is_dict(above) and len(self.chain) <= _DEEPEST:
            self.chain.append(above)
            above = _mupdf.pdf_dict_get(above, _name("Parent"))

    def own(self, key: str) -> Any:
        """Return the widget's own entry of a name; a null object without one."""
        return _mupdf.pdf_dict_get(self.place, _name(key))

    def put(self, key: str, entry: Any) -> None:
        """Give the widget an entry of its own, in memory."""
        _mupdf.pdf_dict_put(self.place, _name(key), entry)

    def entry(self, key: str) -> Any:
        """Return the nearest entry of a name; a null object without one."""
        entry = _mupdf.PdfObj()
        for holder in self.chain:
            entry = _mupdf.pdf_dict_get(holder, _name(key))
            if entry.m_internal and not _mupdf.pdf_is_null(entry):
                break
        return entry

    def text(self, key: str) -> str:
        """Return the nearest text of a name that is not empty."""
        for holder in self.chain:
            text = _text(_mupdf.pdf_dict_get(holder, _name(key)), LONGEST_NAME)
            if text:
                return text
        return ""

    @property
    def name(self) -> str:
        """Return the full name, without what is behind `LONGEST_NAME`."""
        parts = (_text(_mupdf.pdf_dict_get(holder, _name("T")), LONGEST_NAME) for holder in reversed(self.chain))
        return ".".join(part for part in parts if part)[:LONGEST_NAME]

    @property
    def flags(self) -> int:
        """Return the field's flags."""
        return int(_mupdf.pdf_to_int(self.entry("Ff")))


def _widget(field: _Field, box: Box) -> FormWidget | None:
    """Return a widget; None for push buttons, passwords, and what is no field."""
    kind = _kind(field)
    if kind is None:
        return None
    options = list(_options(field.entry("Opt")))
    value, ticked, on_state = "", None, ""
    if kind in ("checkbox", "radio"):
        on_state = _on_state(field)
        ticked, value = _is_ticked(field, on_state), _stands_for(field, on_state, options)
    elif kind == "signature":
        ticked = bool(_mupdf.pdf_is_dict(field.entry("V")))
    elif kind == "text":
        value = _text(field.entry("V"), LONGEST_VALUE)
    else:
        value = _choice(field.entry("V"), options)
    return FormWidget(
        kind=kind,
        box=box,
        name=field.name,
        label=field.text("TU"),
        value=value,
        ticked=ticked,
        on_state=on_state,
        options=tuple(shown for _, shown in options),
        read_only=bool(field.flags & _READ_ONLY),
    )


def _kind(field: _Field) -> WidgetKind | None:
    flags = field.flags
    match _mupdf.pdf_to_name(field.entry("FT")):
        case "Tx":
            return None if flags & _PASSWORD else "text"
        case "Btn":
            return None if flags & _PUSH_BUTTON else "radio" if flags & _RADIO else "checkbox"
        case "Ch":
            return "choice" if flags & _COMBO else "list"
        case "Sig":
            return "signature"
        case _:
            return None


def _on_state(field: _Field) -> str:
    """Return the state in which a button is ticked: that of its appearances beside "Off", else the one it is in."""
    for appearance in ("N", "D"):
        states = _mupdf.pdf_dict_get(field.own("AP"), _name(appearance))
        if not _mupdf.pdf_is_dict(states) or _mupdf.pdf_is_stream(states):
            continue
        for at in range(min(_mupdf.pdf_dict_len(states), MOST_OPTIONS)):
            state = str(_mupdf.pdf_to_name(_mupdf.pdf_dict_get_key(states, at)))
            if state not in _OFF:
                return state[:LONGEST_OPTION]
    shown = field.own("AS")
    state = _state(shown if shown.m_internal or len(field.chain) > 1 else field.entry("V"))
    return state if state not in _OFF else ""


def _is_ticked(field: _Field, on_state: str) -> bool | None:
    """Return whether a button is ticked; None where what it shows (/AS) is not what its field says (/V)."""
    shown, said = field.own("AS"), field.entry("V")
    chosen = _state(said)
    by_value = None if chosen not in _OFF and not on_state else chosen == on_state and chosen not in _OFF
    if not shown.m_internal:
        return by_value
    by_state = _state(shown) not in _OFF
    return by_state if not said.m_internal or by_value in (None, by_state) else None


def _stands_for(field: _Field, on_state: str, options: Sequence[tuple[str, str]]) -> str:
    """Return what a ticked button stands for: the option of its place among the field's kids, else its state."""
    kids = _mupdf.pdf_dict_get(field.chain[1], _name("Kids")) if len(field.chain) > 1 else None
    if kids is not None and options:
        number = _mupdf.pdf_to_num(field.place)
        for at in range(min(_mupdf.pdf_array_len(kids), len(options))):
            if number and _mupdf.pdf_to_num(_mupdf.pdf_array_get(kids, at)) == number:
                return options[at][1]
    if options and len(options) == 1:
        return options[0][1]
    return on_state


def _choice(value: Any, options: Sequence[tuple[str, str]]) -> str:
    """Return the chosen texts as they are shown, with commas between them."""
    several = _mupdf.pdf_is_array(value)
    count = min(_mupdf.pdf_array_len(value), MOST_OPTIONS) if several else 1
    shown_as = dict(reversed(options))
    chosen = (_text(_mupdf.pdf_array_get(value, at) if several else value, LONGEST_VALUE) for at in range(count))
    return ", ".join(shown_as.get(text, text) for text in chosen if text)[:LONGEST_VALUE]


def _options(options: Any) -> Iterator[tuple[str, str]]:
    """Yield options as pairs: what stands in the file for one, and what is shown."""
    for at in range(min(_mupdf.pdf_array_len(options), MOST_OPTIONS)):
        option = _mupdf.pdf_array_get(options, at)
        pair = [option, option]
        if _mupdf.pdf_array_len(option) == 2:
            pair = [_mupdf.pdf_array_get(option, 0), _mupdf.pdf_array_get(option, 1)]
        yield _text(pair[0], LONGEST_OPTION), _text(pair[1], LONGEST_OPTION)


def _state(state: Any) -> str:
    """Return the name of a button's state; some programs write it as a text."""
    name = _mupdf.pdf_to_name(state) if _mupdf.pdf_is_name(state) else _text(state, LONGEST_OPTION)
    return str(name)[:LONGEST_OPTION]


def _text(entry: Any, longest: int) -> str:
    """Return a text of the file in one line, at most so long; "" for what is no text."""
    if not _mupdf.pdf_is_string(entry):
        return ""
    text = str(_mupdf.pdf_to_text_string(entry))[: 4 * longest]
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:longest]


def _name(name: str) -> Any:
    return _mupdf.pdf_new_name(name)
