"""Build parameter groups from a module, and count the bytes of an optimizer's state."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

_BY_NAME = re.compile(r"embed|token", re.IGNORECASE)
_NORMS = (nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, nn.modules.batchnorm._NormBase)


def parameter_groups(module: nn.Module, weight_decay: float = 0.0, embeddings: bool = False) -> list[dict[str, Any]]:
    """Split a module's parameters into matrices for the subspace and the rest for AdamW.

    The rest is everything with fewer than two dimensions, parameters of norms, and embeddings. Embeddings are tables of
    nn.Embedding (tied ones too) and parameters whose own name contains "embed" or "token", as position tables and class
    tokens do. Frozen parameters and empty groups are left out.

    Args:
        module: the network.
        weight_decay: of the matrices; the rest has none.
        embeddings: whether embeddings go to the subspace too.

    Returns:
        At most two groups.
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
    others: list[Tensor] = []
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        table = parameter in tables or _BY_NAME.search(name.rpartition(".")[2]) is not None
        low = parameter.dim() >= 2 and parameter not in norms and (embeddings or not table)
        (matrices if low else others).append(parameter)
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": others, "weight_decay": 0.0, "subspace": None},
    ]
    return [group for group in groups if group["params"]]


def state_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Return the bytes of the tensors in an optimizer's state dict."""
    states = optimizer.state_dict()["state"].values()
    tensors = [value for state in states for value in state.values() if isinstance(value, Tensor)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
