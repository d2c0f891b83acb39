"""Load public weights into the parts of a network, from a hub or from a local file or folder.

Each part is read by the library that made it (timm, open_clip, transformers). Every tensor of the part must be found.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

import httpx
import open_clip
import timm
import torch
from safetensors import SafetensorError
from timm.models import load_state_dict as load_timm_file
from torch import Tensor, nn
from transformers import AutoTokenizer, BertModel

from model.network import GroundingNetwork
from model.vocabulary import TOKENIZER_FILE, Vocabulary

T = TypeVar("T")


def load_trunk(network: GroundingNetwork, source: str | Path) -> int:
    """Load timm's weights into the image trunk.

    Args:
        network: network whose trunk is overwritten.
        source: a timm model name, a file that timm wrote, or a folder downloaded from the hub with one such file.

    Returns:
        The number of tensors loaded.

    Raises:
        ValueError: the weights cannot be obtained or do not fit. The message is one sentence.
    """
    if _is_local(source):
        state = _load_or_explain(lambda: load_timm_file(str(_file_in(Path(source)))), source)
    else:
        state = _load_or_explain(
            lambda: timm.create_model(str(source), pretrained=True, num_classes=0).state_dict(), source
        )
    state = {name: tensor for name, tensor in state.items() if not name.startswith("head.")}
    return _arrive(network.image_encoder.trunk, state, source, "image trunk")


def load_prompt_tower(network: GroundingNetwork, source: str | Path) -> int:
    """Load open_clip's weights into the text tower of the prompt encoder.

    Args:
        network: network whose tower is overwritten.
        source: an open_clip tag of the network's tower ("laion2b_s34b_b79k"), a file that open_clip wrote, or a
            folder downloaded from the hub with one such file.

    Returns:
        The number of tensors loaded.

    Raises:
        ValueError: the preset has no public tower, or the weights cannot be obtained or do not fit.
    """
    clip, name = network.prompt_encoder.clip, network.config.prompt.tower
    if clip is None or name is None:
        raise ValueError(f"The preset {network.config.name!r} has no public prompt tower to load weights into.")
    wants = open_clip.get_pretrained_cfg(name, str(source)).get("quick_gelu", False)
    if wants and not (open_clip.get_model_config(name) or {}).get("quick_gelu", False):
        raise ValueError(f"The weights {source} need the activation of {name}-quickgelu, which the network has not.")
    if _is_local(source):
        state = _load_or_explain(lambda: open_clip.factory.load_state_dict(str(_file_in(Path(source)))), source)
    else:
        state = _load_or_explain(lambda: open_clip.create_model(name, pretrained=str(source)).state_dict(), source)
    inside = {key.removeprefix("text."): value for key, value in state.items() if not key.startswith("visual.")}
    for left_out in ("text_projection", "logit_scale", "logit_bias"):
        inside.pop(left_out, None)
    return _arrive(clip.tower, inside, source, "prompt tower")


def load_text_encoder(network: GroundingNetwork, source: str | Path) -> int:
    """Load a BERT of transformers into the text encoder.

    Its wordpieces must equal this project's vocabulary, because an id would otherwise mean another word.

    Args:
        network: network whose text encoder is overwritten.
        source: a model name or a folder.

    Returns:
        The number of tensors loaded.

    Raises:
        ValueError: the preset has no BERT, the wordpieces differ, or the weights cannot be obtained or do not fit.
    """
    text = network.text_encoder
    if text.bert is None or text.embedding.own is None:
        raise ValueError(f"The preset {network.config.name!r} has no BERT to load weights into.")
    pieces = _load_or_explain(lambda: AutoTokenizer.from_pretrained(str(source)).get_vocab(), source)
    if pieces != Vocabulary(1).ids:
        raise ValueError(
            f"The wordpieces of {source} are not those of {TOKENIZER_FILE.name}; load an uncased English BERT."
        )
    bert = _load_or_explain(lambda: BertModel.from_pretrained(str(source), add_pooling_layer=False), source)
    state = bert.state_dict()
    words = {"weight": state.pop("embeddings.word_embeddings.weight")}
    arrived = _arrive(text.bert.bert, state, source, "text encoder")
    return arrived + _arrive(text.embedding.own, words, source, "table of wordpieces")


def _is_local(source: str | Path) -> bool:
    return isinstance(source, Path) or Path(source).exists()


def _file_in(source: Path) -> Path:
    """Return the file of weights in a folder, safetensors before others; a file stays as it is."""
    if not source.is_dir():
        return source
    for pattern in ("*.safetensors", "*.pt", "*.pth", "*.bin"):  # hubs offer the same weights in several formats
        files = sorted(source.glob(pattern))
        if len(files) == 1:
            return files[0]
        if files:
            raise ValueError(f"the folder has {len(files)} files {pattern}; name one of them")
    raise ValueError("the folder has no file of weights")


def _load_or_explain(load: Callable[[], T], source: str | Path) -> T:
    try:
        return load()
    except (OSError, RuntimeError, ValueError, httpx.HTTPError, SafetensorError, UnpicklingError, EOFError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        where = (
            "read" if _is_local(source) else "had from the hub; download it elsewhere and give its path, or go without"
        )
        raise ValueError(f"The weights {source} cannot be {where} ({reason}).") from error


@torch.no_grad()
def _arrive(part: nn.Module, state: Mapping[str, Tensor], source: str | Path, what: str) -> int:
    wanted: dict[str, Any] = part.state_dict()
    missing, extra = sorted(wanted.keys() - state.keys()), sorted(state.keys() - wanted.keys())
    unlike = sorted(name for name in wanted.keys() & state.keys() if wanted[name].shape != state[name].shape)
    if missing or extra or unlike:
        example = (unlike or missing or extra)[0]
        raise ValueError(
            f"The weights {source} do not fit the {what}: {len(missing)} tensors are missing, {len(extra)} unknown and"
            f" {len(unlike)} of another size, {example} for one."
        )
    part.load_state_dict(state)
    return len(wanted)
