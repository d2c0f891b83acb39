"""What a training task of the optimizer's quality benchmark offers to the runner."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor, nn


class Task(Protocol):
    """A network, its batches and how it is judged. Everything follows from integers, so that all optimizers see the
    same."""

    name: str
    rest_rate: float  # of AdamW for embeddings, norms and vectors, the same beside every optimizer

    def network(self, seed: int) -> nn.Module:
        """A fresh network in train mode."""

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        """Training loss of the batch of that step; pure in (seed, step)."""

    def held_out(self, network: nn.Module) -> float:
        """Mean held-out loss, lower is better; always on the same examples."""

    def measures(self, network: nn.Module) -> dict[str, float]:
        """Held-out figures that mean something to a reader, higher is better. Asked once, at the end."""
