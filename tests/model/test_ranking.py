"""Proposals for an answer, their features, and the ranker that chooses among them."""

import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch

from model import checkpoint, inference
from model.batches import make_batch
from model.inference import Predictor
from model.inputs import batch_pages, batch_questions, prepare_page
from model.kinds import KINDS, Kind
from model.layout import read_layout
from model.learning import Plan, learn
from model.network import GroundingNetwork, load_network
from model.objectives.ranking import Ranking
from model.ranking.choose import SEEDS, list_of
from model.ranking.features import FEATURES
from model.ranking.kind_fit import KIND_FEATURES, kind_features
from model.ranking.proposals import BELOW, CELL, GROWN, propose
from model.ranking.ranker import Ranker
from tests.support.drawn_pages import SIZE, example, page_image, page_words, place
from tests.support.small_network import DEEP


@pytest.fixture(scope="session")
def config():
    return DEEP


LAYOUT = read_layout(page_words())


@pytest.fixture
def ranking(config) -> GroundingNetwork:
    """A network with a ranker."""
    torch.manual_seed(3)
    return GroundingNetwork(replace(config, ranker_width=16)).eval()


def members(*texts):
    found = np.zeros(len(page_words()), bool)
    found[[place(text) for text in texts]] = True
    return found


def texts(proposal):
    return [page_words()[word].text for word in proposal.words]


def test_half_a_name_is_also_proposed_as_the_whole_name():
    proposals = propose(LAYOUT, [members("Mary")], [])
    assert ["Mary"] in map(texts, proposals)
    assert ["Mary", "Jones"] in map(texts, proposals)
    assert proposals[0].kind == GROWN and texts(proposals[0]) == ["Mary"]


def test_an_answer_is_proposed_with_the_lines_below_it():
    page = [word for word in page_words() if word.text in {"Acme", "Trading", "Ltd", "Invoice", "number:"}]
    close = [replace(word, box=(word.box[0], word.box[1] // 2, word.box[2], word.box[1] // 2 + 20)) for word in page]
    grown = np.array([word.text in {"Acme", "Trading", "Ltd"} for word in close])
    below = [one for one in propose(read_layout(close), [grown], []) if one.kind == BELOW]
    assert [len(one.words) for one in below] == [5]


def test_equal_words_are_proposed_once_and_empty_answers_never():
    proposals = propose(LAYOUT, [members("5.90"), members("5.90"), members()], [(0, members("5.90")), (1, members())])
    assert [texts(one) for one in proposals].count(["5.90"]) == 1
    assert all(one.words for one in proposals)


def test_the_cell_beside_the_key_is_proposed_though_nothing_grew_there(ranking, vocabulary):
    page = prepare_page(page_words(), SIZE, None, vocabulary, ranking.config)
    batch = make_batch([example()], vocabulary, ranking.config, prepared=[page])
    answer = ranking.ask_words(ranking.read_words(batch.pages), batch.questions, SEEDS).words
    answer = replace(answer, taken=torch.zeros_like(answer.taken))
    found = list_of(page, answer, batch.questions, 1)  # "invoice number"
    assert any(one.kind == CELL and texts(one) == ["INV-2041"] for one in found.proposals)
    assert found.features.shape == (len(found.proposals), FEATURES)
    assert np.isfinite(found.features).all()


def test_a_page_without_words_has_no_proposals(ranking, vocabulary):
    page = prepare_page([], SIZE, None, vocabulary, ranking.config)
    pages = batch_pages([page])
    questions = batch_questions([page], [[example().questions[0].effective_prompt]], vocabulary, ranking.config)
    answer = ranking.ask_words(ranking.read_words(pages), questions, SEEDS).words
    assert list_of(page, answer, questions, 0).proposals == []


def test_the_order_of_the_list_does_not_matter_and_padding_does_not_count():
    torch.manual_seed(1)
    ranker = Ranker(FEATURES, 16).eval()
    features = torch.randn(1, 5, FEATURES)
    order = torch.tensor([3, 0, 4, 1, 2])
    scores = ranker(features, torch.ones(1, 5, dtype=torch.bool))
    assert torch.allclose(ranker(features[:, order], torch.ones(1, 5, dtype=torch.bool)), scores[:, order], atol=1e-6)
    padded = torch.cat([features, torch.full((1, 2, FEATURES), 9.0)], 1)
    valid = torch.tensor([[True] * 5 + [False] * 2])
    assert torch.allclose(ranker(padded, valid)[:, :5], scores, atol=1e-6)


def test_only_the_ranker_learns_and_it_learns_which_proposal_is_right(ranking):
    before = {name: tensor.clone() for name, tensor in ranking.state_dict().items()}
    objective = Ranking(ranking, lambda step: [example(), example()])
    first, _ = objective.loss(0, random.Random(0))
    learn(objective, torch.optim.Adam(objective.ranker.parameters(), 1e-2), Plan(steps=40, warmup=1))
    last, parts = objective.loss(0, random.Random(0))
    changed = {name for name, tensor in ranking.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed and all(name.startswith("ranker.") for name in changed)
    assert last < 0.7 * first
    assert parts["chosen_iou"] > 0.9 * parts["best_iou"] > 0


def test_a_step_without_a_question_that_words_answer_teaches_nothing_and_goes_on(ranking):
    unanswered = replace(example(), questions=example().questions[2:])
    pages = [[unanswered], [example(), example()]]
    before = {name: tensor.clone() for name, tensor in ranking.state_dict().items()}
    objective = Ranking(ranking, lambda step: pages[step])
    lines: list[Mapping[str, float]] = []
    optimizer = torch.optim.SGD(objective.ranker.parameters(), 1e-2)
    learn(objective, optimizer, Plan(steps=1, warmup=1, metrics_every=1), on_metrics=lines.append)
    assert all(torch.equal(tensor, before[name]) for name, tensor in ranking.state_dict().items())
    learn(objective, optimizer, Plan(steps=2, warmup=1, metrics_every=1), on_metrics=lines.append)
    assert ["loss" in line for line in lines] == [False, False, True]


def test_the_ranker_learns_from_a_network_that_reads_in_bfloat16(ranking):
    objective = Ranking(ranking, lambda step: [example(), example()])
    lines: list[Mapping[str, float]] = []
    optimizer = torch.optim.Adam(objective.ranker.parameters(), 1e-2)
    learn(objective, optimizer, Plan(steps=2, warmup=1, metrics_every=1, mixed=True), on_metrics=lines.append)
    assert all(np.isfinite(line["loss"]) for line in lines)


def test_a_network_without_a_ranker_says_so(network):
    with pytest.raises(ValueError, match="no ranker"):
        Ranking(network, lambda step: [example()]).loss(0, random.Random(0))


def learned(network):
    """The network, with a ranker that has seen lists."""
    objective = Ranking(network, lambda step: [example(), example()])
    learn(objective, torch.optim.Adam(objective.ranker.parameters(), 1e-2), Plan(steps=2, warmup=1))
    return network


def test_a_ranker_that_has_not_learned_changes_no_answer(ranking):
    fresh = Predictor(ranking, "test")
    without = Predictor(GroundingNetwork(replace(ranking.config, ranker_width=None)).eval(), "test")
    own = {name: tensor for name, tensor in ranking.state_dict().items() if not name.startswith("ranker.")}
    without._network.load_state_dict(own)
    for question in ("What is the tax?", "invoice number"):
        asked = [one.ask(one.encode(None, page_words(), SIZE), question) for one in (fresh, without)]
        assert asked[0].words == asked[1].words and asked[0].score == asked[1].score


def test_questions_of_a_long_page_are_answered_in_parts_as_at_once(ranking, monkeypatch):
    predictor = Predictor(learned(ranking), "test")
    page = predictor.encode(None, page_words(), SIZE)
    questions = ["What is the tax?", "invoice number", "Who is billed?"]
    at_once = predictor.ask_many(page, questions)
    monkeypatch.setattr(inference, "_MOST_STATES", 1)
    for whole, part in zip(at_once, predictor.ask_many(page, questions), strict=True):
        assert whole.words == part.words and whole.score == pytest.approx(part.score, abs=1e-5)


def test_alternatives_come_in_order_of_their_predicted_iou(ranking):
    predictor = Predictor(learned(ranking), "test")
    answer = predictor.ask(predictor.encode(None, page_words(), SIZE), "What is the tax?")
    scores = [answer.score, *(one.score for one in answer.candidates)]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(one.words) for one in [answer, *answer.candidates]}) == len(scores)


def test_a_click_overrules_the_ranker(ranking):
    predictor = Predictor(learned(ranking), "test")
    page = predictor.encode(page_image(), page_words(), SIZE)
    x0, y0, x1, y1 = page_words()[place("5.90")].box
    answer = predictor.ask(page, "What is the total?", points=[((x0 + x1) / 2, (y0 + y1) / 2, True)])
    assert place("5.90") in answer.words


def test_weights_from_before_kinds_were_read_choose_as_they_did():
    torch.manual_seed(1)
    before, now = Ranker(FEATURES, 16).eval(), Ranker(FEATURES, 16, kinds=KIND_FEATURES).eval()
    now.load_state_dict(before.state_dict())
    features, valid = torch.randn(2, 5, FEATURES), torch.ones(2, 5, dtype=torch.bool)
    kinds = torch.rand(2, 5, KIND_FEATURES)
    assert torch.equal(now(torch.cat([features, kinds], -1), valid), before(features, valid))


def test_a_question_without_a_kind_is_not_steered():
    torch.manual_seed(1)
    ranker = Ranker(FEATURES, 16, kinds=KIND_FEATURES).eval()
    assert ranker.steering is not None
    torch.nn.init.normal_(next(ranker.steering.judge[2].parameters()))
    features, valid = torch.randn(1, 5, FEATURES), torch.ones(1, 5, dtype=torch.bool)
    fits = np.random.default_rng(0).random((5, len(KINDS)), np.float32)

    def scores(typed):
        return ranker(torch.cat([features, torch.from_numpy(kind_features(fits, typed, None))[None]], -1), valid)

    plain = Ranker(FEATURES, 16).eval()
    plain.load_state_dict({name: one for name, one in ranker.state_dict().items() if "steering" not in name})
    assert torch.equal(scores(None), plain(features, valid))
    assert not torch.equal(scores(Kind.DATE), scores(None))


def test_a_checkpoint_from_before_kinds_loads_with_its_ranker(ranking, tmp_path):
    ranking.ranker.scale.num_batches_tracked += 1
    state = {name: tensor for name, tensor in ranking.state_dict().items() if "steering" not in name}
    checkpoint.save(tmp_path / "old.safetensors", state, ranking.config.to_dict())
    network, _ = load_network(tmp_path / "old.safetensors")
    assert network.ranker is not None and network.ranker.learned
    loaded = network.state_dict()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in ranking.state_dict().items())
