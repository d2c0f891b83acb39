"""Regions on pages of any kind: stamps, logos, bar codes, charts; and questions for tables."""

from __future__ import annotations

import random

from engine.synthetic.sheet import Sheet
from engine.synthetic.values import date
from engine.synthetic.vocabulary import word

_STAMPS = ("RECEIVED", "PAID", "COPY", "APPROVED", "URGENT", "FILED", "POSTED", "CONFIDENTIAL", "ORIGINAL", "CANCELLED")
_OFFICE, _TURNED = 0.55, 0.35  # shares of stamps with several lines and no frame, and of those turned by a right angle
_UNITS = ("SECTION", "DIVISION", "UNIT", "BRANCH", "OFFICE", "DEPARTMENT", "BUREAU", "REGISTRY", "MAIL ROOM", "CLERK")
_INKS = ((170, 30, 40), (30, 50, 150), (60, 60, 70), (110, 40, 120))


def ornament(sheet: Sheet, free_from: float, share: float = 0.4) -> None:
    """Sometimes draw a stamp, logo, bar code or chart below `free_from` (pixels), with its question."""
    chance, em = sheet.chance, sheet.face.size
    if chance.random() > share or sheet.height - free_from < 9 * em:
        return
    kind = chance.choice(("stamp", "stamp", "stamp", "barcode", "logo", "chart"))
    widths = {"stamp": (8, 14), "barcode": (8, 14), "logo": (4, 8), "chart": (14, 30)}
    heights = {"stamp": (3.2, 6), "barcode": (2, 4), "logo": (3.5, 6), "chart": (7, 16)}
    width = min(em * chance.uniform(*widths[kind]), 0.8 * sheet.width)
    height = min(em * chance.uniform(*heights[kind]), sheet.height - free_from - 2 * em)
    x = chance.uniform(em, max(em + 1, sheet.width - width - 2 * em))
    y = chance.uniform(free_from, sheet.height - height - em)
    text = f"{chance.choice(_STAMPS)}|{date(chance)}" if kind == "stamp" else word(chance).upper()
    name = {
        "stamp": "stamp",
        "barcode": "bar code",
        "logo": "logo",
        "chart": chance.choice(("chart", "diagram", "figure")),
    }[kind]
    if kind == "stamp" and chance.random() < _OFFICE:
        text = _office_text(chance)
        name = chance.choice(("stamp", f"{text.partition('|')[0].lower()} stamp", "stamp of the office", "date stamp"))
        height = min(em * chance.uniform(5, 10), sheet.height - free_from - 2 * em)
        if chance.random() < _TURNED and width <= sheet.height - free_from - 2 * em:
            width, height = height, width
        x = chance.uniform(em, max(em + 1, sheet.width - width - 2 * em))
        y = chance.uniform(free_from, max(free_from, sheet.height - height - em))
    figure = sheet.figure(kind, (x, y, x + width, y + height), text, ink=chance.choice(_INKS))
    question = chance.choice(
        (f"Where is the {name}?", name, f"Mark the {name}.", f"Is there a {name}?", f"Find the {name} on this page.")
    )
    sheet.ask(question, printed_key=False, figures=[figure], region_type=kind)


def ask_for_tables(sheet: Sheet, share: float = 0.5) -> None:
    """Sometimes ask for the tables of the page; each of them is an answer."""
    chance = sheet.chance
    if not sheet.tables or chance.random() > share:
        return
    name = chance.choice(("table", "table", "list of items" if len(sheet.tables) == 1 else "table"))
    question = chance.choice(
        (f"Where is the {name}?", name, f"Mark the {name}.", f"Is there a {name}?", f"Find the {name} on this page.")
    )
    sheet.ask(question, printed_key=False, figures=list(sheet.tables), region_type="table")


def _office_text(chance: random.Random) -> str:
    """Return the lines of an office's stamp, one of them with date and time."""
    lines = [f"{word(chance).upper()} {chance.choice(_UNITS)}" for _ in range(chance.randint(2, 4))]
    when = date(chance).upper()
    if chance.random() < 0.6:
        when += f"  {chance.choice(('A', 'P', 'AM ', 'PM '))}{chance.randint(1, 12)}:{chance.randint(0, 59):02}"
    lines.insert(len(lines) // 2, when)
    lines.insert(chance.choice((0, 0, 0, len(lines))), chance.choice(("RECEIVED", "RECEIVED", "RECEIVED BY", "FILED")))
    return "|".join(lines)
