"""The network with parts of its input hidden: pixels behind a token, words behind another.

The trunk of the image encoder cannot drop tokens, so hidden ones are replaced (SimMIM,
https://arxiv.org/abs/2111.09886, section 3.1). Nothing of the network itself is changed: a view shares its parameters
and differs in one module.
"""

import copy
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from model.encoders.image import ImageEncoder
from model.inputs import Bags, PageBatch
from model.network import GroundingNetwork

TOKEN_STRIDE = 4  # pixels of a token right after the patch embedding
M = TypeVar("M", bound=nn.Module)


class MaskToken(nn.Module):
    """A learned token that takes the place of what is hidden."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.empty(width).normal_(std=0.02))


def replaced(module: M, path: str, part: nn.Module) -> M:
    """A view of ``module`` with another ``part`` at ``path`` (names with dots between); all else is shared with it."""
    name, _, rest = path.partition(".")
    inner = module._modules[name]
    assert inner is not None
    view = copy.copy(module)
    view._modules = dict(module._modules)
    view._modules[name] = replaced(inner, rest, part) if rest else part
    return view


def token_width(encoder: ImageEncoder) -> int:
    """Channels of a token right after the patch embedding."""
    return int(encoder.trunk.patch_embed.proj.out_channels)


def with_hidden_image(encoder: ImageEncoder, hidden: Tensor, stand_in: MaskToken) -> ImageEncoder:
    """The encoder as it sees images [G, 3, H, W] of which the cells ``hidden`` [G, h, w] (bool) are hidden."""
    return replaced(encoder, "trunk.patch_embed", _HidingPatches(encoder.trunk.patch_embed, hidden, stand_in.token))


def with_hidden_words(
    network: GroundingNetwork, pages: PageBatch, hidden: Tensor, stand_in: MaskToken
) -> tuple[GroundingNetwork, PageBatch]:
    """Network and pages of which the words ``hidden`` [G, N] (bool) have a place and nothing else."""
    embedding = _HidingWords(network.text_encoder.embedding, hidden.flatten(), stand_in.token)
    shapes = pages.shapes.masked_fill(hidden[..., None], 0.0)  # how a word looks would give it away
    return replaced(network, "text_encoder.embedding", embedding), replace(pages, shapes=shapes)


def spread(hidden: Tensor, height: int, width: int) -> Tensor:
    """A mask on a grid, [G, h, w], on a finer one, [G, height, width]; ValueError where they do not fit."""
    down, right = height // hidden.shape[1], width // hidden.shape[2]
    if (hidden.shape[1] * down, hidden.shape[2] * right) != (height, width):
        raise ValueError(f"A mask of {hidden.shape[1]} x {hidden.shape[2]} cells does not fit {height} x {width}.")
    return hidden.repeat_interleave(down, 1).repeat_interleave(right, 2)


class _HidingPatches(nn.Module):
    """Patch embedding that sees zeros for hidden pixels and gives the token for hidden patches.

    Zeros, because the kernels (7 x 7) are wider than their stride (4): what is left in a hidden patch would reach its
    neighbours.
    """

    def __init__(self, embed: nn.Module, hidden: Tensor, token: Tensor) -> None:
        super().__init__()
        self.embed, self.hidden, self.token = embed, hidden, token

    def forward(self, image: Tensor) -> Tensor:
        """image [G, 3, H, W] -> patches [G, H / 4, W / 4, C]."""
        patches: Tensor = self.embed(image.masked_fill(spread(self.hidden, *image.shape[-2:])[:, None], 0.0))
        hidden = spread(self.hidden, image.shape[-2] // TOKEN_STRIDE, image.shape[-1] // TOKEN_STRIDE)
        return torch.where(hidden[..., None], self.token.to(patches.dtype), patches)


class _HidingWords(nn.Module):
    """Word embedding that gives the token for hidden words, and no meaning."""

    def __init__(self, embed: nn.Module, hidden: Tensor, token: Tensor) -> None:
        super().__init__()
        self.embed, self.hidden, self.token = embed, hidden[:, None], token

    def forward(self, grams: Bags, pieces: Bags) -> tuple[Tensor, Tensor]:
        vectors, meaning = self.embed(grams, pieces)
        return torch.where(self.hidden, self.token.to(vectors.dtype), vectors), meaning.masked_fill(self.hidden, 0.0)
