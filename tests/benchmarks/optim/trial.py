"""One run of one optimizer on one task: its curve, its last losses, its state."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from model.optim import parameter_groups, state_bytes
from tests.benchmarks.optim.task import Task

Make = Callable[[list[nn.Parameter], float], torch.optim.Optimizer]

WARMUP, FLOOR, CLIP = 20, 0.05, 1.0
REST_RATE = 2e-3  # AdamW for embeddings, norms and vectors, the same beside every row
POINTS = 15  # held-out losses along a run


@dataclass(frozen=True, slots=True)
class Trial:
    """curve: (steps done, held-out loss). loss: the last of them, infinite where the run diverged. milliseconds: a step of the
    optimizer under test, process time. state: its bytes. measures: what the task reports at the end."""

    curve: list[tuple[int, float]]
    loss: float
    milliseconds: float
    state: int
    measures: dict[str, float]


def run(task: Task, make: Make, rate: float, seed: int, steps: int, rest_rate: float = REST_RATE) -> Trial:
    """Train a fresh network of `task`: its weight matrices by `make` at `rate`, the rest by AdamW at a rate that all rows share."""
    network = task.network(seed)
    matrices, rest = ([*group["params"]] for group in parameter_groups(network))
    rest += [parameter for parameter in matrices if parameter.dim() > 2]  # Muon and the peers take matrices alone
    matrices = [parameter for parameter in matrices if parameter.dim() == 2]
    tested = make(matrices, rate)
    other = torch.optim.AdamW(rest, lr=rest_rate, betas=(0.9, 0.99), weight_decay=0.0)
    every = max(1, steps // POINTS)
    curve: list[tuple[int, float]] = [(0, task.held_out(network))]
    seconds = 0.0
    for step in range(steps):
        share = share_at(step, steps)
        for optimizer, lr in ((tested, rate), (other, rest_rate)):
            for group in optimizer.param_groups:
                group["lr"] = lr * share
        network.zero_grad(set_to_none=True)
        loss = task.loss(network, seed, step)
        if not math.isfinite(loss.detach().item()):
            return Trial(curve, math.inf, 1e3 * seconds / max(1, step), state_bytes(tested), {})
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        start = time.process_time()
        tested.step()
        seconds += time.process_time() - start
        other.step()
        if (step + 1) % every == 0 or step + 1 == steps:
            curve.append((step + 1, task.held_out(network)))
    last = curve[-1][1] if math.isfinite(curve[-1][1]) else math.inf
    return Trial(curve, last, 1e3 * seconds / steps, state_bytes(tested), task.measures(network))


def share_at(step: int, steps: int) -> float:
    """Share of the learning rate: linear warm-up times a cosine to FLOOR."""
    return min(1.0, (step + 1) / WARMUP) * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * step / steps)))
