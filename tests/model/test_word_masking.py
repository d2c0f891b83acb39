import random
from dataclasses import replace
from statistics import fmean

import pytest
import torch

from model.layout import read_layout
from model.learning import Plan, learn
from model.objectives.masked_language import MaskedWords, Masking, mask_words, predict_pieces
from model.objectives.span_masking import draw_spans, span_length
from tests.support.drawn_pages import example
from tests.support.small_network import DEEP


@pytest.fixture(scope="session")
def config():
    return DEEP


def test_span_lengths_have_the_mean_of_the_paper():
    rng = random.Random(0)
    lengths = [span_length(rng, 0.2, 10) for _ in range(5000)]
    assert fmean(lengths) == pytest.approx(3.8, abs=0.15) and min(lengths) == 1 and max(lengths) == 10
    assert span_length(rng, 1.0, 10) == 1


def test_spans_are_disjoint_consecutive_and_as_many_as_asked():
    lines = [[(0, word) for word in range(20 * row, 20 * row + 20)] for row in range(5)]
    spans = draw_spans(lines, 40, random.Random(3), 0.2, 10)
    words = [one for span in spans for one in span]
    assert len(words) == len(set(words)) == 40 and max(map(len, spans)) > 2
    for span in spans:
        assert [word for _, word in span] == list(range(span[0][1], span[0][1] + len(span)))
        assert len({word // 20 for _, word in span}) == 1
    assert len({one for span in draw_spans(lines, 999, random.Random(3), 0.2, 10) for one in span}) == 100


def test_masked_spans_stay_in_a_line_and_share_their_fate():
    page = example()
    masked = mask_words([page], random.Random(1), Masking(share=0.5, span_stop=0.01, blank=1.0))
    line = read_layout(page.words).line
    by_line: dict[int, int] = {}
    for _, word in masked.asked:
        by_line[int(line[word])] = by_line.get(int(line[word]), 0) + 1
    assert len(masked.asked) == round(0.5 * len(page.words)) and max(by_line.values()) > 1
    assert all(masked.hidden[0][word] for _, word in masked.asked)


def test_a_span_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="stop above 0"):
        Masking(span_stop=0.0)


def long_words(step):
    """Pages in which one word of several pieces stands everywhere."""
    page = example()
    return [replace(page, words=tuple(replace(word, text="Unquestionably2041") for word in page.words))]


def test_every_piece_of_a_masked_word_is_predicted(network, vocabulary):
    objective = MaskedWords(network, long_words, Masking(all_pieces=True))
    masked = mask_words(long_words(0), random.Random(0), Masking())
    found = predict_pieces(network, objective.head, objective.stand_in, masked, vocabulary)
    pieces = vocabulary.pieces(["Unquestionably2041"])[0].tolist()
    assert len(pieces) > 2 and found.wanted.tolist() == pieces * len(masked.asked)
    assert not torch.allclose(found.logits[0], found.logits[1])  # the place of a piece counts


def test_all_pieces_are_learned_and_shown(network):
    objective = MaskedWords(network, long_words, Masking(all_pieces=True, span_stop=0.2))
    before = objective.figures(long_words(0), long_words(0))
    learn(objective, torch.optim.AdamW(objective.learned.parameters(), 4e-3), Plan(steps=30, warmup=5))
    after = objective.figures(long_words(0), long_words(0))
    assert before["whole_words"] == 0 and after["whole_words"] == 1
    assert after["pieces_nats"] < 0.5 < before["pieces_nats"]


def test_a_word_is_right_when_all_its_pieces_are(network, vocabulary):
    objective = MaskedWords(network, long_words, Masking(all_pieces=True))
    masked = mask_words(long_words(0), random.Random(0), Masking(share=0.3))
    found = predict_pieces(network, objective.head, objective.stand_in, masked, vocabulary)
    logits = torch.nn.functional.one_hot(found.wanted, found.logits.shape[1]).float()
    assert replace(found, logits=logits).words() == 1
    logits[1] = logits[0]  # the second piece of the first word
    assert replace(found, logits=logits).whole().tolist() == [0.0] + [1.0] * (len(masked.asked) - 1)
