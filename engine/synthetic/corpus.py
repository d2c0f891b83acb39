"""Endless, seeded stream of generated pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from engine.synthetic.assemble import SyntheticPage, assemble
from engine.synthetic.draft import Draft
from engine.synthetic.kinds import invoice, letter, table
from engine.synthetic.kinds.certificates import certificate
from engine.synthetic.kinds.forms import form
from engine.synthetic.kinds.orders import order
from engine.synthetic.kinds.receipts import receipt
from engine.synthetic.kinds.reports import report
from engine.synthetic.kinds.shipments import shipping
from engine.synthetic.kinds.statements import statement

_KINDS: dict[str, tuple[float, Callable[[random.Random], Draft]]] = {
    "form": (0.3, form.lay_out),
    "receipt": (0.17, receipt.lay_out),
    "invoice": (0.09, invoice.lay_out),
    "order": (0.16, order.lay_out),
    "letter": (0.06, letter.lay_out),
    "table": (0.06, table.lay_out),
    "statement": (0.05, statement.lay_out),
    "report": (0.04, report.lay_out),
    "shipping": (0.04, shipping.lay_out),
    "certificate": (0.03, certificate.lay_out),
}
KINDS = tuple(_KINDS)
FEWEST_WORDS = 8


def generate(seed: int) -> Iterator[SyntheticPage]:
    """Yield pages of mixed kinds without end; equal seeds give equal pages in every process.

    Page n depends only on the seed and n. A question with `masks` and without `answers` is answered by a region only.
    """
    shares = [share for share, _ in _KINDS.values()]
    number = 0
    while True:
        kind = random.Random(f"{seed} kind {number}").choices(KINDS, shares)[0]
        yield _page(kind, seed, number)
        number += 1


def generate_kind(kind: str, seed: int) -> Iterator[SyntheticPage]:
    """Yield pages of one of `KINDS` without end. Raises ValueError for another kind."""
    if kind not in _KINDS:
        raise ValueError(f"There is no kind of page called {kind!r}: choose one of {', '.join(KINDS)}.")
    number = 0
    while True:
        yield _page(kind, seed, number)
        number += 1


def _page(kind: str, seed: int, number: int) -> SyntheticPage:
    attempt = 0
    while True:
        name = f"{seed} {kind} {number} {attempt}"
        draft = _KINDS[kind][1](random.Random(name))
        page = assemble(draft.canvas, kind, name, f"{kind}-{seed}-{number}", draft.absent, reading=draft.reading)
        if len(page.page.words) >= FEWEST_WORDS and any(question.answers for question in page.page.questions):
            return page
        attempt += 1
