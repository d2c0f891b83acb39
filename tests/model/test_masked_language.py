import random
from dataclasses import replace

import pytest
import torch

from model.learning import Plan, learn
from model.objectives.masked_language import (
    MaskedPages,
    MaskedWordHead,
    MaskedWords,
    Masking,
    first_pieces,
    mask_words,
    predict_words,
    word_mask_token,
)
from tests.support.drawn_pages import example, page_words, place
from tests.support.small_network import DEEP


@pytest.fixture(scope="session")
def config():
    return DEEP


FORMS = ("Invoice", "Receipt", "Order")
NAMES = ("Mary", "John", "Ann", "Peter", "Paul")


def with_word(index, text):
    page = example()
    words = list(page.words)
    words[index] = replace(words[index], text=text)
    return replace(page, words=tuple(words))


def drawn_page(rng):
    """A page whose kind decides what else stands on it."""
    kind = rng.choice(FORMS)
    page = with_word(place("Invoice"), kind)
    texts = {"Acme": f"{kind}s", place("Mary"): rng.choice(NAMES)}
    words = [
        replace(word, text=texts.get(word.text, texts.get(index, word.text))) for index, word in enumerate(page.words)
    ]
    return replace(page, words=tuple(words))


def source(step):
    rng = random.Random(step)
    return [drawn_page(rng) for _ in range(6)]


@pytest.fixture
def parts(network):
    torch.manual_seed(2)
    return MaskedWordHead(network), word_mask_token(network)


def test_masks_follow_bert():
    pages = source(0) * 40
    masked = mask_words(pages, random.Random(1), Masking())
    count = sum(len(page.words) for page in pages)
    assert len(masked.asked) == round(0.15 * count) and len(set(masked.asked)) == len(masked.asked)
    kinds = {"hidden": 0, "same": 0, "other": 0}
    for (page, word), truth in zip(masked.asked, masked.words, strict=True):
        assert pages[page].words[word].text == truth
        text = masked.pages[page].words[word].text
        kinds["hidden" if masked.hidden[page][word] else "same" if text == truth else "other"] += 1
        assert masked.hidden[page][word] == (text == "")
    total = len(masked.asked)
    assert kinds["hidden"] / total == pytest.approx(0.8, abs=0.04)
    assert kinds["same"] / total == pytest.approx(0.1, abs=0.04)
    asked = set(masked.asked)
    for page, (before, after) in enumerate(zip(pages, masked.pages, strict=True)):
        assert all(
            one == other
            for at, (one, other) in enumerate(zip(before.words, after.words, strict=True))
            if (page, at) not in asked
        )
        assert [word.box for word in before.words] == [word.box for word in after.words]


def test_masks_are_drawn_anew_and_follow_the_seed():
    one, again, other = (mask_words(source(0), random.Random(seed), Masking()) for seed in (1, 1, 2))
    assert one == again and one.asked != other.asked
    assert len(mask_words([example()], random.Random(0), Masking(share=0.0)).asked) == 1


def test_pages_without_words_are_refused():
    with pytest.raises(ValueError, match="no word to mask"):
        mask_words([replace(example(), words=())], random.Random(0), Masking())


@pytest.mark.parametrize("text", ["Total:", "X", "1,234.56", "ABCDEF"])
def test_nothing_of_a_hidden_word_is_read(network, vocabulary, parts, text):
    index = place("Tax")
    logits = []
    for said in ("Tax", text):
        page = with_word(index, said)
        every = Masking(share=1.0, blank=1.0)
        hidden = mask_words([page], random.Random(0), every)
        only = MaskedPages(
            pages=(replace(page, words=tuple(
                hidden.pages[0].words[at] if at == index else word for at, word in enumerate(page.words)
            )),),
            hidden=(tuple(at == index for at in range(len(page.words))),),
            asked=((0, index),),
            words=(said,),
        )  # fmt: skip
        logits.append(predict_words(network, parts[0], parts[1], only, vocabulary)[0])
    assert torch.equal(*logits)


def test_words_around_a_hidden_one_and_its_place_are_read(network, vocabulary, parts):
    def logits(page, asked):
        masked = MaskedPages((page,), ((False,) * len(page.words),), ((0, asked),), (page.words[asked].text,))
        return predict_words(network, parts[0], parts[1], masked, vocabulary)[0]

    asked = place("Tax")
    plain = logits(example(), asked)
    assert not torch.allclose(plain, logits(with_word(place("Subtotal"), "Freight"), asked), atol=1e-5)
    words = list(page_words())
    words[asked] = replace(words[asked], box=(300, 700, 340, 720))
    assert not torch.allclose(plain, logits(replace(example(), words=tuple(words)), asked), atol=1e-5)


def test_the_target_is_the_first_piece_of_the_masked_word(network, vocabulary, parts):
    masked = mask_words(source(3), random.Random(3), Masking())
    logits, wanted = predict_words(network, parts[0], parts[1], masked, vocabulary)
    assert logits.shape == (len(masked.asked), 30522)
    assert wanted.tolist() == [int(vocabulary.pieces([word])[0][0]) for word in masked.words]


def test_the_image_is_not_read(network):
    with_image = MaskedWords(network, lambda step: [example(image=True)])
    without = MaskedWords(network, lambda step: [example()])
    without.head.load_state_dict(with_image.head.state_dict())
    without.stand_in.load_state_dict(with_image.stand_in.state_dict())
    assert torch.equal(with_image.loss(0, random.Random(0))[0], without.loss(0, random.Random(0))[0])


def test_masked_words_are_learned_beyond_the_guess_by_frequency(network, vocabulary):
    training, held_out = [page for step in range(20) for page in source(step)], source(1000)
    guess = first_pieces(training, vocabulary, 30522)
    torch.manual_seed(4)
    objective = MaskedWords(network, source, guess=guess)
    before = objective.figures(held_out, training)
    assert before["nats"] == pytest.approx(before["unigram_nats"], abs=1.0)  # the bias alone speaks at the start
    frozen = network.text_encoder.embedding.piece_vectors.clone()
    learn(objective, torch.optim.AdamW(objective.learned.parameters(), 4e-3), Plan(steps=40, warmup=5))
    after = objective.figures(held_out, training)
    assert after["nats"] < 0.7 * after["unigram_nats"]
    assert after["accuracy"] > after["unigram_accuracy"] + 0.2
    assert torch.equal(frozen, network.text_encoder.embedding.piece_vectors)
    assert objective.figures(held_out, training) == after


def test_the_learned_stand_in_takes_the_place_of_hidden_words(network):
    objective = MaskedWords(network, source)
    objective.loss(0, random.Random(0))[0].backward()
    assert objective.stand_in.token.grad is not None
    assert objective.stand_in.token.grad.abs().sum() > 0
