"""Where the text stages take their decoder from, and what of it learns."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from engine.training.pretraining import text_stages
from engine.training.pretraining.pretraining_stage import StageInputs
from engine.training.pretraining.texts import Corpus, Document
from model.network import GroundingNetwork
from model.presets import ImageConfig, NetworkConfig, TextConfig
from model.pretraining.contrastive import sentence_vectors
from model.pretraining.decoder_files import load_decoder, save_decoder
from model.pretraining.lora import adapters_of
from model.pretraining.small_decoder import DecoderSize, small_decoder, small_tokenizer

SMALL = NetworkConfig(
    width=32, heads=2, image=ImageConfig(long_side=64, embed_dim=16), text=TextConfig(buckets=64, pieces=100)
)


@pytest.fixture
def around(tmp_path: Path) -> StageInputs:
    """A run whose text stages begin with a decoder of a folder."""
    tokenizer = small_tokenizer(["a stamp is dry", "the form is signed"] * 20, 120)
    decoder = small_decoder(tokenizer, DecoderSize(pieces=120, width=32, layers=2, heads=2))
    save_decoder(tmp_path / "given", decoder, tokenizer)
    return StageInputs(
        GroundingNetwork(SMALL), 0, tmp_path / "run", tmp_path / "no teacher", decoder=str(tmp_path / "given")
    )


@pytest.mark.parametrize("stage", ["decoder", "bidirectional", "contrast"])
def test_a_text_stage_begins_with_the_decoder_that_was_named(around: StageInputs, stage: str) -> None:
    learned = text_stages.TEXT_STAGES[stage].objective(around)
    given, _ = load_decoder(str(around.decoder))
    own = learned.decoder.state_dict()  # type: ignore[attr-defined]
    assert all(torch.equal(value, own[name]) for name, value in given.state_dict().items())
    assert all(parameter.requires_grad for parameter in learned.decoder.parameters())  # type: ignore[attr-defined]


def test_of_a_large_decoder_adapters_alone_learn(around: StageInputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_stages, "_LARGE", 1_000)
    stage = text_stages.TEXT_STAGES["bidirectional"]
    objective = stage.objective(around)
    (group,) = stage.groups(objective)
    decoder = objective.decoder  # type: ignore[attr-defined]
    assert {id(one) for one in group["params"]} == {id(one) for one in adapters_of(decoder).parameters()}


def test_a_decoder_that_was_saved_in_half_precision_learns(
    around: StageInputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder, tokenizer = load_decoder(str(around.decoder))
    save_decoder(Path(str(around.decoder)), decoder.bfloat16(), tokenizer)
    monkeypatch.setattr(text_stages, "_LARGE", 1_000)
    objective = text_stages.TEXT_STAGES["bidirectional"].objective(around)
    loss, _ = objective.loss(0, random.Random(0))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.dtype == torch.float32 and torch.isfinite(loss)


def test_a_decoder_that_is_not_there_is_named(tmp_path: Path, around: StageInputs) -> None:
    missing = StageInputs(around.network, 0, around.folder, around.teacher, decoder=str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"There is no decoder at .*nowhere"):
        text_stages.TEXT_STAGES["bidirectional"].objective(missing)


@pytest.mark.parametrize("stage", ["decoder", "bidirectional", "contrast", "distill"])
def test_a_text_stage_learns_from_the_documents_of_its_run(
    around: StageInputs, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    lines = ("a stamp is dry", "the form is signed")
    monkeypatch.setattr(text_stages, "_texts", lambda _: Corpus((Document("paper", lines),), ()))
    read = text_stages.TEXT_STAGES[stage].objective(around)._texts(0)  # type: ignore[attr-defined]
    assert set(read) <= {*lines, " ".join(lines)}


def test_the_named_decoder_teaches_where_no_stage_made_another(around: StageInputs) -> None:
    objective = text_stages.TEXT_STAGES["distill"].objective(around)
    vectors = objective.teacher.vectors(["the form", "the form is signed"])  # type: ignore[attr-defined]
    assert vectors.shape == (2, 32)
    causal, tokenizer = load_decoder(str(around.decoder))
    assert not torch.allclose(vectors[1], sentence_vectors(causal, tokenizer, ["the form is signed"])[0], atol=1e-4)
