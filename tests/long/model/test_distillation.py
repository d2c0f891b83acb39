import random
from collections.abc import Mapping
from statistics import fmean

import pytest
import torch
import torch.nn.functional as F
from transformers import BertConfig, BertModel

from model import checkpoint
from model.layout import read_layout
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.pretraining.bidirectional import make_bidirectional
from model.pretraining.distillation import MASKED_WEIGHT, Distillation, set_page, student_vectors
from model.pretraining.similarity import agreement
from model.pretraining.small_decoder import small_decoder, small_tokenizer
from model.pretraining.teachers import Teacher, of_decoder
from model.pretraining.text_batches import tokenise
from tests.model.test_bidirectional import SENTENCES, SIZE

PAIRS = [(one, other) for one in range(len(SENTENCES)) for other in range(one)]


@pytest.fixture(scope="module")
def tokenizer():
    return small_tokenizer(SENTENCES, SIZE.pieces)


@pytest.fixture(scope="module")
def teacher(tokenizer):
    """A BERT with random weights that maps all subjects to one, which words alone do not tell."""
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=40, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    model = BertModel(config)
    with torch.no_grad():
        subjects = tokenizer.convert_tokens_to_ids(["the", "a", "our", "clerk", "customer", "bank"])
        model.embeddings.word_embeddings.weight[subjects] = 0.0
    return Teacher(model, tokenizer, most=16)


def texts(step):
    return random.Random(step).sample(SENTENCES, 8)


def test_a_word_is_the_mean_of_its_pieces_whatever_else_is_read(teacher, tokenizer):
    text = "The clerk signs zebras"
    together = teacher.encode([*SENTENCES[:3], text])[-1]
    tokens = tokenise(tokenizer, [text], 16)
    with torch.no_grad():
        states = teacher._model(input_ids=tokens.ids, attention_mask=tokens.valid.long()).last_hidden_state[0]
    assert torch.allclose(together.whole, states.mean(0), atol=1e-5)
    normed = F.layer_norm(states, (40,))
    for word in range(4):
        own = [place for place, owner in enumerate(tokens.words[0].tolist()) if owner == word]
        assert torch.allclose(together.words[word].float(), normed[own].mean(0), atol=2e-3)
    assert len([owner for owner in tokens.words[0].tolist() if owner == 3]) > 1 and together.seen.all()


def test_words_beyond_the_teachers_length_are_not_seen(teacher):
    reading = teacher.encode(["pays " * 20])[0]
    assert reading.seen.tolist() == [True] * 14 + [False] * 6


def test_only_a_bidirectional_decoder_teaches(tokenizer):
    torch.manual_seed(0)
    decoder = small_decoder(tokenizer, SIZE)
    with pytest.raises(ValueError, match="reads forward alone"):
        of_decoder(decoder, tokenizer)
    teacher = of_decoder(make_bidirectional(decoder), tokenizer)
    assert teacher.vectors(SENTENCES[:2]).shape == (2, SIZE.width)


def test_a_text_is_set_in_lines_that_are_read_in_its_order():
    text = " ".join(SENTENCES[:8])
    page = set_page(text)
    layout = read_layout(page.words)
    assert [layout.texts[at] for at in layout.order] == text.split()
    assert layout.line.max() >= 3
    assert all(word.box[0] >= 0 and word.box[2] <= page.size[0] for word in page.words)
    assert set_page("x" * 200).words[0].box[0] > 0  # a word wider than the page has its line


def test_students_agree_with_their_teacher_on_unseen_sentences(config, teacher):
    """Four of them: what one makes of so few sentences depends on how it was drawn."""
    held_out = [at for at in range(len(SENTENCES)) if at % 3 == 0]
    pairs = [(one, other) for one, other in PAIRS if one in held_out and other in held_out]
    training = [sentence for at, sentence in enumerate(SENTENCES) if at not in held_out]
    wanted, before, after = teacher.vectors(SENTENCES), [], []
    for seed in range(3, 7):
        torch.manual_seed(seed)
        student = GroundingNetwork(config).eval()
        torch.nn.init.normal_(student.text_encoder.embedding.piece_vectors, std=0.05)
        before.append(agreement(student_vectors(student, SENTENCES), wanted, pairs))
        objective = Distillation(student, teacher, lambda step: training)
        lines: list[Mapping[str, float]] = []
        optimizer = torch.optim.AdamW(objective.learned.parameters(), 3e-3)
        learn(objective, optimizer, Plan(steps=100, warmup=5, metrics_every=25), on_metrics=lines.append)
        after.append(agreement(student_vectors(student, SENTENCES), wanted, pairs))
        assert all(lines[-1][part] < lines[0][part] for part in ("whole", "words", "masked"))
    assert fmean(after) > fmean(before) + 0.2, (before, after)


def test_the_loss_is_made_of_its_three_parts(network, teacher):
    objective = Distillation(network, teacher, texts)
    total, parts = objective.loss(3, random.Random(3))
    assert torch.allclose(total.detach(), parts["whole"] + parts["words"] + parts["masked"])
    assert 0 <= parts["whole"] <= 2 and parts["masked"] == pytest.approx(MASKED_WEIGHT, rel=0.3)
    total.backward()
    assert network.text_encoder.layers[0].qkv.weight.grad.abs().sum() > 0
    assert all(parameter.grad is None for parameter in teacher._model.parameters())


def test_the_heads_are_thrown_away(network, config, teacher, tmp_path):
    objective = Distillation(network, teacher, texts)
    learn(objective, torch.optim.AdamW(objective.learned.parameters(), 1e-3), Plan(steps=1), folder=tmp_path)
    GroundingNetwork(config).load_state_dict(checkpoint.load(tmp_path / CHECKPOINT_FILE).state)


def test_a_students_vector_does_not_depend_on_what_is_read_beside(network):
    alone, beside = (
        student_vectors(network, SENTENCES[:1]),
        student_vectors(network, [SENTENCES[0], " ".join(SENTENCES)]),
    )
    assert torch.allclose(alone[0], beside[0], atol=1e-5)
