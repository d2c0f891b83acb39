"""Parameter lists that optimizers are measured on: the network that ships, and one of base size by its shapes alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import nn

from model.encoders.fusion import Fusion
from model.encoders.image import ImageEncoder
from model.encoders.layout_bias import LayoutBias
from model.encoders.prompt import PromptEncoder
from model.encoders.text import TextEncoder
from model.heads.mask_decoder import MaskDecoder
from model.heads.word_head import WordHead
from model.network import GroundingNetwork
from model.optim import parameter_groups
from model.presets import NANO, ImageConfig, PromptConfig, TextConfig

NETWORKS = ("nano", "base")
BASE = (
    "Hiera-B+ with a neck of 256, a text encoder of BERT-base's size (12 layers of 768, a table of 30,522 rows), CLIP's text tower "
    "(12 layers of 512, 49,408 tokens), fusion, word head and mask decoder at 256"
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A parameter. kind: "matrix" (convolutions too), "embedding" (which AdamW takes unless told otherwise), or
    "rest"."""

    name: str
    shape: tuple[int, ...]
    kind: str


def network_of(name: str) -> nn.Module:
    """The modules of a network, on the meta device: shapes without storage. ValueError for a name that is not in
    NETWORKS."""
    with torch.device("meta"):
        if name == "nano":
            return GroundingNetwork(NANO)
        if name == "base":
            return _base()
    raise ValueError(f"There is no list {name!r}; choose {', '.join(NETWORKS)}.")


def _base() -> nn.Module:
    """The parts of the network at the sizes that its design gives them: no preset yet, so put side by side."""
    from open_clip.transformer import TextTransformer  # once `model` has mended the import of torchvision

    width, heads, text_width, text_heads = 256, 8, 768, 12
    image = ImageConfig(
        long_side=1024, embed_dim=112, stages=(2, 3, 16, 3), global_attention=(12, 16, 20), windows=(8, 4, 14, 7)
    )
    text = TextConfig(buckets=30522, layers=12)
    return nn.ModuleDict(
        {
            "image_encoder": ImageEncoder(image, width),
            "text_encoder": TextEncoder(text, text_width, text_heads),
            "layout_bias": LayoutBias(text.layers + 4, text_heads),
            "from_text": nn.Linear(text_width, width),
            "tower": TextTransformer(
                context_length=77, vocab_size=49408, width=512, heads=8, layers=12, output_dim=width
            ),
            "prompt_encoder": PromptEncoder(PromptConfig(layers=1), width, heads),
            "fusion": Fusion(2, width, heads),
            "word_head": WordHead(3, width, heads),
            "mask_decoder": MaskDecoder(2, width, heads),
        }
    )


@cache
def parameters_of(name: str) -> tuple[Listed, ...]:
    """All trainable parameters of a network, sorted into kinds as `parameter_groups` does."""
    network = network_of(name)
    low = {id(parameter) for parameter in parameter_groups(network)[0]["params"]}
    wide = {id(parameter) for parameter in parameter_groups(network, embeddings=True)[0]["params"]}
    return tuple(
        Listed(
            key,
            tuple(parameter.shape),
            "matrix" if id(parameter) in low else "embedding" if id(parameter) in wide else "rest",
        )
        for key, parameter in network.named_parameters()
        if parameter.requires_grad
    )


def matrix_shapes(name: str) -> list[tuple[int, ...]]:
    """Shapes of the parameters that go to the subspace by default."""
    return [each.shape for each in parameters_of(name) if each.kind == "matrix"]
