"""Small fillable PDF forms, made for a test."""

from __future__ import annotations

from pathlib import Path

import pymupdf

from model.boxes import FloatBox


class MadeForm:
    """Form of one page, 612 x 792 points, that a test fills with print and fields."""

    def __init__(self) -> None:
        self.document = pymupdf.open()
        self.page = self.document.new_page(width=612, height=792)

    def print(self, x: float, y: float, text: str, *, size: float = 10, bold: bool = False) -> MadeForm:
        """Print a text; `y` is its base line."""
        self.page.insert_text((x, y), text, fontsize=size, fontname="hebo" if bold else "helv")
        return self

    def field(
        self,
        box: FloatBox,
        name: str,
        *,
        tooltip: str = "",
        most: int = 0,
        lines: bool = False,
        box_to_tick: bool = False,
    ) -> MadeForm:
        """Add a field."""
        widget = pymupdf.Widget()
        widget.field_type = pymupdf.PDF_WIDGET_TYPE_CHECKBOX if box_to_tick else pymupdf.PDF_WIDGET_TYPE_TEXT
        widget.field_name, widget.rect = name, pymupdf.Rect(box)
        widget.field_label = tooltip
        widget.text_maxlen = most
        if lines:
            widget.field_flags |= pymupdf.PDF_TX_FIELD_IS_MULTILINE
        self.page.add_widget(widget)
        return self

    def save(self, path: Path) -> Path:
        """Write the form; return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.document.save(path)
        return path


def office_form() -> MadeForm:
    """Return a form with keys left of fields, above them, in a row of boxes, and equal keys under two headings."""
    form = MadeForm()
    form.print(60, 60, "Request for a Library Card", size=16, bold=True)
    form.print(60, 90, "1.").print(80, 90, "Full name").field((180, 78, 420, 94), "a")
    form.print(60, 120, "2.").print(80, 120, "Date of birth").field((180, 108, 300, 124), "b", most=10)
    form.print(60, 146, "Reason for the request").field((60, 150, 500, 210), "c", lines=True)
    form.print(60, 240, "Part 1. Home", size=13, bold=True)
    form.print(80, 266, "City").field((180, 254, 330, 270), "d")
    form.print(80, 290, "Telephone").field((180, 278, 330, 294), "e")
    form.print(60, 330, "Part 2. Work", size=13, bold=True)
    form.print(80, 356, "City").field((180, 344, 330, 360), "f")
    form.print(80, 380, "Employer").field((180, 368, 330, 384), "g")
    form.print(60, 430, "3.").print(80, 430, "Do you own a card already?")
    form.field((260, 421, 270, 431), "yes", box_to_tick=True).print(274, 430, "Yes")
    form.field((320, 421, 330, 431), "no", box_to_tick=True).print(334, 430, "No")
    return form.print(60, 700, "Return this sheet to the desk in the hall of the library before noon.")
