"""What a run learns: modules, the loss of a step, and what is left at the end."""

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from model import checkpoint
from model.network import GroundingNetwork

CHECKPOINT_FILE = "checkpoint.safetensors"  # the network alone: what a Predictor loads


class Objective(ABC):
    """Something to minimise. learned: all that a resumed run needs back, heads and moving averages included."""

    learned: nn.Module

    @abstractmethod
    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The loss of a step (scalar) and its parts, detached, for the log. Pure in the state, the step and ``rng``, whose
        seed torch has too."""

    def after_step(self, done: float) -> None:  # noqa: B027 (most objectives have nothing to do here)
        """Called when the optimizer has stepped; ``done`` is the share of the run. Moving averages follow here."""

    @abstractmethod
    def save(self, folder: Path) -> str:
        """Writes what the run is for into ``folder``, atomically, and returns its version."""

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.learned.parameters()).device


class NetworkObjective(Objective):
    """An objective whose outcome is a grounding network. heads: modules that are needed to learn and thrown away then."""

    def __init__(self, network: GroundingNetwork, **heads: nn.Module) -> None:
        self.network = network
        device = next(network.parameters()).device
        heads = {name: head.to(device) for name, head in heads.items()}
        self.learned = nn.ModuleDict({"network": network, **heads}) if heads else network

    def save(self, folder: Path) -> str:
        return checkpoint.save(folder / CHECKPOINT_FILE, self.network, self.network.config.to_dict())
