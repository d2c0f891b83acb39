"""Signs of shops on receipts, families of keys, and keys of taxes."""

import random
from collections.abc import Iterator

from engine.synthetic.assemble import assemble
from engine.synthetic.canvas import Canvas, Face
from engine.synthetic.families import EVENTS, PARTIES, family_of
from engine.synthetic.keys import KeySource
from engine.synthetic.kinds.receipts import receipt
from engine.synthetic.kinds.receipts.layout import ReceiptLayout
from engine.synthetic.kinds.receipts.sign import Sign, print_sign, shop_address
from engine.synthetic.kinds.receipts.words import ASKED, tax_key
from engine.synthetic.ocr import Reading

SEEDS = 120


def signs() -> Iterator[tuple[Sign, ReceiptLayout]]:
    for seed in range(SEEDS):
        rng = random.Random(seed)
        canvas = Canvas(600, 2400, rng, Face("sans", 20))
        layout = ReceiptLayout(canvas, rng, 20, 30, 570, 1.3, str, ":", None, True)
        yield print_sign(layout), layout


def text_of(canvas: Canvas, pieces: list[int]) -> str:
    return " ".join(canvas.pieces[at].text for at in pieces)


def test_every_reading_of_a_sign_begins_with_the_name() -> None:
    glued = large = 0
    for sign, layout in signs():
        bare = sign.name.replace(" ", "")
        for pieces in sign.readings:
            assert text_of(layout.canvas, pieces).replace(" ", "").startswith(bare)
        last = layout.canvas.pieces[sign.readings[0][-1]].text
        glued += last[-1].isdigit() and last.startswith(sign.name.split()[-1])
        large += layout.canvas.pieces[sign.readings[0][0]].face.size > 1.5 * layout.em
    assert glued > 5 and large > SEEDS / 4


def test_a_sign_stays_on_its_paper() -> None:
    for sign, layout in signs():
        for at in sign.readings[0]:
            piece = layout.canvas.pieces[at]
            assert piece.x >= 0 and piece.x + piece.width <= layout.canvas.width


def test_addresses_of_shops_have_one_to_four_lines() -> None:
    assert {len(shop_address(random.Random(seed))) for seed in range(SEEDS)} == {1, 2, 3, 4}


def test_a_branch_may_belong_to_the_address_and_a_number_may_not() -> None:
    phrasings = ASKED | {"address": ("Where is the shop?",)}
    with_branch = 0
    for seed in range(SEEDS):
        draft = receipt.lay_out(random.Random(seed), phrasings)
        page = assemble(draft.canvas, "receipt", str(seed), str(seed), draft.absent, reading=Reading()).page
        for question in page.questions:
            if question.question == "Where is the shop?" and len(question.answers) > 1:
                shorter, longer = sorted(question.answers[:2], key=len)
                assert set(shorter) < set(longer)
                with_branch += 1
    assert with_branch > 5


def test_a_family_asks_for_each_of_its_keys_in_other_words() -> None:
    for noun in set(PARTIES + EVENTS):
        family = family_of(noun)
        asked = [text for concept in family for text in concept.asked]
        assert all(noun in text for text in asked)
        printed = [text for concept in family for text in concept.printed]
        assert len(set(printed)) == len(printed)
        beginnings = {text.split()[0] for text in asked}
        assert {"Who", "Where", "How", "Which"} <= beginnings


def test_no_question_without_answer_names_the_family_of_the_page() -> None:
    checked = 0
    for seed in range(400):
        keys = KeySource(random.Random(seed))
        if keys.noun is None:
            continue
        key = keys.absent()
        asked = key.concept.asked if key.concept else ()
        assert not any(keys.noun in text.lower() for text in (key.text, *asked))
        checked += 1
    assert checked > 50


def test_keys_of_taxes_stand_with_and_without_their_rate() -> None:
    keys = {tax_key(random.Random(seed)) for seed in range(SEEDS)}
    assert any("%" in key for key in keys) and any("%" not in key for key in keys)
