"""Public weights arrive whole. There is no hub here: each library writes random weights in its own format."""

import shutil
from dataclasses import replace

import huggingface_hub.constants
import open_clip
import pytest
import timm
import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from model.hub import load_prompt_tower, load_text_encoder, load_trunk
from model.network import GroundingNetwork
from model.presets import BASE, NANO
from model.vocabulary import TOKENIZER_FILE

TRUNK = "sam2_hiera_tiny"
CONFIG = replace(
    BASE,
    image=replace(BASE.image, trunk=TRUNK),
    text=replace(BASE.text, layers=2, width=96, buckets=512),
)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return GroundingNetwork(CONFIG)


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def bert_folder(path, tokenizer=True, layers=2):
    config = BertConfig(hidden_size=96, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=384)
    torch.manual_seed(1)
    bert = BertModel(config, add_pooling_layer=False)
    bert.save_pretrained(path)
    if tokenizer:
        PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER_FILE)).save_pretrained(path)
    return bert


def test_all_tensors_of_a_trunk_that_timm_wrote_arrive(network, tmp_path):
    torch.manual_seed(1)
    public = timm.create_model(TRUNK, num_classes=0)
    torch.save(public.state_dict(), tmp_path / "trunk.pth")
    wanted = {k: v for k, v in public.state_dict().items() if not k.startswith("head.")}
    assert not torch.equal(network.image_encoder.trunk.state_dict()["pos_embed"], wanted["pos_embed"])
    assert load_trunk(network, tmp_path / "trunk.pth") == len(wanted)
    found = network.image_encoder.trunk.state_dict()
    assert found.keys() == wanted.keys() and all(torch.equal(found[k], wanted[k]) for k in wanted)


def test_a_clip_of_open_clip_loads_whole_and_keeps_its_states(network, tmp_path):
    torch.manual_seed(1)
    public = open_clip.create_model(CONFIG.prompt.tower).eval()
    torch.save(public.state_dict(), tmp_path / "clip.pt")
    arrived = load_prompt_tower(network, tmp_path / "clip.pt")
    clip = network.prompt_encoder.clip
    assert arrived == len(clip.tower.state_dict())
    for name, tensor in clip.tower.state_dict().items():
        assert torch.equal(tensor, public.state_dict()[name]), name
    ids = open_clip.get_tokenizer(CONFIG.prompt.tower)(["What is the total due?"])
    with torch.no_grad():
        pooled = public.encode_text(ids)
        clip.project = torch.nn.Identity()
        end = clip(ids[:, : int(ids.argmax()) + 1])[:, -1] @ public.text_projection
    assert torch.allclose(end, pooled, atol=1e-5)  # cut to the question, without the padding that open_clip reads


def test_a_bert_of_transformers_loads_whole_and_keeps_its_states(network, tmp_path):
    bert = bert_folder(tmp_path).eval()
    assert load_text_encoder(network, tmp_path) == len(bert.state_dict())
    text = network.text_encoder.eval()
    own = text.bert.bert.state_dict()
    for name, tensor in bert.state_dict().items():
        found = text.embedding.own.weight if name == "embeddings.word_embeddings.weight" else own[name]
        assert torch.equal(found, tensor), name
    ids = torch.tensor([[2054, 2003, 1996, 2561]])
    with torch.no_grad():
        there = bert(ids).last_hidden_state
        here = text.bert(text.embedding.own(ids), torch.arange(4.0)[None], torch.zeros(1, 12, 4, 4))
    assert torch.allclose(here, there, atol=1e-5)


def test_a_folder_of_downloaded_weights_serves_for_trunk_and_tower(network, tmp_path):
    torch.manual_seed(2)
    trunk, clip = timm.create_model(TRUNK, num_classes=0).state_dict(), open_clip.create_model(CONFIG.prompt.tower)
    for name, state in (("trunk", trunk), ("tower", clip.state_dict())):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        save_file({key: one.contiguous() for key, one in state.items()}, tmp_path / name / "model.safetensors")
    load_trunk(network, str(tmp_path / "trunk"))
    load_prompt_tower(network, str(tmp_path / "tower"))
    assert torch.equal(network.image_encoder.trunk.state_dict()["pos_embed"], trunk["pos_embed"])
    assert torch.equal(network.prompt_encoder.clip.tower.positional_embedding, clip.positional_embedding)


def test_a_folder_with_no_or_two_files_of_weights_is_refused(network, tmp_path):
    with pytest.raises(ValueError, match="no file of weights"):
        load_trunk(network, tmp_path)
    for name in ("one.pth", "two.pth"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match="name one of them"):
        load_trunk(network, tmp_path)


def test_what_does_not_fit_is_refused_and_changes_nothing(network, tmp_path):
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    torch.save(timm.create_model("sam2_hiera_small", num_classes=0).state_dict(), tmp_path / "small.pth")
    with pytest.raises(ValueError, match="do not fit the image trunk"):
        load_trunk(network, tmp_path / "small.pth")
    bert_folder(tmp_path / "deep", layers=3)
    with pytest.raises(ValueError, match="do not fit the text encoder"):
        load_text_encoder(network, tmp_path / "deep")
    (tmp_path / "cut.pth").write_bytes((tmp_path / "small.pth").read_bytes()[:5000])
    with pytest.raises(ValueError, match="cannot be read"):
        load_trunk(network, tmp_path / "cut.pth")
    for name in ("text.safetensors", "text.pth"):
        (tmp_path / name).write_text("no weights at all")
        with pytest.raises(ValueError, match="cannot be read"):
            load_trunk(network, tmp_path / name)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


def test_a_bert_of_other_wordpieces_is_refused(network, tmp_path):
    bert_folder(tmp_path)
    text = (tmp_path / "tokenizer.json").read_text()
    (tmp_path / "tokenizer.json").write_text(text.replace('"total"', '"totalx"'))
    with pytest.raises(ValueError, match="wordpieces"):
        load_text_encoder(network, tmp_path)
    shutil.rmtree(tmp_path)
    bert_folder(tmp_path, tokenizer=False)
    with pytest.raises(ValueError, match=r"wordpieces|cannot be read"):
        load_text_encoder(network, tmp_path)


def test_without_the_hub_a_name_is_refused_with_a_sentence(network, offline):
    for load, name in (
        (load_trunk, TRUNK),
        (load_prompt_tower, "laion2b_s34b_b79k"),
        (load_text_encoder, "google-bert/bert-base-uncased"),
    ):
        with pytest.raises(ValueError, match="cannot be had from the hub") as refused:
            load(network, name)
        assert "\n" not in str(refused.value)


def test_weights_for_another_activation_are_refused_before_fetching(network):
    with pytest.raises(ValueError, match="quickgelu"):
        load_prompt_tower(network, "openai")


def test_a_preset_without_the_part_says_so():
    nano = GroundingNetwork(NANO)
    with pytest.raises(ValueError, match="'nano' has no BERT"):
        load_text_encoder(nano, "google-bert/bert-base-uncased")
    with pytest.raises(ValueError, match="'nano' has no public prompt tower"):
        load_prompt_tower(nano, "openai")
