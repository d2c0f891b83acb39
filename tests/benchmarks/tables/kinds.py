"""Kinds of generated tables: those that a proposer may be built on, and those that only measure it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rules = Literal["none", "head", "lines", "grid", "upright", "zebra"]
Heading = Literal["one", "two", "spanning", "turned", "none"]
Negative = Literal["", "minus", "behind", "brackets"]
Sign = Literal["", "before", "behind", "apart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Layout of a table and of the paper around it.

    Args:
        paper: Name of its title in `wording.WORDINGS`.
        columns: Concepts of the columns, from left to right.
        rows: Fewest and most rows.
        rules: Lines and grounds; "upright": between columns alone.
        heading: Lines of the heading; "spanning": one word over two columns; "turned": by 90 degrees.
        repeats: Whether the heading is printed again on the next page.
        wraps: Share of long texts.
        align: Where the other cells of a row stand beside a wrapped one.
        numbers: Alignment of numbers, "right" or "left".
        gap: Between columns, in letter heights.
        spread: Whether the columns share the width of the page; else the table is as narrow as its texts.
        groups: Whether rows stand in groups under a line of their own.
        subtotals: Whether a group ends in a subtotal; without groups, whether some rows do.
        carried: Whether a page ends in an amount carried forward, and the next begins with it.
        breaks: Whether a wrapped row may go on on the next page.
        empty: Share of empty cells in columns that may have them.
        sign: Where the sign of a currency stands.
        negative: How negative amounts are written; "" for none.
        details: Share of rows with a line of details in the text's column.
        stacked: Concept that is printed below the text, in its column.
        under: Pairs of concepts: the second is printed in a second line of a row, below the first.
        remarks: Share of rows that are followed by a line of remarks, which belongs to no cell.
        boxed: Whether boxes with fields stand close above the table.
        unnamed: Whether the first column has no heading.
        unasked: Share of the columns that nobody asks for.
        other: Another table of the paper, "before" or "after" this one.
        total: Whether a block of totals follows.
        mono: Typewriter letters.
        landscape: Whether the page lies.
        size: Of letters, in points.
    """

    paper: str
    columns: tuple[str, ...]
    rows: tuple[int, int] = (3, 12)
    rules: Rules = "none"
    heading: Heading = "one"
    repeats: bool = True
    wraps: float = 0.25
    align: Literal["top", "middle", "bottom"] = "top"
    numbers: Literal["right", "left"] = "right"
    gap: float = 1.2
    spread: bool = True
    groups: bool = False
    subtotals: bool = False
    carried: bool = False
    breaks: bool = False
    empty: float = 0.0
    sign: Sign = ""
    negative: Negative = ""
    details: float = 0.0
    stacked: str = ""
    under: tuple[tuple[str, str], ...] = ()
    remarks: float = 0.0
    boxed: bool = False
    unnamed: bool = False
    unasked: float = 0.2
    other: Literal["", "before", "after"] = ""
    total: bool = True
    mono: bool = False
    landscape: bool = False
    size: float = 9.0

    @property
    def concepts(self) -> tuple[str, ...]:
        """Return all that a row prints, in the order of its lines."""
        return (*self.columns, *((self.stacked,) if self.stacked else ()), *(below for _, below in self.under))


_BANK = ("date", "booking", "debit", "credit", "balance")
_SALE = ("position", "code", "description", "quantity", "unit", "price", "amount")

DEVELOPMENT: dict[str, Kind] = {
    "invoice without rules": Kind(paper="invoice", columns=_SALE, rules="head", wraps=0.4, sign="behind"),
    "order in a grid": Kind(
        paper="order", columns=("position", "description", "code", "quantity", "price", "amount"), rules="grid",
        align="middle", empty=0.15, wraps=0.35,
    ),
    "delivery in stripes": Kind(
        paper="delivery", columns=("position", "code", "description", "quantity", "delivered", "open"), rules="zebra",
        empty=0.2, groups=True, total=False, rows=(5, 18),
    ),
    "prices in groups": Kind(
        paper="prices", columns=("code", "description", "unit", "trade", "retail"), groups=True, sign="apart",
        rows=(8, 34), total=False, repeats=True, wraps=0.15,
    ),
    "bank statement": Kind(
        paper="statement", columns=_BANK, rows=(8, 48), wraps=0.4, carried=True, empty=0.0, total=False, rules="head",
    ),
    "weeks of hours": Kind(
        paper="hours", columns=("date", "task", "start", "end", "pause", "hours"), rules="grid", subtotals=True,
        rows=(5, 24), empty=0.1, wraps=0.1,
    ),
    "heading of two lines": Kind(
        paper="invoice", columns=("code", "description", "quantity", "price", "discount", "tax", "amount"),
        heading="two", rules="lines", gap=0.7, empty=0.15, negative="minus", wraps=0.3,
    ),
    "long order, one heading": Kind(
        paper="order", columns=("position", "description", "quantity", "unit", "price", "amount"), rows=(30, 62),
        repeats=False, carried=True, wraps=0.3, breaks=True, details=0.2,
    ),
    "two tables": Kind(
        paper="invoice", columns=("description", "quantity", "price", "tax", "amount"), other="after", rules="lines",
        sign="before", wraps=0.3, rows=(2, 8),
    ),
    "hours without heading": Kind(
        paper="hours", columns=("date", "person", "task", "hours"), heading="none", rows=(4, 14), wraps=0.2,
    ),
    "wide schedule in a grid": Kind(
        paper="hours", columns=("position", "code", "date", "start", "end", "task", "pause", "hours", "unit", "price", "amount"),
        rules="grid", landscape=True, gap=0.35, unasked=0.5, boxed=True, wraps=0.4, rows=(4, 18), size=8.0,
        empty=0.15, sign="before", total=False,
    ),
    "remarks between rows": Kind(
        paper="order", columns=("position", "description", "date", "quantity", "price", "amount"), remarks=0.5,
        boxed=True, rows=(4, 16), wraps=0.15, unasked=0.4, rules="head",
    ),
    "first column without heading": Kind(
        paper="statement", columns=("description", "debit", "credit", "amount", "balance"), unnamed=True, groups=True,
        subtotals=True, rules="lines", rows=(5, 24), negative="minus", wraps=0.1, total=False,
    ),
}  # fmt: skip
HELD_OUT: dict[str, Kind] = {
    "values at the bottom": Kind(
        paper="invoice", columns=("code", "description", "quantity", "price", "amount"), align="bottom", wraps=0.6,
        rules="none", other="before", sign="apart", rows=(3, 10),
    ),
    "line of details": Kind(
        paper="order", columns=("position", "description", "quantity", "unit", "price", "discount", "amount"),
        details=0.7, stacked="code", rules="lines", rows=(3, 14), empty=0.1,
    ),
    "signed postings": Kind(
        paper="statement", columns=("date", "document", "booking", "amount", "balance"), gap=0.45, spread=False,
        groups=True, subtotals=True, negative="behind", rows=(6, 26), wraps=0.35, total=False,
    ),
    "typewriter list": Kind(
        paper="delivery", columns=("code", "description", "batch", "quantity", "weight"), numbers="left", mono=True,
        empty=0.25, total=False, rows=(6, 28), wraps=0.0, gap=1.6, spread=False,
    ),
    "prices under one word": Kind(
        paper="prices", columns=("code", "description", "quantity", "trade", "retail"), heading="spanning",
        rules="zebra", rows=(8, 30), total=False, groups=True, wraps=0.3, align="middle",
    ),
    "statement over pages": Kind(
        paper="statement", columns=("date", "booking", "debit", "credit"), rows=(36, 80), carried=True, breaks=True,
        rules="lines", details=0.3, negative="", total=True, wraps=0.4, repeats=True,
    ),
    "wide delivery": Kind(
        paper="delivery", columns=("position", "code", "description", "batch", "quantity", "unit", "delivered", "open", "weight"),
        rules="upright", landscape=True, empty=0.3, heading="two", total=False, size=8.0, rows=(5, 22), gap=0.8,
    ),
    "turned headings": Kind(
        paper="hours", columns=("person", "date", "start", "end", "pause", "hours"), heading="turned", rules="grid",
        rows=(5, 18), empty=0.15, total=True,
    ),
    "open invoices": Kind(
        paper="statement", columns=("document", "date", "due", "amount", "balance"), negative="brackets", sign="before",
        subtotals=True, rules="head", rows=(4, 20), numbers="right", total=True, other="before",
    ),
    "invoice without heading": Kind(
        paper="invoice", columns=("quantity", "description", "price", "amount"), heading="none", rules="lines",
        rows=(2, 10), wraps=0.5, sign="behind",
    ),
    "two lines of columns": Kind(
        paper="delivery", columns=("code", "person", "date", "quantity", "weight"),
        under=(("code", "batch"), ("person", "document"), ("date", "due")), rows=(4, 18), total=False, unasked=0.3,
    ),
    "crowded confirmation": Kind(
        paper="order", columns=("position", "date", "due", "description", "code", "unit", "quantity", "delivered", "price", "amount"),
        rules="upright", landscape=True, boxed=True, remarks=0.25, gap=0.3, unasked=0.5, size=8.0, sign="before",
        wraps=0.3, empty=0.2, rows=(4, 20), heading="two",
    ),
}  # fmt: skip
