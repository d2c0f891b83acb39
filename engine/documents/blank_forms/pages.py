"""Pages of a fillable PDF as templates: printed words, fields, and their keys."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pymupdf

from engine.documents import refusal
from engine.documents.limits import ReadLimits
from engine.documents.refusal import Unreadable
from engine.documents.text_layer.words import raw_text, read_layer
from engine.synthetic.blank_forms.keys import with_keys
from engine.synthetic.blank_forms.layout import Rules
from engine.synthetic.blank_forms.template import FormField, FormTemplate, PrintedWord
from model.boxes import FloatBox

_BOLD = 16  # of MuPDF's flags of a span
_BOLD_NAMES = ("bold", "black", "-bd", "-blk", "heavy", "-dem")
_BOXES = frozenset("❏❐❑❒□☐◻▢■")
_THIN = 1.6  # points: a filled rectangle that is a rule
_SHORTEST_RULE = 6.0  # points
_MULTILINE, _COMB, _READ_ONLY = 1 << 12, 1 << 24, 1
_MOST_FIELDS = 1_000  # of a page
_MOST_DRAWINGS = 20_000


def read_templates(source: Path, limits: ReadLimits) -> Iterator[FormTemplate]:
    """Yield the pages of a PDF that have fields to fill and a text layer. Raises Unreadable."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(source, filetype="pdf")
        if document.needs_pass:
            raise refusal.protected_file()
        if document.page_count > limits.pages:
            raise refusal.too_many_pages(document.page_count, limits.pages)
        for number in range(1, document.page_count + 1 if document.is_form_pdf else 1):
            template = _template(document[number - 1], source.name, number)
            if template is not None:
                yield template
    except (RuntimeError, ValueError, TypeError, pymupdf.mupdf.FzErrorBase) as error:
        if isinstance(error, Unreadable):
            raise
        raise refusal.damaged_file("PDF") from error


def _template(page: pymupdf.Page, source: str, number: int) -> FormTemplate | None:
    """Return the template of a page; None for a turned page and for one without fields or words."""
    widgets = [widget for widget in page.widgets() if _kind(widget) and not widget.field_flags & _READ_ONLY]
    if page.rotation or not 0 < len(widgets) <= _MOST_FIELDS:
        return None
    raw = raw_text(page)
    fields, hints = [], []
    for widget in widgets:
        box = widget.rect & page.rect
        if box.is_empty or min(box.width, box.height) < 3:
            continue
        fields.append(_field(widget, (box.x0, box.y0, box.x1, box.y1)))
        hints.append(str(widget.field_name or ""))
    words = _words(raw, [field.box for field in fields if field.kind == "check"])
    if not words or not fields:
        return None
    named = with_keys(words, fields, _rules(page), hints)
    return FormTemplate(source, number, page.rect.width, page.rect.height, tuple(words), tuple(named))


def _kind(widget: Any) -> str | None:
    """Return the kind of a field; None for buttons, signatures and hidden fields."""
    kinds = {"Text": "text", "CheckBox": "check", "RadioButton": "check", "ComboBox": "choice", "ListBox": "choice"}
    kind = kinds.get(widget.field_type_string)
    return "multiline" if kind == "text" and widget.field_flags & _MULTILINE else kind


def _field(widget: Any, box: FloatBox) -> FormField:
    kind = _kind(widget)
    choices = [choice[-1] if isinstance(choice, tuple | list) else choice for choice in widget.choice_values or ()]
    return FormField(
        box=box,
        kind="multiline" if kind == "text" and box[3] - box[1] > 32 else kind,  # type: ignore[arg-type]
        tooltip=" ".join(str(widget.field_label or "").split())[:300],
        most=max(0, widget.text_maxlen or 0),
        comb=bool(widget.field_flags & _COMB and widget.text_maxlen and kind == "text"),
        choices=tuple(str(choice).strip() for choice in choices if str(choice).strip() and len(str(choice)) < 80)[:100],
    )


def _words(raw: dict[str, Any], ticks: Sequence[FloatBox]) -> list[PrintedWord]:
    lines = read_layer(raw, pymupdf.Matrix(1, 1))
    bold = _bold_boxes(raw)
    words: list[PrintedWord] = []
    for line in lines:
        shown = [
            word
            for word in line.words
            if word.text and not word.hidden and word.box[2] > word.box[0] and word.box[3] > word.box[1]
        ]
        for at, word in enumerate(shown if line.heading == 0 else ()):
            after = shown[at + 1].box if at + 1 < len(shown) else None
            for text, box in _without_box(word.text, word.box, ticks, after):
                words.append(PrintedWord(text, box, _inside(box, bold)))
    return words


def _without_box(
    text: str, box: FloatBox, ticks: Sequence[FloatBox], after: FloatBox | None
) -> list[tuple[str, FloatBox]]:
    """Return a word, cut behind a printed box to tick that it begins with; `after` is the next word's box.

    Symbol fonts have no letter for such a box, and it is larger than the print.
    """
    x0, y0, x1, y1 = box
    middle = (y0 + y1) / 2
    tick = next((at for at in ticks if at[0] - 5 < x0 < at[2] - 4 and at[1] <= middle <= at[3]), None)
    glyph = text[0] in _BOXES and len(text) > 1
    cut = min(x0 + 0.85 * (y1 - y0), x1 - 1) if glyph else tick[2] if tick is not None else x1
    label = text[1:] if glyph else text
    if cut >= x1 - 2 or not any(sign.isalnum() for sign in label):
        return [(text, box)]
    top, foot = (after[1], after[3]) if after is not None else (y0 + 0.2 * (y1 - y0), y1)
    return [*([(text[0], (x0, y0, cut, y1))] if glyph else []), (label, (cut, top, x1, foot))]


def _bold_boxes(raw: dict[str, Any]) -> list[FloatBox]:
    return [
        (min(c["bbox"][0] for c in span["chars"]), min(c["bbox"][1] for c in span["chars"]),
         max(c["bbox"][2] for c in span["chars"]), max(c["bbox"][3] for c in span["chars"]))
        for block in raw["blocks"]
        for line in block.get("lines", ())
        for span in line["spans"]
        if span["chars"] and (span["flags"] & _BOLD or any(name in span["font"].lower() for name in _BOLD_NAMES))
    ]  # fmt: skip


def _inside(box: FloatBox, boxes: Sequence[FloatBox]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in boxes)


def _rules(page: pymupdf.Page) -> Rules:
    """Return the straight lines of a page, and the edges of its frames."""
    upright, level = [], []

    def add(x0: float, y0: float, x1: float, y1: float) -> None:
        """Add a line, if it is straight and long enough."""
        if abs(x1 - x0) <= _THIN and abs(y1 - y0) >= _SHORTEST_RULE:
            upright.append(((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
        elif abs(y1 - y0) <= _THIN and abs(x1 - x0) >= _SHORTEST_RULE:
            level.append(((y0 + y1) / 2, min(x0, x1), max(x0, x1)))

    for drawing in page.get_drawings()[:_MOST_DRAWINGS]:
        if (drawing.get("color") or drawing.get("fill") or (1,))[:3] == (1.0, 1.0, 1.0):
            continue
        for item in drawing["items"]:
            if item[0] == "l":
                add(item[1].x, item[1].y, item[2].x, item[2].y)
            elif item[0] == "re":
                box = item[1]
                if min(box.width, box.height) <= _THIN:
                    add(box.x0, box.y0, box.x1, box.y1)
                elif drawing.get("color"):
                    add(box.x0, box.y0, box.x1, box.y0)
                    add(box.x0, box.y1, box.x1, box.y1)
                    add(box.x0, box.y0, box.x0, box.y1)
                    add(box.x1, box.y0, box.x1, box.y1)
    return Rules(tuple(upright), tuple(level))
