"""An invoice that is stored in a project without being uploaded, read or shown to the model."""

from collections.abc import Callable
from typing import Any

from db.tables import Document
from engine.annotation.state import AnnotationState
from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.support.factories import Placed, accept, make_document

SIZE = (850, 1200)  # width, height of a page, in pixels
LETTER = (11, 22)  # width of a letter, height of a word
TOTAL, DATE = "What is the total due?", "What is the invoice date?"
Invoiced = Callable[..., Bench]


def printed(text: str, x: int, y: int) -> list[Placed]:
    """Words of a line."""
    words: list[Placed] = []
    for word in text.split():
        words.append((word, (x, y, x + LETTER[0] * len(word), y + LETTER[1])))
        x += LETTER[0] * (len(word) + 1)
    return words


def page(number: int, pages: int) -> list[Placed]:
    """Words of a page: those of tests.browser.bench.invoice."""
    return [
        *printed("Invoice number: A-0001", 100, 110),
        *printed("Invoice date: 14 March 2026", 100, 170),
        *printed("Total due: 2,987.88 EUR", 100, 230),
        *printed(f"Page {number} of {pages}", 100, 290),
        *printed("ogkjwmez udvplxpm", 100, 1000),
    ]


def store_invoice(workspace: Workspace, project: str, *, pages: int = 1, name: str = "invoice.pdf") -> Document:
    """Store an invoice in a project."""
    words = [page(number, pages) for number in range(1, pages + 1)]
    return make_document(workspace, project, words, name=name, size=SIZE)


def draft(workspace: Workspace, document: Document, *questions: str, author: str | None = None) -> list[Any]:
    """Ask questions of a document without the model: each has an answer on which nothing is marked."""
    return [
        accept(workspace, document, each, state=AnnotationState(), status="draft", author=author) for each in questions
    ]
