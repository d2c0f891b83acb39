import numpy as np
import pytest
import torch

from model import checkpoint
from model.batches import make_batch
from model.encoders.layout_bias import relations
from model.examples import Prompt, Question
from model.inputs import batch_pages, batch_questions, prepare_page
from model.network import GroundingNetwork, load_network
from model.objectives.segmentation import dice, focal, loss_of
from model.presets import NANO, NetworkConfig
from model.ranking.features import FEATURES
from tests.support.drawn_pages import SIZE, example, page_image, page_words, place


def asked(network, vocabulary, words, prompts, image=None):
    page = prepare_page(words, SIZE, image, vocabulary, network.config)
    with torch.no_grad():
        state = network.encode(batch_pages([page]))
        return network.ask(state, batch_questions([page], [prompts], vocabulary, network.config))


def test_a_config_survives_json():
    assert NetworkConfig.from_dict(NANO.to_dict()) == NANO


def test_both_paths_answer_on_a_page_with_an_image(network, vocabulary):
    answer = asked(network, vocabulary, page_words(), [Prompt("total"), Prompt("date")], page_image())
    assert answer.words.logits.shape == (2, 1, len(page_words()))
    assert answer.pixels.logits.shape == (2, 4, 128 // 4, 96 // 4)
    assert answer.pixels.iou.shape == (2, 4) and answer.pixels.answered.shape == (2,)


def test_without_an_image_the_pixel_path_is_silent(network, vocabulary):
    assert asked(network, vocabulary, page_words(), [Prompt("total")]).pixels is None


def test_without_words_the_pixel_path_answers_alone(network, vocabulary):
    answer = asked(network, vocabulary, [], [Prompt("total")], page_image())
    assert torch.isfinite(answer.pixels.logits).all()


def test_a_question_answers_the_same_alone_and_beside_others(network, vocabulary):
    prompts = [Prompt("total due"), Prompt("What is the very long number of the invoice, please?"), Prompt("?")]
    together = asked(network, vocabulary, page_words(), prompts, page_image())
    for row, prompt in enumerate(prompts):
        alone = asked(network, vocabulary, page_words(), [prompt], page_image())
        assert torch.allclose(alone.words.logits[0], together.words.logits[row], atol=1e-4)
        assert torch.allclose(alone.pixels.logits[0], together.pixels.logits[row], atol=1e-4)


def test_a_page_answers_the_same_alone_and_beside_a_longer_one(network, vocabulary):
    config = network.config
    short = prepare_page(page_words()[:5], SIZE, None, vocabulary, config)
    long = prepare_page(page_words(), SIZE, None, vocabulary, config)
    with torch.no_grad():
        prompts = [Prompt("date"), Prompt("Acme")]
        questions = batch_questions([short], [prompts], vocabulary, config)
        alone = network.ask(network.encode(batch_pages([short])), questions, seeds=2).words
        questions = batch_questions([short, long], [prompts, prompts], vocabulary, config)
        both = network.ask(network.encode(batch_pages([short, long])), questions, seeds=2).words
    assert torch.allclose(alone.pointing, both.pointing[:2, :5], atol=1e-4)
    assert (alone.seeds == both.seeds[:2]).all()
    assert torch.allclose(alone.logits, both.logits[:2, :, :5], atol=1e-4)
    assert torch.allclose(alone.iou, both.iou[:2], atol=1e-4)
    assert not both.taken[:2, :, 5:].any()


def test_every_kind_of_prompt_changes_both_paths(network, vocabulary):
    mask = np.zeros(SIZE[::-1], bool)
    mask[350:390, 400:520] = True
    plain = asked(network, vocabulary, page_words(), [Prompt("total")], page_image())
    for prompt in (
        Prompt("total", points=((460.0, 370.0, True),)),
        Prompt("total", points=((460.0, 370.0, False),)),
        Prompt("total", box=(400, 350, 520, 390)),
        Prompt("total", mask=mask),
        Prompt("date"),
    ):
        other = asked(network, vocabulary, page_words(), [prompt], page_image())
        assert not torch.allclose(other.words.logits, plain.words.logits, atol=1e-5), prompt
        assert not torch.allclose(other.pixels.logits, plain.pixels.logits, atol=1e-5), prompt


def test_every_part_learns(network, vocabulary):
    source = example(image=True)
    prompt = Prompt("total", points=((460.0, 370.0, True),), box=(400, 350, 520, 390), mask=np.ones(SIZE[::-1], bool))
    questions = [*source.questions, Question("total", source.questions[0].answers, prompt=prompt)]
    batch = make_batch([type(source)(source.words, source.size, questions, source.image)], vocabulary, network.config)
    loss, _ = loss_of(network(batch.pages, batch.questions), batch.targets)
    loss.backward()
    # The ranker has a stage of its own; what words take from the picture last is learned from masked words.
    elsewhere = ("ranker.", f"fusion.layers.{network.config.fusion_layers - 1}.to_words.")
    without = {name for name, p in network.named_parameters() if p.grad is None and not name.startswith(elsewhere)}
    assert not without, without


def test_relations_between_words_are_seen_from_the_first(vocabulary, config):
    batch = batch_pages([prepare_page(page_words(), SIZE, None, vocabulary, config)])
    pair = relations(batch)[0, place("Invoice"), place("number:")]
    assert pair[3] == 1 and pair[4] == 1 and pair[5] == 1 and pair[6] == 0  # same segment, line, next, not previous
    assert pair[1] > 0  # to the right


def test_focal_and_dice_follow_their_definitions():
    logits = torch.tensor([[[2.0, -1.0], [0.5, -3.0]]])
    truth = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    expected, both, mass = 0.0, 0.0, 0.0
    for x, t in zip(logits.flatten().tolist(), truth.flatten().tolist(), strict=True):
        p = 1 / (1 + np.exp(-x))
        pt, alpha = (p, 0.25) if t else (1 - p, 0.75)
        expected += -alpha * (1 - pt) ** 2 * np.log(pt) / 4
        both, mass = both + p * t, mass + p + t
    assert focal(logits, truth).item() == pytest.approx(expected, rel=1e-5)
    assert dice(logits, truth).item() == pytest.approx(1 - (2 * both + 1) / (mass + 1), rel=1e-5)


def test_the_loss_takes_the_nearest_acceptable_answer(network, vocabulary):
    source = example()
    batch = make_batch([source], vocabulary, network.config)
    answer = network(batch.pages, batch.questions)
    _, parts = loss_of(answer, batch.targets)
    answer.words.logits.data.fill_(-20.0)
    answer.words.pointing.data.fill_(-20.0)
    for row, text in ((0, "123.90"), (1, "INV-2041")):  # the first: the second acceptable answer
        answer.words.pointing.data[row, place(text)] = 20.0
        answer.words.logits.data[row, 0, place(text)] = 20.0
        answer.words.seeds.data[row, 0] = place(text)
    _, perfect = loss_of(answer, batch.targets)
    assert perfect["words"] < 1e-3 and perfect["pointing"] < 1e-3 < parts["pointing"]


def test_weights_with_a_ranker_of_other_features_load_and_their_ranker_is_not_asked(tmp_path):
    network = GroundingNetwork(NANO)
    assert network.ranker is not None and network.ranker.scale.num_batches_tracked is not None
    network.ranker.scale.num_batches_tracked += 1
    state = network.state_dict()
    fewer = {name: one[..., :-6] if one.shape[-1:] == (FEATURES,) else one for name, one in state.items()}
    checkpoint.save(tmp_path / "older.safetensors", fewer, NANO.to_dict())
    loaded, _ = load_network(tmp_path / "older.safetensors")
    assert network.ranker.learned and loaded.ranker is not None and not loaded.ranker.learned
    assert torch.equal(loaded.word_head.point.weight, network.word_head.point.weight)
