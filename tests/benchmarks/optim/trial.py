"""One run of one optimizer on one task: its curve, its last loss, its time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from model.optim import parameter_groups
from tests.benchmarks.optim.task import Task

Make = Callable[[list[nn.Parameter], float], torch.optim.Optimizer]

WARMUP, FLOOR, CLIP = 20, 0.05, 1.0
POINTS = 10  # held-out losses along a run


@dataclass(frozen=True, slots=True)
class Trial:
    """curve: (steps done, held-out loss). loss: the last of them, infinite where the run diverged. milliseconds: a step
    of the optimizer under test, process time. measures: what the task reports at the end."""

    curve: list[tuple[int, float]]
    loss: float
    milliseconds: float
    measures: dict[str, float]


def run(task: Task, make: Make, rate: float, seed: int, steps: int) -> Trial:
    """Train a fresh network of `task`: its weight matrices by `make` at `rate`, the rest by AdamW at the task's
    rate."""
    network = task.network(seed)
    matrices, rest = ([*group["params"]] for group in parameter_groups(network))
    rest += [parameter for parameter in matrices if parameter.dim() > 2]  # Muon and the peers take matrices alone
    matrices = [parameter for parameter in matrices if parameter.dim() == 2]
    tested = make(matrices, rate)
    other = torch.optim.AdamW(rest, lr=task.rest_rate, betas=(0.9, 0.99), weight_decay=0.0)
    every = max(1, steps // POINTS)
    curve: list[tuple[int, float]] = [(0, task.held_out(network))]
    seconds = 0.0
    for step in range(steps):
        share = share_at(step, steps)
        for optimizer, lr in ((tested, rate), (other, task.rest_rate)):
            for group in optimizer.param_groups:
                group["lr"] = lr * share
        network.zero_grad(set_to_none=True)
        loss = task.loss(network, seed, step)
        if not math.isfinite(loss.detach().item()):
            return Trial(curve, math.inf, 1e3 * seconds / max(1, step), {})
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        start = time.process_time()
        tested.step()
        seconds += time.process_time() - start
        other.step()
        if (step + 1) % every == 0 or step + 1 == steps:
            curve.append((step + 1, task.held_out(network)))
    last = curve[-1][1] if math.isfinite(curve[-1][1]) else math.inf
    return Trial(curve, last, 1e3 * seconds / steps, task.measures(network))


def share_at(step: int, steps: int) -> float:
    """Share of the learning rate: linear warm-up times a cosine to FLOOR."""
    return min(1.0, (step + 1) / WARMUP) * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * step / steps)))
