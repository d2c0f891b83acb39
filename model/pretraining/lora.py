"""Train a large model through low-rank adapters, two thin matrices beside each frozen matrix.

Hu et al. 2021, LoRA (https://arxiv.org/abs/2106.09685), section 4.1; rank 16 and a scale of 2 as in LLM2Vec
(https://arxiv.org/abs/2404.05961, appendix D).
"""

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D


class Adapter(nn.Module):
    """Low-rank map x -> scale * up(down(x)), zero at the start."""

    def __init__(self, into: int, out: int, rank: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.down = nn.Parameter(torch.empty(rank, into))
        self.up = nn.Parameter(torch.zeros(out, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the adapter: [..., into] -> [..., out]."""
        added: Tensor = self.scale * (x @ self.down.T @ self.up.T)
        return added

    def delta(self) -> Tensor:
        """Return the matrix [out, into] to add to the one beside the adapter."""
        delta: Tensor = self.scale * (self.up @ self.down)
        return delta


class Adapted(nn.Module):
    """A linear layer with its adapter."""

    def __init__(self, base: nn.Module, rank: int, scale: float) -> None:
        super().__init__()
        self.base = base
        weight = base.weight
        assert isinstance(weight, Tensor)
        into, out = weight.shape if isinstance(base, Conv1D) else reversed(weight.shape)
        self.adapter = Adapter(into, out, rank, scale).to(weight.device)

    def forward(self, x: Tensor) -> Tensor:
        """Apply layer and adapter and add both."""
        states: Tensor = self.base(x) + self.adapter(x).to(x.dtype)
        return states

    def merge(self) -> nn.Module:
        """Return the layer with the adapter added to its weights."""
        delta, weight = self.adapter.delta(), self.base.weight
        assert isinstance(weight, Tensor)
        with torch.no_grad():
            weight += (delta.T if isinstance(self.base, Conv1D) else delta).to(weight.dtype)
        return self.base


def adapt(decoder: Any, rank: int = 16, scale: float = 2.0) -> nn.ModuleList:
    """Put an adapter beside every matrix of the decoder's layers, in place, and freeze everything else.

    Args:
        decoder: a decoder of transformers.
        rank: rank of the adapters.
        scale: factor on their output.

    Returns:
        The adapters.

    Raises:
        ValueError: the decoder has no linear layer.
    """
    decoder.requires_grad_(False)
    adapters = nn.ModuleList()
    for parent in list(decoder.base_model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear | Conv1D):
                setattr(parent, name, adapted := Adapted(child, rank, scale))
                adapters.append(adapted.adapter)
    if not adapters:
        raise ValueError(f"{type(decoder).__name__} has no linear layer to put an adapter beside.")
    return adapters


def adapters_of(decoder: nn.Module) -> nn.ModuleList:
    """Return the adapters of a decoder; empty where it has none."""
    return nn.ModuleList(module.adapter for module in decoder.modules() if isinstance(module, Adapted))


def merge(decoder: nn.Module) -> None:
    """Add the adapters to the weights and remove them, in place; all parameters become trainable again."""
    for parent in list(decoder.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, Adapted):
                setattr(parent, name, child.merge())
    decoder.requires_grad_(True)


def with_merged_adapters(decoder: Any) -> Any:
    """Return the decoder without adapters: itself, or a copy with the adapters merged into its weights."""
    if not adapters_of(decoder):
        return decoder
    decoder = copy.deepcopy(decoder)
    merge(decoder)
    return decoder
