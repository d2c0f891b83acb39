"""Generated orders: cells hold their values, empty cells have no answer, parties are answered as blocks."""

import random
from collections.abc import Callable
from itertools import islice

import pytest

from engine.synthetic import generate_kind
from engine.synthetic.concepts import Concept
from engine.synthetic.kinds.entries import ask_noted
from engine.synthetic.kinds.orders import blocks, lines, totals, words
from engine.synthetic.kinds.orders.fillings import filling
from engine.synthetic.kinds.orders.layout import Item, OrderLayout, choose_items, sample_layout, title_case
from engine.synthetic.kinds.orders.panel import BoxLook, Cells, Look, boxes, pairs, run_in
from model.boxes import FloatBox

MOST = 12
Setting = Callable[[OrderLayout, list[Item]], Cells]


def in_pairs(layout: OrderLayout, items: list[Item]) -> Cells:
    """Set items as pairs in one to four columns."""
    return pairs(layout, items, layout.form.left, 40, layout.form.right, layout.rng.randint(1, 4), Look.sample(layout))


def in_boxes(layout: OrderLayout, items: list[Item]) -> Cells:
    """Set items as boxes."""
    return boxes(layout, items, layout.form.left, 40, layout.form.right, 4, BoxLook.sample(layout.rng))


def in_run(layout: OrderLayout, items: list[Item]) -> Cells:
    """Set items one after the other on lines."""
    return run_in(layout, items, layout.form.left, 40, layout.form.right)


SETTINGS = (in_pairs, in_boxes, in_run)


def desk_of(seed: int, *, blank: float | None = None) -> OrderLayout:
    """Return an empty order."""
    layout = sample_layout(random.Random(seed), across=seed % 3 == 0)
    if blank is not None:
        layout.form.blank = blank
    return layout


def overlap(one: FloatBox, other: FloatBox) -> bool:
    """Return whether two boxes share more than an edge."""
    return min(one[2], other[2]) - max(one[0], other[0]) > 1 and min(one[3], other[3]) - max(one[1], other[1]) > 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(8))
def test_an_empty_cell_has_a_question_without_an_answer(setting: Setting, seed: int) -> None:
    layout = desk_of(seed)
    filled = [Item(f"Full {letter}", Concept((f"full {letter}",), ("x",), ("code",)), ("17",)) for letter in "AB"]
    empty = Item("Special Handling", Concept(("special handling",), ("special handling",), ("words",)), ())
    made = setting(layout, [filled[0], empty, filled[1]])
    ask_noted(layout.form, synonyms=0.0)
    assert [cell.value for cell in made.cells if cell.item is empty] == [[]]
    assert sum(not asked.answers for asked in layout.canvas.asked) == 1
    answered = {
        layout.canvas.pieces[at].text for asked in layout.canvas.asked for answer in asked.answers for at in answer
    }
    assert answered == {"17"}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("seed", range(20))
def test_words_of_a_value_lie_in_its_cell(setting: Setting, seed: int) -> None:
    layout = desk_of(seed)
    made = setting(layout, choose_items(layout, MOST))
    assert made.cells
    for cell in made.cells:
        x0, y0, x1, y1 = cell.box
        for at in cell.value:
            u0, v0, u1, v1 = layout.canvas.pieces[at].box(tight=True)
            assert x0 - 1 <= (u0 + u1) / 2 <= x1 + 1 and y0 - 1 <= (v0 + v1) / 2 <= y1 + 1


@pytest.mark.parametrize("setting", (in_pairs, in_boxes))
@pytest.mark.parametrize("seed", range(20))
def test_cells_of_a_panel_do_not_overlap(setting: Setting, seed: int) -> None:
    layout = desk_of(seed)
    made = setting(layout, choose_items(layout, MOST))
    every = [cell.box for cell in made.cells]
    assert not any(overlap(one, other) for at, one in enumerate(every) for other in every[:at])


def test_keys_are_never_part_of_an_answer() -> None:
    for made in islice(generate_kind("order", 41), 60):
        pieces = made.canvas.pieces
        for asked in made.canvas.asked:
            assert not [pieces[at].text for answer in asked.answers for at in answer if pieces[at].role == "key"]


def test_about_one_cell_in_eight_is_empty() -> None:
    empty = cells = 0
    for seed in range(150):
        items = choose_items(desk_of(seed), MOST)
        empty += sum(not item.lines for item in items)
        cells += len(items)
    assert 0.08 < empty / cells < 0.2


def test_keys_of_one_page_say_different_things() -> None:
    for seed in range(30):
        items = choose_items(desk_of(seed), 24)
        said = [item.key.lower() for item in items if len(item.concept.printed) > 1]
        assert len(set(said)) == len(said)


def test_many_keys_are_known_and_every_kind_of_value_can_be_filled() -> None:
    assert len(words.EVERY) > 150
    layout = desk_of(1)
    for concept in words.EVERY:
        for kind in concept.kinds:
            made = filling(layout.rng, layout.writing, kind)
            assert kind == "blank" or (made and all(line.strip() for line in made))


@pytest.mark.parametrize("seed", range(12))
def test_a_party_is_answered_as_a_block_and_its_name_by_the_first_line(seed: int) -> None:
    layout = desk_of(seed)
    blocks.party(layout, ("Bill To",), layout.form.left, 60, layout.canvas.width / 2)
    values = [at for at, piece in enumerate(layout.canvas.pieces) if piece.role == "value"]
    answers = [asked.answers[0] for asked in layout.canvas.asked]
    assert values in answers
    assert all(set(answer) <= set(values) for answer in answers)


def test_sums_agree_with_the_lines() -> None:
    checked = 0
    for seed in range(40):
        layout = desk_of(seed)
        layout.trade = "media"
        made = lines.lines(layout, 60)
        first = len(layout.canvas.pieces)
        totals.sums(layout, made, made.foot)
        found = " ".join(piece.text for piece in layout.canvas.pieces[first:] if piece.role == "value")
        digits = "".join(sign for sign in found if sign.isdigit())
        if digits:
            assert str(made.net) in digits
            checked += 1
    assert checked > 20


def test_keys_are_printed_with_the_capitals_of_programs() -> None:
    assert title_case("po date") == "PO Date"
    assert title_case("date of invoice") == "Date of Invoice"
    assert title_case("cash/trade") == "Cash/Trade"
