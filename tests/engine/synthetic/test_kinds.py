"""Generated statements, reports, certificates, shipping papers and orders: sums add up, answers stand on the page."""

import random
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import pytest

from engine.grounded import page_to_json
from engine.synthetic import KINDS, generate_kind
from engine.synthetic.concepts import Concept
from engine.synthetic.kinds import ledger
from engine.synthetic.kinds.amounts import Writing, sample_day
from engine.synthetic.kinds.certificates import certificate
from engine.synthetic.kinds.entries import Entry, absent, ask_noted, note, set_in_columns
from engine.synthetic.kinds.orders import order
from engine.synthetic.kinds.paper import sample_paper
from engine.synthetic.kinds.reports import report
from engine.synthetic.kinds.shipments import shipping
from engine.synthetic.kinds.statements import statement

NEW = {"statement": statement, "report": report, "certificate": certificate, "shipping": shipping, "order": order}
SEEDS = 150


class Tables:
    """Every table that a kind of page sets: heads and rows as they were handed over, and the table as it was set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.set: list[tuple[list[str], Sequence[ledger.Row], ledger.Ledger]] = []
        plain = ledger.set_table

        def spy(form: Any, columns: Sequence[ledger.Column], rows: Sequence[ledger.Row], y: float, **named: Any) -> Any:
            made = plain(form, columns, rows, y, **named)
            self.set.append(([column.head for column in columns], rows, made))
            return made

        monkeypatch.setattr(ledger, "set_table", spy)


def cents(text: str) -> int:
    """What a sum says, however it is written; 0 for an empty cell."""
    digits = "".join(sign for sign in text if sign.isdigit())
    below = "-" in text or "(" in text or "DR" in text
    return (-1 if below else 1) * int(digits or 0)


def test_running_balances_of_accounts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables(monkeypatch)
    for seed in range(SEEDS):
        statement.lay_out(random.Random(seed))
    from engine.synthetic.kinds.statements.account import _CREDITS, _DEBITS

    checked = 0
    for heads, rows, _ in tables.set:
        if not {"Balance", "Running balance", "Saldo"} & set(heads):
            continue
        kept = [row for row in rows if not row.strong]
        gains = [at for at, head in enumerate(heads) if head in (*_CREDITS, "Amount")]
        losses = [at for at, head in enumerate(heads) if head in _DEBITS]
        changes = [
            sum(cents(row.cells[at]) for at in gains) - sum(cents(row.cells[at]) for at in losses) for row in kept
        ]
        for (before, after), change in zip(pairwise(kept), changes[1:], strict=True):
            assert cents(before.cells[-1]) + change == cents(after.cells[-1])
            checked += 1
        if rows[-1].strong:
            assert cents(rows[-1].cells[-1]) == cents(kept[-1].cells[-1])
            for at in gains + losses:
                assert cents(rows[-1].cells[at]) == sum(cents(row.cells[at]) for row in kept)
    assert checked > 200


def test_totals_of_pay_charges_and_goods_are_the_sums_of_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables(monkeypatch)
    for seed in range(SEEDS):
        statement.lay_out(random.Random(seed))
        shipping.lay_out(random.Random(seed))
    checked = 0
    for heads, rows, _ in tables.set:
        totals = [row for row in rows if row.strong]
        if not totals or {"Balance", "Running balance", "Saldo"} & set(heads):
            continue
        # The first strong row is the sum of all before it, whatever follows (what was owed, what is due).
        for at in range(1, len(heads)):
            column = [row.cells[at] for row in rows if not row.strong]
            said = totals[0].cells[at]
            if said and all(sign.isdigit() or sign in ".,-() " for text in column for sign in text) and ":" not in said:
                assert cents(said) == sum(map(cents, column)), (heads[at], column, said)
                checked += 1
    assert checked > 300


def test_verdicts_agree_with_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables(monkeypatch)
    for seed in range(SEEDS):
        report.lay_out(random.Random(seed))
    flags = 0
    for heads, rows, _ in tables.set:
        ranges = [
            at
            for at, head in enumerate(heads)
            if head in ("Reference range", "Normal range", "Limits", "Reference interval")
        ]
        for row in rows if ranges else ():
            least, most = (float(part) for part in row.cells[ranges[0]].split(" - "))
            found = float(row.cells[1])
            flag = next(
                (text for text in row.cells if text in ("H", "HIGH", "High", "L", "LOW", "Low", "*", "Above", "Below")),
                "",
            )
            assert bool(flag) == (not least <= found <= most)
            flags += bool(flag)
    assert flags > 20


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_made_of_words_inside_the_page(kind: str) -> None:
    for made in islice(generate_kind(kind, 21), 40):
        page = made.page
        for question in page.questions:
            assert question.question.strip()
            for answer in question.answers:
                assert answer
                assert all(page.words[at].text.strip() for at in answer)
                assert all(0 <= page.words[at].box[0] < page.words[at].box[2] <= page.width for at in answer)
                assert all(0 <= page.words[at].box[1] < page.words[at].box[3] <= page.height for at in answer)


@pytest.mark.parametrize("kind", NEW)
def test_nothing_is_set_below_the_foot_of_the_page(kind: str) -> None:
    for made in islice(generate_kind(kind, 22), 60):
        height = made.page.height
        assert all(piece.box(tight=True)[3] <= height + 1 for piece in made.canvas.pieces)
        assert all(
            figure.box[3] <= height and figure.box[0] >= 0 and figure.box[2] <= made.page.width
            for figure in made.canvas.figures
        )


@pytest.mark.parametrize("kind", NEW)
def test_figures_hide_no_words(kind: str) -> None:
    """Stamps, seals, charts and bar codes stand where nothing is printed; signatures may cross their lines."""
    hidden = words = 0
    for made in islice(generate_kind(kind, 23), 60):
        for figure in made.canvas.figures:
            if figure.kind in ("stamp", "seal", "chart", "barcode", "logo"):
                x0, y0, x1, y1 = figure.box
                for piece in made.canvas.pieces:
                    u0, v0, u1, v1 = piece.box(tight=True)
                    hidden += x0 < (u0 + u1) / 2 < x1 and y0 < (v0 + v1) / 2 < y1
        words += len(made.canvas.pieces)
    assert hidden <= 0.002 * words


@pytest.mark.parametrize("kind", NEW)
def test_the_same_seed_gives_the_same_page_and_picture(kind: str) -> None:
    first, second = next(generate_kind(kind, 31)), next(generate_kind(kind, 31))
    assert page_to_json(first.page) == page_to_json(second.page)
    assert first.render().tobytes() == second.render().tobytes()
    assert page_to_json(next(generate_kind(kind, 32)).page) != page_to_json(first.page)


@pytest.mark.parametrize("kind", NEW)
def test_pages_ask_for_much_and_much_of_it_has_several_words(kind: str) -> None:
    pages = [made.page for made in islice(generate_kind(kind, 33), 60)]
    answered = [question for page in pages for question in page.questions if question.answers]
    assert len(answered) > 8 * len(pages)
    assert sum(len(question.answers[0]) > 1 for question in answered) > 0.25 * len(answered)
    types = {question.region_type for page in pages for question in page.questions} - {None}
    assert {"signature", "table"} <= types or kind == "statement"


def test_a_repeated_value_answers_in_either_place_others_differ_by_key() -> None:
    form = sample_paper(random.Random(4))
    form.noted.clear()
    canvas = form.canvas
    concept = Concept(("new balance", "total balance"), ("new balance", "What is owed now?"), ("money",))
    other = Concept(("phone",), ("phone", "Which number can be called?"), ("phone",))
    places = [canvas.write(text, 50, y).pieces for text, y in (("$ 1,200.00", 50), ("1,200.00", 90))]
    phones = [canvas.write(text, 50, y).pieces for text, y in (("555-1", 130), ("555-2", 170))]
    for key, pieces in zip(("New balance", "Total balance"), places, strict=True):
        note(form, key, concept, pieces)
    for pieces in phones:
        note(form, "Phone", other, pieces)
    ask_noted(form)
    assert len(canvas.asked) == 2
    assert all(sorted(map(tuple, asked.answers)) == sorted(map(tuple, places)) for asked in canvas.asked)


def test_a_key_that_the_page_answers_is_never_asked_as_absent() -> None:
    form = sample_paper(random.Random(5))
    owed = Concept(("amount due", "total due"), ("amount due", "How much is due?"), ("money",))
    missing = Concept(("harbour dues",), ("What are the harbour dues?",), ("money",))
    set_in_columns(form, [Entry(owed, ("$ 3.00",))], form.left, 60, form.right, "right", 1)
    asked = {absent(form, (owed, missing)).lower() for _ in range(200)}
    assert any("harbour" in question for question in asked)
    assert not any("amount due" in question or "how much is due" in question for question in asked)


@pytest.mark.parametrize("seed", range(20))
def test_cells_of_a_table_stay_in_their_columns(seed: int) -> None:
    rng = random.Random(seed)
    form = sample_paper(rng)
    writing = Writing.sample(rng)
    columns = [
        ledger.Column("Date", "l"),
        ledger.Column("What was bought and where", "l", True),
        ledger.Column("Amount"),
    ]
    rows = [
        ledger.Row(
            (
                writing.row_day(sample_day(rng)),
                "a rather long text " * rng.randint(1, 6),
                writing.sum(rng.randrange(10**9)),
            )
        )
        for _ in range(6)
    ]
    table = ledger.set_table(form, columns, rows, 40)
    assert table.rows == 6
    for (_, column), pieces in table.cells.items():
        box = form.canvas.box_of(pieces)
        assert table.edges[column] <= box[0] and box[2] <= table.edges[column + 1] + 0.5
    assert table.edges[-1] <= form.right + 0.5
    assert table.foot >= max(piece.baseline for piece in form.canvas.pieces)
