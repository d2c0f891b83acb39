import random
from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPTJConfig,
    GPTNeoConfig,
    GPTNeoXConfig,
    LlamaConfig,
    MambaConfig,
    Qwen2Config,
)

from model.learning import Plan, learn
from model.pretraining.bidirectional import is_bidirectional, looks_ahead, make_bidirectional
from model.pretraining.contrastive import SentenceContrast, contrast_figures, sentence_vectors, set_dropout
from model.pretraining.decoder import DECODER_FOLDER, IGNORED, NextTokens, next_token_figures, predict_tokens
from model.pretraining.decoder_files import load_decoder, save_decoder
from model.pretraining.lora import adapt, with_merged_adapters
from model.pretraining.masked_next_token import MaskedNextTokens, mask_id, mask_tokens, masked_token_figures
from model.pretraining.similarity import agreement, spearman, uniformity
from model.pretraining.small_decoder import DecoderSize, small_decoder, small_tokenizer
from model.pretraining.text_batches import NO_WORD, mean_pool, tokenise
from model.pretraining.unigram import Unigram

SENTENCES = [
    f"{first} {second} {third}."
    for first, second, third in product(
        ("The clerk", "A customer", "Our bank"),
        ("pays the invoice", "sends a receipt", "signs the form"),
        ("on Monday", "before noon", "without delay", "by letter"),
    )
]
SIZE = DecoderSize(pieces=200, width=32, layers=2, heads=2)
WIDE = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFIGS = {
    "llama": lambda: LlamaConfig(vocab_size=50, num_key_value_heads=1, **WIDE),
    "qwen2": lambda: Qwen2Config(vocab_size=50, num_key_value_heads=1, **WIDE),
    "qwen2, sliding": lambda: Qwen2Config(
        vocab_size=50, num_key_value_heads=1, use_sliding_window=True, sliding_window=4, max_window_layers=1, **WIDE
    ),
    "gpt2": lambda: GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2),
    "gpt-neox": lambda: GPTNeoXConfig(vocab_size=50, **WIDE),
    "gpt-neo": lambda: GPTNeoConfig(
        vocab_size=50,
        hidden_size=16,
        num_layers=2,
        num_heads=2,
        attention_types=[[["global", "local"], 1]],
        window_size=4,
    ),
    "gpt-j": lambda: GPTJConfig(vocab_size=50, n_embd=16, n_layer=2, n_head=2, rotary_dim=4),
}


def decoder_of(config, **how):
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config, **how).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer(SENTENCES, SIZE.pieces)


@pytest.fixture
def decoder(tokenizer):
    torch.manual_seed(0)
    return small_decoder(tokenizer, SIZE).eval()


def source(step):
    return random.Random(step).sample(SENTENCES, 12)


def trained(objective, steps, rate=3e-3):
    lines: list[Mapping[str, float]] = []
    parameters = [p for p in objective.learned.parameters() if p.requires_grad]
    plan = Plan(steps=steps, warmup=5, metrics_every=max(1, steps // 4))
    learn(objective, torch.optim.AdamW(parameters, rate), plan, on_metrics=lines.append)
    return lines


@torch.no_grad()
def states(decoder, ids, valid=None):
    valid = torch.ones_like(ids) if valid is None else valid
    return decoder.base_model(input_ids=ids, attention_mask=valid, use_cache=False).last_hidden_state


@pytest.mark.parametrize("family", CONFIGS)
def test_later_tokens_change_earlier_states_of_bidirectional_decoders_only(family):
    decoder = decoder_of(CONFIGS[family]())
    ids = torch.arange(3, 9)[None]
    other = ids.clone()
    other[0, -1] = 40
    before = (states(decoder, ids) - states(decoder, other)).abs().amax(-1)[0]
    assert before[:-1].max() == 0 and before[-1] > 0
    assert not looks_ahead(decoder) and not is_bidirectional(decoder)
    make_bidirectional(decoder)
    after = (states(decoder, ids) - states(decoder, other)).abs().amax(-1)[0]
    assert after.min() > 1e-6
    assert is_bidirectional(decoder)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_padding_changes_nothing_in_a_bidirectional_decoder(attention):
    decoder = make_bidirectional(decoder_of(CONFIGS["llama"](), attn_implementation=attention))
    ids = torch.tensor([[3, 4, 5, 0, 0]])
    valid = torch.tensor([[1, 1, 1, 0, 0]])
    assert torch.allclose(states(decoder, ids, valid)[:, :3], states(decoder, ids[:, :3]), atol=1e-6)


def test_a_model_that_cannot_look_ahead_is_refused():
    with pytest.raises(ValueError, match="cannot be made bidirectional"):
        make_bidirectional(decoder_of(MambaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, state_size=4)))


def test_a_saved_decoder_is_what_it_was(decoder, tokenizer, tmp_path):
    make_bidirectional(decoder)
    versions = {
        save_decoder(tmp_path / "decoder", decoder, tokenizer) for _ in range(2)
    }  # the second replaces the first
    loaded, its = load_decoder(tmp_path / "decoder")
    tokens, again = tokenise(tokenizer, SENTENCES[:3], 32), tokenise(its, SENTENCES[:3], 32)
    assert len(versions) == 1 and torch.equal(tokens.ids, again.ids)
    assert torch.equal(states(loaded, again.ids), states(decoder, tokens.ids))
    assert [path.name for path in tmp_path.iterdir()] == ["decoder"]


def test_a_decoder_that_is_nowhere_is_refused(tmp_path):
    with pytest.raises(ValueError, match="train a small one"):
        load_decoder(tmp_path / "nowhere")


def test_tokens_know_their_words(tokenizer):
    text = "The clerk  pays\nunheardof receipts."
    tokens = tokenise(tokenizer, [text, "by letter"], 64)
    pieces = tokenizer.convert_ids_to_tokens(tokens.ids[0])
    built = [""] * 5
    for piece, word in zip(pieces, tokens.words[0].tolist(), strict=True):
        if word != NO_WORD:
            built[word] += piece.removeprefix("##")
    assert built == text.lower().split()
    assert tokens.special[0].tolist() == [word == NO_WORD for word in tokens.words[0].tolist()]
    assert tokens.valid[1].sum() == 4 and tokens.special[1, 4:].all()


def test_the_small_tokenizer_knows_frequent_pieces_and_spells_the_rest(tokenizer):
    assert len(tokenizer) <= SIZE.pieces
    assert tokenizer.tokenize("The clerk") == ["the", "clerk"]
    assert "".join(piece.removeprefix("##") for piece in tokenizer.tokenize("zebra")) == "zebra"
    assert tokenizer("by")["input_ids"][0] == tokenizer.cls_token_id


def test_masks_follow_bert_and_spare_what_cannot_be_foretold(tokenizer):
    tokens = tokenise(tokenizer, SENTENCES * 20, 32)
    mask = mask_id(tokenizer)
    ids, targets = mask_tokens(tokens, mask, len(tokenizer), 0.2, torch.Generator().manual_seed(1))
    chosen = targets != IGNORED
    plain = ~tokens.special
    assert not chosen[:, 0].any() and not chosen[tokens.special].any()
    assert chosen.sum() / plain.sum() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(ids[~chosen], tokens.ids[~chosen]) and torch.equal(targets[chosen], tokens.ids[chosen])
    hidden, same = ids[chosen] == mask, ids[chosen] == tokens.ids[chosen]
    assert hidden.float().mean() == pytest.approx(0.8, abs=0.03)
    assert same.float().mean() == pytest.approx(0.1, abs=0.03)
    one, _ = mask_tokens(
        tokenise(tokenizer, ["by letter"], 8), mask, len(tokenizer), 0.01, torch.Generator().manual_seed(1)
    )
    assert (one == mask).sum() <= 1


def test_a_token_is_foretold_from_the_place_before_it(decoder, tokenizer):
    tokens = tokenise(tokenizer, SENTENCES[:2], 32)
    targets = torch.full_like(tokens.ids, IGNORED)
    targets[0, 3], targets[1, 5] = 7, 9
    logits = decoder(input_ids=tokens.ids, attention_mask=tokens.valid.long()).logits
    wanted = -(logits[0, 2].log_softmax(-1)[7] + logits[1, 4].log_softmax(-1)[9]) / 2
    assert torch.allclose(predict_tokens(decoder, tokens.ids, tokens.valid, targets)[0], wanted, atol=1e-5)


def test_next_tokens_and_then_masked_ones_are_learned(decoder, tokenizer):
    training, held_out = SENTENCES[::2], SENTENCES[1::2]
    trained(NextTokens(decoder, tokenizer, lambda step: training), 60)
    figures = next_token_figures(decoder, tokenizer, held_out, training)
    assert 1 < figures["perplexity"] < 0.5 * figures["unigram_perplexity"]
    make_bidirectional(decoder)
    before = masked_token_figures(decoder, tokenizer, held_out, training)
    trained(MaskedNextTokens(decoder, tokenizer, lambda step: training), 80)
    after = masked_token_figures(decoder, tokenizer, held_out, training)
    assert after["nats"] < 0.7 * before["nats"] and after["nats"] < after["unigram_nats"]
    assert after["accuracy"] > 2 * after["unigram_accuracy"]


def test_the_contrast_is_between_two_readings_with_dropout(decoder, tokenizer):
    make_bidirectional(decoder)
    objective = SentenceContrast(decoder, tokenizer, source, dropout=0.2, scale=10.0)
    torch.manual_seed(5)
    loss, parts = objective.loss(0, random.Random(0))
    tokens = tokenise(tokenizer, source(0), 128)
    decoder.train()
    torch.manual_seed(5)
    found = decoder.base_model(input_ids=tokens.ids.repeat(2, 1), attention_mask=tokens.valid.repeat(2, 1).long())
    vectors = F.normalize(mean_pool(found.last_hidden_state, tokens.valid.repeat(2, 1)), dim=-1)
    slow = torch.zeros(())
    for one in range(12):
        scores = torch.stack([10.0 * vectors[one] @ vectors[12 + other] for other in range(12)])
        slow = slow - scores.log_softmax(0)[one] / 12
        assert scores[one] < 10.0 - 1e-4  # the readings differ
    assert torch.allclose(loss, slow, atol=1e-5) and parts["loss"] == loss.detach()


def test_contrast_spreads_sentences_and_finds_them_again(decoder, tokenizer):
    make_bidirectional(decoder)
    set_dropout(decoder, 0.3)
    before = contrast_figures(decoder, tokenizer, SENTENCES)
    lines = trained(SentenceContrast(decoder, tokenizer, source), 40, 1e-3)
    after = contrast_figures(decoder, tokenizer, SENTENCES)
    assert lines[-1]["loss"] < 0.9 * lines[0]["loss"] and lines[-1]["found"] > 0.9
    assert after["uniformity"] < before["uniformity"] < 0
    assert not torch.equal(*sentence_vectors(decoder, tokenizer, ["by letter", "on Monday"]))


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_adapters_start_as_nothing_learn_alone_and_can_be_merged(family):
    decoder = decoder_of(CONFIGS[family]())
    ids = torch.arange(3, 9)[None]
    plain = states(decoder, ids)
    frozen = {name: tensor.clone() for name, tensor in decoder.state_dict().items()}
    adapters = adapt(decoder, rank=2)
    assert torch.equal(states(decoder, ids), plain)
    optimizer = torch.optim.AdamW([p for p in decoder.parameters() if p.requires_grad], 0.01)
    assert sum(len(group["params"]) for group in optimizer.param_groups) == 2 * len(adapters)
    for _ in range(2):
        decoder(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    learned = states(decoder, ids)
    assert (learned - plain).abs().max() > 1e-3
    for name, tensor in decoder.state_dict().items():
        if "adapter" not in name:
            assert torch.equal(tensor, frozen[name.replace(".base", "")])
    whole = with_merged_adapters(decoder)
    assert whole.state_dict().keys() == frozen.keys()
    assert torch.allclose(states(whole, ids), learned, atol=1e-5)
    assert torch.equal(states(decoder, ids), learned)


def test_a_run_with_adapters_keeps_them_alone_and_saves_the_whole(decoder, tokenizer, tmp_path):
    adapt(make_bidirectional(decoder), rank=2)
    objective = MaskedNextTokens(decoder, tokenizer, source)
    parameters = [p for p in objective.learned.parameters() if p.requires_grad]
    learn(objective, torch.optim.AdamW(parameters, 0.01), Plan(steps=3, warmup=1), folder=tmp_path)
    kept = torch.load(tmp_path / "state.pt", weights_only=True)["network"]
    assert len(kept) == len(parameters) and all(name.endswith(("up", "down")) for name in kept)
    loaded, _ = load_decoder(tmp_path / DECODER_FOLDER)
    ids = tokenise(tokenizer, SENTENCES[:2], 32).ids
    assert torch.allclose(states(loaded, ids), states(decoder.eval(), ids), atol=1e-5)


def test_agreement_is_a_correlation_of_ranks():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=40).round(1), rng.normal(size=40).round(1)
    other += one

    def slow(values):
        return [sum(v < mine for v in values) + (sum(v == mine for v in values) - 1) / 2 for mine in values]

    assert spearman(one, other) == pytest.approx(np.corrcoef(slow(one), slow(other))[0, 1])
    assert spearman(one, np.zeros(40)) == 0
    vectors, pairs = torch.randn(9, 4), [(i, j) for i in range(9) for j in range(i)]
    assert agreement(vectors, 3 * vectors, pairs) == pytest.approx(1)
    assert uniformity(torch.ones(5, 4)) == pytest.approx(0, abs=1e-6) and uniformity(torch.eye(4)) < -3


def test_the_guess_by_frequency_is_a_distribution_that_knows_the_unseen():
    ids = torch.tensor([3, 3, 3, 1, 1, 2])
    guess = Unigram(ids, 10)
    assert guess.log_shares.exp().sum() == pytest.approx(1, abs=1e-6)
    assert guess.accuracy(torch.tensor([3, 1])) == 0.5
    assert guess.log_shares[3] > guess.log_shares[1] > guess.log_shares[2] > guess.log_shares[0] > -10
    assert Unigram(torch.tensor([0, 1]), 2).nats(torch.tensor([0])) == pytest.approx(np.log(2))
