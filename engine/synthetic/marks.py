"""Regions on pages of any kind: stamps, logos, bar codes, charts; and questions for tables."""

from __future__ import annotations

import random

from engine.synthetic.canvas import Canvas
from engine.synthetic.values import date
from engine.synthetic.vocabulary import word

_STAMPS = ("RECEIVED", "PAID", "COPY", "APPROVED", "URGENT", "FILED", "POSTED", "CONFIDENTIAL", "ORIGINAL", "CANCELLED")
_OFFICE, _TURNED = 0.55, 0.35  # shares of stamps with several lines and no frame, and of those turned by a right angle
_UNITS = ("SECTION", "DIVISION", "UNIT", "BRANCH", "OFFICE", "DEPARTMENT", "BUREAU", "REGISTRY", "MAIL ROOM", "CLERK")
_INKS = ((170, 30, 40), (30, 50, 150), (60, 60, 70), (110, 40, 120))


def ornament(canvas: Canvas, free_from: float, share: float = 0.4) -> None:
    """Sometimes draw a stamp, logo, bar code or chart below `free_from` (pixels), with its question."""
    rng, em = canvas.rng, canvas.face.size
    if rng.random() > share or canvas.height - free_from < 9 * em:
        return
    kind = rng.choice(("stamp", "stamp", "stamp", "barcode", "logo", "chart"))
    widths = {"stamp": (8, 14), "barcode": (8, 14), "logo": (4, 8), "chart": (14, 30)}
    heights = {"stamp": (3.2, 6), "barcode": (2, 4), "logo": (3.5, 6), "chart": (7, 16)}
    width = min(em * rng.uniform(*widths[kind]), 0.8 * canvas.width)
    height = min(em * rng.uniform(*heights[kind]), canvas.height - free_from - 2 * em)
    x = rng.uniform(em, max(em + 1, canvas.width - width - 2 * em))
    y = rng.uniform(free_from, canvas.height - height - em)
    text = f"{rng.choice(_STAMPS)}|{date(rng)}" if kind == "stamp" else word(rng).upper()
    name = {
        "stamp": "stamp",
        "barcode": "bar code",
        "logo": "logo",
        "chart": rng.choice(("chart", "diagram", "figure")),
    }[kind]
    if kind == "stamp" and rng.random() < _OFFICE:
        text = _office_text(rng)
        name = rng.choice(("stamp", f"{text.partition('|')[0].lower()} stamp", "stamp of the office", "date stamp"))
        height = min(em * rng.uniform(5, 10), canvas.height - free_from - 2 * em)
        if rng.random() < _TURNED and width <= canvas.height - free_from - 2 * em:
            width, height = height, width
        x = rng.uniform(em, max(em + 1, canvas.width - width - 2 * em))
        y = rng.uniform(free_from, max(free_from, canvas.height - height - em))
    figure = canvas.figure(kind, (x, y, x + width, y + height), text, ink=rng.choice(_INKS))
    question = rng.choice(
        (f"Where is the {name}?", name, f"Mark the {name}.", f"Is there a {name}?", f"Find the {name} on this page.")
    )
    canvas.ask(question, printed_key=False, figures=[figure], region_type=kind)


def ask_for_tables(canvas: Canvas, share: float = 0.5) -> None:
    """Sometimes ask for the tables of the page; each of them is an answer."""
    rng = canvas.rng
    if not canvas.tables or rng.random() > share:
        return
    name = rng.choice(("table", "table", "list of items" if len(canvas.tables) == 1 else "table"))
    question = rng.choice(
        (f"Where is the {name}?", name, f"Mark the {name}.", f"Is there a {name}?", f"Find the {name} on this page.")
    )
    canvas.ask(question, printed_key=False, figures=list(canvas.tables), region_type="table")


def _office_text(rng: random.Random) -> str:
    """Return the lines of an office's stamp, one of them with date and time."""
    lines = [f"{word(rng).upper()} {rng.choice(_UNITS)}" for _ in range(rng.randint(2, 4))]
    when = date(rng).upper()
    if rng.random() < 0.6:
        when += f"  {rng.choice(('A', 'P', 'AM ', 'PM '))}{rng.randint(1, 12)}:{rng.randint(0, 59):02}"
    lines.insert(len(lines) // 2, when)
    lines.insert(rng.choice((0, 0, 0, len(lines))), rng.choice(("RECEIVED", "RECEIVED", "RECEIVED BY", "FILED")))
    return "|".join(lines)
