"""Pages made strange still answer the same questions."""

import random
from dataclasses import replace

import numpy as np

from engine.training.augmentation.perturbation import cipher_page, misread_words, stretch_page
from engine.training.evaluation.lexical_baseline import predict, prepare
from engine.training.sources.examples import synthetic_source
from model.anchors import find_anchors
from model.examples import Example, Question, Word
from model.layout import read_layout
from model.vocabulary import words_of

PAGE = Example(
    words=tuple(
        Word(text, (x, y, x + 12 * len(text), y + 20))
        for text, x, y in (
            ("Invoice", 40, 40), ("number:", 140, 40), ("INV-2041", 260, 40),
            ("Bill", 40, 90), ("to:", 100, 90), ("Mary", 260, 90), ("Jones", 330, 90),
        )
    ),
    size=(600, 400),
    questions=[
        Question("What is the invoice number?", ((2,),)),
        Question("Who is the customer?", ((5, 6),)),
        Question("Which carrier is it?"),
    ],
)  # fmt: skip


def test_in_cipher_a_question_matches_the_same_words():
    disguised = cipher_page(PAGE, random.Random(3))
    for drawn in disguised.questions:
        if not drawn.answered:
            continue
        plain = find_anchors(read_layout(PAGE.words), words_of(PAGE.questions[0].text, 40))
        other = find_anchors(read_layout(disguised.words), words_of(drawn.text, 40))
        assert np.allclose(plain.runs, other.runs) and plain.runs[0, 4] > 0.8
        assert drawn.answers == PAGE.questions[0].answers


def test_a_cipher_keeps_shapes_and_boxes_and_exchanges_letters_one_for_one():
    disguised = cipher_page(PAGE, random.Random(3))
    pairs = set()
    for word, before in zip(disguised.words, PAGE.words, strict=True):
        assert word.box == before.box and len(word.text) == len(before.text)
        for a, b in zip(before.text, word.text, strict=True):
            assert (a.isupper(), a.isdigit(), a.isalpha()) == (b.isupper(), b.isdigit(), b.isalpha())
            assert a.isalpha() or a == b
            pairs.add((a.lower(), b.lower()))
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    assert disguised.words != PAGE.words


def test_what_is_asked_in_other_words_is_not_asked_in_cipher():
    disguised = cipher_page(PAGE, random.Random(3))
    assert len(disguised.questions) == 3
    assert all(question.answers != ((5, 6),) for question in disguised.questions)
    synonyms = replace(PAGE, questions=PAGE.questions[1:])
    assert cipher_page(synonyms, random.Random(3)) is synonyms


def test_a_stretched_page_reads_in_the_same_order_and_segments():
    for seed in range(10):
        page = stretch_page(PAGE, random.Random(seed))
        before, after = read_layout(PAGE.words), read_layout(page.words)
        assert after.order.tolist() == before.order.tolist() and after.line.tolist() == before.line.tolist()
        assert all(x1 <= page.size[0] and y1 <= page.size[1] for _, _, x1, y1 in (word.box for word in page.words))
        texts = [word.text for word in page.words]
        assert texts in ([w.text for w in PAGE.words], [w.text.rstrip(":") for w in PAGE.words])
    sizes = {stretch_page(PAGE, random.Random(seed)).size for seed in range(10)}
    assert len(sizes) == 10


def test_a_page_with_regions_is_not_stretched_away_from_its_masks():
    asked = replace(PAGE, questions=[Question("signature", masks=(np.zeros((400, 600), bool),))])
    assert stretch_page(asked, random.Random(0)) is asked


def test_a_blurred_page_keeps_boxes_and_lengths_and_most_of_its_characters():
    seen = same = 0
    for seed in range(20):
        page = misread_words(PAGE, random.Random(seed))
        for word, before in zip(page.words, PAGE.words, strict=True):
            assert word.box == before.box and len(word.text) == len(before.text)
            seen += len(word.text)
            same += sum(a == b for a, b in zip(word.text, before.text, strict=True))
    assert 0.9 < same / seen < 0.99


def test_disguises_leave_answers_where_they_are():
    """The lexical baseline reads letters and places alone, so it shows an answer that was moved or broken."""
    plain = [page for step in range(24) for page in synthetic_source(11)(step)]
    for disguise in (cipher_page, stretch_page):
        rng = random.Random(5)
        disguised = [disguise(page, rng) for page in plain]
        changed = [pair for pair in zip(plain, disguised, strict=True) if pair[0] is not pair[1]]
        assert len(changed) > 20
        before, after = (found_by_floor([pair[at] for pair in changed]) for at in (0, 1))
        assert after > 0.8 * before > 0.1


def found_by_floor(pages):
    right = answered = 0
    for page in pages:
        prepared = prepare(page.words)
        for question in page.questions:
            if question.answers:
                answered += 1
                right += set(predict(prepared, question.text)) in [set(answer) for answer in question.answers]
    return right / answered
