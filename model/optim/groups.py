"""Parameter groups from a module, and the bytes of an optimizer's state."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

_BY_NAME = re.compile(r"embed|token", re.IGNORECASE)
_NORMS = (nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, nn.modules.batchnorm._NormBase)


def parameter_groups(module: nn.Module, weight_decay: float = 0.0, embeddings: bool = False) -> list[dict[str, Any]]:
    """Two groups: matrices for the subspace, with weight decay; the rest for AdamW, without.

    The rest is what has fewer than two dimensions, what a norm owns, and embeddings: tables of nn.Embedding (tied ones
    too) and parameters called ...embed... or ...token... themselves, as position tables and class tokens are.
    embeddings=True sends those to the subspace as well. Frozen parameters are left out; a group that would be empty is
    too.
    """
    tables: set[Tensor] = set()
    norms: set[Tensor] = set()
    for part in module.modules():
        own = set(part.parameters(recurse=False))
        if isinstance(part, nn.Embedding | nn.EmbeddingBag):
            tables |= own
        elif isinstance(part, _NORMS):
            norms |= own
    matrices: list[Tensor] = []
    rest: list[Tensor] = []
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        table = parameter in tables or _BY_NAME.search(name.rpartition(".")[2]) is not None
        low = parameter.dim() >= 2 and parameter not in norms and (embeddings or not table)
        (matrices if low else rest).append(parameter)
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": rest, "weight_decay": 0.0, "subspace": None},
    ]
    return [group for group in groups if group["params"]]


def state_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Bytes of the tensors in an optimizer's state dict."""
    states = optimizer.state_dict()["state"].values()
    tensors = [value for state in states for value in state.values() if isinstance(value, Tensor)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
