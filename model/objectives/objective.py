"""Define what a run learns: its modules, the loss of a step, and the result it saves."""

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from model import checkpoint
from model.network import GroundingNetwork

CHECKPOINT_FILE = "checkpoint.safetensors"  # the network alone, as a Predictor loads it


class Objective(ABC):
    """Loss to minimise.

    Attributes:
        learned: all modules that a resumed run needs, heads and moving averages included.
    """

    learned: nn.Module

    @abstractmethod
    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Compute the loss of a step; pure in the state, the step and `rng`.

        Args:
            step: number of the step, from 0.
            rng: source of randomness; torch's generator has the same seed.

        Returns:
            The loss (scalar) and its parts, detached, for the log.
        """

    def after_step(self, done: float) -> None:  # noqa: B027 (most objectives have nothing to do here)
        """Update what follows the optimizer's step, such as moving averages; `done` is the share of the run."""

    @abstractmethod
    def save(self, folder: Path) -> str:
        """Write the result of the run into `folder` atomically and return its version."""

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        return next(self.learned.parameters()).device


class NetworkObjective(Objective):
    """Objective whose result is a grounding network; `heads` are needed for training alone."""

    def __init__(self, network: GroundingNetwork, **heads: nn.Module) -> None:
        self.network = network
        device = next(network.parameters()).device
        heads = {name: head.to(device) for name, head in heads.items()}
        self.learned = nn.ModuleDict({"network": network, **heads}) if heads else network

    def save(self, folder: Path) -> str:
        """Write the network's checkpoint into `folder` and return its version."""
        return checkpoint.save(folder / CHECKPOINT_FILE, self.network, self.network.config.to_dict())
