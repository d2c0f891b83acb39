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

Make = Callable[[list[nn.Parameter], "Settings"], torch.optim.Optimizer]

WARMUP, FLOOR, CLIP = 20, 0.05, 1.0
POINTS = 10  # held-out losses along a run
CHECKED = 20  # steps between two looks at the loss on a GPU, which waits for it


@dataclass(frozen=True, slots=True)
class Settings:
    """What is tuned. decay: decoupled weight decay, times the rate."""

    rate: float
    momentum: float
    decay: float


@dataclass(frozen=True, slots=True)
class Trial:
    """curve: (steps done, held-out loss). loss: the last of them, infinite where the run diverged. milliseconds: a step
    of the optimizer under test, process time, or time of the device on a GPU. measures: what the task reports at the
    end."""

    curve: list[tuple[int, float]]
    loss: float
    milliseconds: float
    measures: dict[str, float]


def run(task: Task, make: Make, settings: Settings, seed: int, steps: int) -> Trial:
    """Train a fresh network of `task`: its weight matrices by `make`, the rest by AdamW at the task's rate."""
    network = task.network(seed)
    matrices, rest = ([*group["params"]] for group in parameter_groups(network))
    rest += [parameter for parameter in matrices if parameter.dim() > 2]  # Muon and the peers take matrices alone
    matrices = [parameter for parameter in matrices if parameter.dim() == 2]
    tested = make(matrices, settings)
    other = torch.optim.AdamW(rest, lr=task.rest_rate, betas=(0.9, 0.99), weight_decay=0.0)
    clock = _Clock(matrices[0].device)
    every = max(1, steps // POINTS)
    curve: list[tuple[int, float]] = [(0, task.held_out(network))]
    for step in range(steps):
        share = share_at(step, steps)
        for optimizer, lr in ((tested, settings.rate), (other, task.rest_rate)):
            for group in optimizer.param_groups:
                group["lr"] = lr * share
        network.zero_grad(set_to_none=True)
        loss = task.loss(network, seed, step)
        if (not clock.on_gpu or step % CHECKED == 0) and not math.isfinite(loss.detach().item()):
            return Trial(curve, math.inf, clock.milliseconds(), {})
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        clock.start()
        tested.step()
        clock.stop()
        other.step()
        if (step + 1) % every == 0 or step + 1 == steps:
            curve.append((step + 1, task.held_out(network)))
    last = curve[-1][1] if math.isfinite(curve[-1][1]) else math.inf
    return Trial(curve, last, clock.milliseconds(), task.measures(network))


class _Clock:
    """Mean time of what lies between start and stop."""

    def __init__(self, device: torch.device) -> None:
        self.on_gpu = device.type == "cuda"
        self._events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self._seconds, self._count, self._begun = 0.0, 0, 0.0

    def start(self) -> None:
        if self.on_gpu:
            pair = (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            pair[0].record()
            self._events.append(pair)
        else:
            self._begun = time.process_time()

    def stop(self) -> None:
        self._count += 1
        if self.on_gpu:
            self._events[-1][1].record()
        else:
            self._seconds += time.process_time() - self._begun

    def milliseconds(self) -> float:
        """Median on a GPU, mean elsewhere."""
        if self.on_gpu and self._events:
            torch.cuda.synchronize()
            times = sorted(first.elapsed_time(last) for first, last in self._events)
            return float(times[len(times) // 2])
        return 1e3 * self._seconds / max(1, self._count)


def share_at(step: int, steps: int) -> float:
    """Share of the learning rate: linear warm-up times a cosine to FLOOR."""
    return min(1.0, (step + 1) / WARMUP) * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * step / steps)))
