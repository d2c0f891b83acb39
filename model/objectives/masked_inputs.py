"""View the network with parts of its input hidden behind a mask token: pixels or words.

The trunk of the image encoder cannot drop tokens, so hidden ones are replaced (SimMIM,
https://arxiv.org/abs/2111.09886, section 3.1). The network itself does not change: a view shares its parameters
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
    """Learned token that replaces a hidden part of the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.empty(width).normal_(std=0.02))


def replace_part(module: M, path: str, part: nn.Module) -> M:
    """Return a view of a module in which one part is replaced; everything else is shared.

    Args:
        module: the module to view.
        path: name of the part, with dots between levels.
        part: its replacement.
    """
    name, _, inner_path = path.partition(".")
    inner = module._modules[name]
    assert inner is not None
    view = copy.copy(module)
    view._modules = dict(module._modules)
    view._modules[name] = replace_part(inner, inner_path, part) if inner_path else part
    return view


def token_width(encoder: ImageEncoder) -> int:
    """Return the number of channels of a token right after the patch embedding."""
    return int(encoder.trunk.patch_embed.proj.out_channels)


def with_hidden_image(encoder: ImageEncoder, hidden: Tensor, stand_in: MaskToken) -> ImageEncoder:
    """Return the encoder as it sees images of which some cells are hidden.

    Args:
        encoder: image encoder for images [G, 3, H, W].
        hidden: bool [G, h, w].
        stand_in: token for hidden patches.
    """
    return replace_part(encoder, "trunk.patch_embed", _HidingPatches(encoder.trunk.patch_embed, hidden, stand_in.token))


def with_hidden_words(
    network: GroundingNetwork, pages: PageBatch, hidden: Tensor, stand_in: MaskToken
) -> tuple[GroundingNetwork, PageBatch]:
    """Return network and pages in which some words keep their position and nothing else.

    Args:
        network: the network.
        pages: G pages of N words.
        hidden: bool [G, N].
        stand_in: token for hidden words.
    """
    embedding = _HidingWords(network.text_encoder.embedding, hidden.flatten(), stand_in.token)
    shapes = pages.shapes.masked_fill(hidden[..., None], 0.0)  # the shape of a word would reveal it
    return replace_part(network, "text_encoder.embedding", embedding), replace(pages, shapes=shapes)


def spread_mask(hidden: Tensor, height: int, width: int) -> Tensor:
    """Spread a mask on a coarse grid to a finer one.

    Args:
        hidden: [G, h, w].
        height: rows of the finer grid.
        width: columns of the finer grid.

    Returns:
        [G, height, width].

    Raises:
        ValueError: the finer grid is no multiple of the coarse one.
    """
    down, right = height // hidden.shape[1], width // hidden.shape[2]
    if (hidden.shape[1] * down, hidden.shape[2] * right) != (height, width):
        raise ValueError(f"A mask of {hidden.shape[1]} x {hidden.shape[2]} cells does not fit {height} x {width}.")
    return hidden.repeat_interleave(down, 1).repeat_interleave(right, 2)


class _HidingPatches(nn.Module):
    """Patch embedding that reads zeros for hidden pixels and returns the token for hidden patches.

    Pixels are zeroed because the kernels (7 x 7) are wider than their stride (4): pixels left in a hidden patch would
    reach its neighbours.
    """

    def __init__(self, embed: nn.Module, hidden: Tensor, token: Tensor) -> None:
        super().__init__()
        self.embed, self.hidden, self.token = embed, hidden, token

    def forward(self, image: Tensor) -> Tensor:
        """Embed images [G, 3, H, W] as patches [G, H / 4, W / 4, C]."""
        patches: Tensor = self.embed(image.masked_fill(spread_mask(self.hidden, *image.shape[-2:])[:, None], 0.0))
        hidden = spread_mask(self.hidden, image.shape[-2] // TOKEN_STRIDE, image.shape[-1] // TOKEN_STRIDE)
        return torch.where(hidden[..., None], self.token.to(patches.dtype), patches)


class _HidingWords(nn.Module):
    """Word embedding that returns the token, and no meaning, for hidden words."""

    def __init__(self, embed: nn.Module, hidden: Tensor, token: Tensor) -> None:
        super().__init__()
        self.embed, self.hidden, self.token = embed, hidden[:, None], token

    def forward(self, grams: Bags, pieces: Bags) -> tuple[Tensor, Tensor]:
        """Embed words as `WordEmbedding.forward` does."""
        vectors, meaning = self.embed(grams, pieces)
        return torch.where(self.hidden, self.token.to(vectors.dtype), vectors), meaning.masked_fill(self.hidden, 0.0)
