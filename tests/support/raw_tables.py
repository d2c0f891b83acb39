"""Papers with a table: as words of pages, and as a PDF."""

from collections.abc import Sequence

import pymupdf

from engine.annotation.page_cache import PageWords
from model.examples import Word

LEFTS = (50, 110, 330, 420, 510)  # points
HEADINGS = ("Pos.", "Description", "Qty", "Price", "Amount")
ROWS = (
    ("1", "Copper tube", "4", "2.50", "10.00"),
    ("2", "Brass valve with a", "1", "80.00", "80.00"),
    ("", "long stem", "", "", ""),
    ("3", "Gasket", "10", "0.40", "4.00"),
)
TOTAL = ("", "", "", "Total", "94.00")
COLUMNS = (
    {"name": "item", "question": "Item description"},
    {"name": "quantity", "question": "Quantity", "type": "number"},
    {"name": "amount", "question": "Line total", "type": "number"},
)

Lines = Sequence[Sequence[str]]  # of a page: the texts of its columns


def table_pdf(pages: Sequence[Lines] = ((HEADINGS, *ROWS, TOTAL),)) -> bytes:
    """Return a PDF with lines of a table on each of its pages."""
    with pymupdf.open() as document:
        for number, lines in enumerate(pages, 1):
            page = document.new_page(width=595, height=842)
            page.insert_text((50, 60), f"Invoice 4711, page {number}", fontsize=14)
            for at, line in enumerate(lines):
                for left, text in zip(LEFTS, line, strict=True):
                    page.insert_text((left, 120 + 18 * at), text, fontsize=10)
        return bytes(document.tobytes())


def table_words(lines: Lines, lefts: Sequence[int] = LEFTS) -> PageWords:
    """Return the words of a page with lines of a table: 6 pixels a letter, 12 high."""
    words, numbers = [], []
    for at, line in enumerate(lines):
        for left, text in zip(lefts, line, strict=True):
            x = left
            for part in text.split():
                words.append(Word(part, (x, 100 + 18 * at, x + 6 * len(part), 112 + 18 * at)))
                numbers.append(at)
                x += 6 * len(part) + 4
    return PageWords([100 + at for at in range(len(words))], words, numbers)
