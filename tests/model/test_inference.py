from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from model import checkpoint
from model.answers import questions_at_once
from model.inference import Predictor, Word
from model.masks import rasterise
from tests.support.drawn_pages import SIZE, page_image, page_words, place
from tests.support.small_network import DEEP


@pytest.fixture(scope="session")
def config():
    return DEEP


QUESTIONS = ["What is the total due?", "Who is billed?", "date", "Which box is ticked on the page?"]


@pytest.fixture
def predictor(network, tmp_path):
    path = tmp_path / "net.safetensors"
    checkpoint.save(path, checkpoint.to_float16(network.state_dict()), network.config.to_dict())
    return Predictor.load(path)


@pytest.fixture
def page(predictor):
    return predictor.encode(page_image(), page_words())


def centre(text):
    x0, y0, x1, y1 = page_words()[place(text)].box
    return (x0 + x1) / 2, (y0 + y1) / 2


def equal(one, other):
    return (
        one.words == other.words
        and np.mean(one.mask != other.mask) < 1e-5  # a map that crosses zero inside a pixel may round either way
        and one.score == pytest.approx(other.score, abs=1e-4)
        and one.answered == pytest.approx(other.answered, abs=1e-4)
    )


def test_an_answer_has_the_shape_of_the_page(predictor, page):
    answer = predictor.ask(page, QUESTIONS[0])
    for mask in (answer.mask, answer.word_mask, answer.pixel_mask):
        assert mask.shape == SIZE[::-1] and mask.dtype == bool
    assert 0 <= answer.score <= 1 and 0 <= answer.answered <= 1
    assert answer.words == sorted(answer.words)
    assert answer.text == " ".join(page_words()[i].text for i in answer.words)
    assert len(answer.candidates) <= 3
    scores = [candidate.score for candidate in answer.candidates]
    assert scores == sorted(scores, reverse=True)
    assert all(candidate.mask.any() and not candidate.candidates for candidate in answer.candidates)


def test_many_questions_get_the_answers_they_get_alone(predictor, page):
    together = predictor.ask_many(page, QUESTIONS)
    assert all(equal(predictor.ask(page, question), many) for question, many in zip(QUESTIONS, together, strict=True))
    assert predictor.ask_many(page, []) == []


def test_questions_asked_in_turn_get_the_same_answers(predictor, page, monkeypatch):
    together = predictor.ask_many(page, QUESTIONS)
    passes = []
    ask_many = Predictor.ask_many

    def counted(self, of, some, **how):
        passes.append(len(some))
        return ask_many(self, of, some, **how)

    monkeypatch.setattr("model.answers._AT_ONCE", 3)
    monkeypatch.setattr(Predictor, "ask_many", counted)
    in_turn = list(predictor.ask_in_turn(page, QUESTIONS))
    assert passes == [3, 1]
    assert all(equal(one, other) for one, other in zip(in_turn, together, strict=True))


def test_masks_of_a_large_page_are_not_all_in_memory_at_once() -> None:
    """An answer brings up to twelve masks of a byte a pixel; a pass holds at most 400 MB, and at least one answer."""
    assert questions_at_once(1240, 1754) == 15
    assert questions_at_once(400, 300) == 16
    assert questions_at_once(5000, 5000) == 1
    assert questions_at_once(20_000, 20_000) == 1


def test_words_alone_are_enough(predictor):
    page = predictor.encode(None, page_words(), SIZE)
    answer = predictor.ask(page, QUESTIONS[0])
    assert answer.words and not answer.pixel_mask.any()
    assert np.array_equal(answer.mask, rasterise([page_words()[i].box for i in answer.words], SIZE[::-1]))


def test_an_image_alone_is_enough(predictor):
    answer = predictor.ask(predictor.encode(page_image(), []), QUESTIONS[0])
    assert answer.words == [] and answer.text == "" and not answer.word_mask.any()
    shown = [one for one in (answer, *answer.candidates) if one.mask.any()]  # the answer itself may be declined
    assert any(np.array_equal(one.mask, answer.pixel_mask) for one in shown)


def test_a_positive_click_takes_the_word_and_a_negative_one_leaves_it(predictor, page):
    plain = predictor.ask(page, QUESTIONS[0])
    for index, word in enumerate(page_words()):
        x, y = centre(word.text)
        taken = predictor.ask(page, QUESTIONS[0], points=[(x, y, True)])
        left = predictor.ask(page, QUESTIONS[0], points=[(x, y, False)])
        at = (int(y), int(x))
        assert taken.word_mask[at] and not left.word_mask[at], index
    assert plain.word_mask.any()


def test_a_box_keeps_to_the_words_inside(predictor, page):
    box = (230, 100, 400, 140)  # the value of the invoice number
    answer = predictor.ask(page, "date", box=box)
    assert answer.word_mask.any()
    assert not answer.word_mask[:, :230].any() and not answer.word_mask[140:].any()
    outside = answer.pixel_mask.copy()
    outside[100:140, 230:400] = False
    assert not outside.any()


def test_loading_twice_answers_the_same(predictor, page, tmp_path):
    again = Predictor.load(tmp_path / "net.safetensors")
    assert again.version == predictor.version
    other = again.encode(page_image(), page_words())
    assert all(equal(predictor.ask(page, q), again.ask(other, q)) for q in QUESTIONS)


def test_threads_do_not_disturb_each_other(predictor, page):
    alone = [predictor.ask(page, question) for question in QUESTIONS]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda question: predictor.ask(page, question), QUESTIONS * 4))
    assert all(equal(answer, alone[i % len(QUESTIONS)]) for i, answer in enumerate(answers))


def test_pages_of_odd_sizes_are_read(predictor):
    for size in ((37, 990), (990, 37), (5, 5)):
        words = [Word("x", (0, 0, 3, 3)), Word("off", (size[0] - 1, 0, size[0] + 40, 9)), Word("", (2, 2, 2, 2))]
        answer = predictor.ask(predictor.encode(page_image().resize(size), words), "x")
        assert answer.mask.shape == size[::-1]


def test_what_cannot_be_asked_is_refused_with_a_sentence(predictor, page):
    with pytest.raises(ValueError, match="needs its size"):
        predictor.encode(None, page_words())
    with pytest.raises(ValueError, match="but its image is"):
        predictor.encode(page_image(), page_words(), (10, 10))
    with pytest.raises(ValueError, match="rows"):
        predictor.ask(page, "x", mask=np.zeros((2, 2), bool))
    with pytest.raises(ValueError, match="empty"):
        predictor.ask(page, "x", box=(5, 5, 5, 9))


def test_a_page_read_by_another_version_is_refused(predictor, page, network, tmp_path):
    network.word_head.point.bias.data += 1
    checkpoint.save(tmp_path / "other", network, network.config.to_dict())
    with pytest.raises(ValueError, match="another version"):
        Predictor.load(tmp_path / "other").ask(page, "x")


@pytest.mark.parametrize("place", [(float("nan"), 5.0), (float("inf"), 5.0), (5.0, -1.0), (1e9, 5.0)])
def test_points_that_are_not_on_the_page_are_refused(predictor, page, place):
    with pytest.raises(ValueError, match="A point lies beside the page of 600 x 800 pixels"):
        predictor.ask(page, "date", points=[(*place, True)])


def test_a_box_is_cut_at_the_edges_of_the_page_and_refused_beside_it(predictor, page):
    inside = predictor.ask(page, "date", box=(200, 100, 600, 800))
    assert np.array_equal(predictor.ask(page, "date", box=(200, 100, 10**9, float("inf"))).mask, inside.mask)
    with pytest.raises(ValueError, match="The box lies beside the page"):
        predictor.ask(page, "date", box=(700, 100, 900, 200))
