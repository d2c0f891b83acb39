import json
from dataclasses import replace

import pytest
import torch
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from engine.training.text_chain import FIGURES_FILE, LINKS, Chain, ChainPlan
from engine.training.texts import python_corpus
from model.inference import Predictor
from model.objectives.objective import CHECKPOINT_FILE
from model.presets import ImageConfig, NetworkConfig, TextConfig
from model.pretraining.small_decoder import DecoderSize
from model.vocabulary import TOKENIZER_FILE

CONFIG = NetworkConfig(
    name="test",
    width=16,
    heads=2,
    image=ImageConfig(long_side=64, embed_dim=16),
    text=TextConfig(buckets=64, vector_width=8),
)
PLAN = ChainPlan(
    decoder_steps=2,
    masked_steps=2,
    contrast_steps=2,
    distil_steps=2,
    page_steps=2,
    passages=2,
    sentences=3,
    pages=1,
    size=DecoderSize(pieces=300, width=16, layers=1, heads=2),
    judged=3,
    pairs=8,
    judged_pages=2,
    counted_pages=3,
)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory):
    """A folder like the teacher's, with a smaller one."""
    folder = tmp_path_factory.mktemp("minilm")
    torch.manual_seed(0)
    sizes = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=30522, **sizes)).save_pretrained(folder)
    special = {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER_FILE), **special).save_pretrained(folder)
    return folder


def chain(folder, minilm, plan=PLAN, **how):
    return Chain(folder, CONFIG, python_corpus(5), plan, minilm=minilm, **how)


@pytest.mark.long
def test_a_chain_that_was_interrupted_ends_where_a_whole_one_ends(tmp_path, minilm):
    shown = []
    whole = chain(tmp_path / "whole", minilm).run(lambda name, figures: shown.append(name))
    assert tuple(whole) == LINKS == tuple(shown)
    assert all(figures["before"].keys() == figures["after"].keys() for figures in whole.values())
    assert all(figures["before"] != figures["after"] for figures in whole.values())
    assert json.loads((tmp_path / "whole" / FIGURES_FILE).read_text())["links"] == whole

    steps = []
    parts = chain(
        tmp_path / "parts", minilm, on_metrics=lambda *line: steps.append(line), cancelled=lambda: len(steps) == 2
    )
    assert tuple(parts.run()) == LINKS[:2]  # stopped after a step of the third link
    assert chain(tmp_path / "parts", minilm).run() == whole
    assert chain(tmp_path / "parts", minilm, on_metrics=lambda *line: pytest.fail("all is done")).run() == whole
    assert Predictor.load(tmp_path / "whole" / LINKS[-1] / CHECKPOINT_FILE).version


def test_a_folder_with_another_chain_is_refused(tmp_path, minilm):
    (tmp_path / FIGURES_FILE).write_text(json.dumps({"plan": {}, "config": {}, "links": {}}))
    with pytest.raises(ValueError, match="another plan"):
        chain(tmp_path, minilm, replace(PLAN, seed=1)).run()
