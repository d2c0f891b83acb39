"""One training loop, used by pretraining and by retraining.

Step ``n`` depends on the seed, on ``n`` and on the state alone: examples come from ``source(n)``, a pure function, and all
randomness is drawn anew from (seed, n). So a run that was interrupted and resumed ends bit for bit where an
uninterrupted one ends (on one thread of the same machine).
"""

import math
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from model import checkpoint
from model.batches import make_batch
from model.examples import Example
from model.network import GroundingNetwork
from model.objectives.segmentation import loss_of
from model.simulation import with_prompts
from model.vocabulary import Vocabulary

STATE_FILE = "state.pt"  # network, optimizer, step: what a resumed run needs
CHECKPOINT_FILE = "checkpoint.safetensors"  # the network alone: what a Predictor loads

Source = Callable[[int], Sequence[Example]]  # step -> pages with the same number of questions each; pure


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a run goes, apart from examples and optimizer."""

    steps: int
    seed: int = 0
    warmup: int = 100
    floor: float = 0.01  # of the learning rate, at the end of the cosine
    clip: float = 1.0  # norm of the gradient
    prompted_steps: float = 0.3  # share of steps in which askers click, box or mask
    prompted_questions: float = 0.6  # share of questions in such a step
    anchors_dropped: float = 0.15  # share of questions whose lexical anchors are hidden
    pixel_weight: float = 1.0
    checkpoint_every: int = 200
    metrics_every: int = 20

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("A run needs at least one step.")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    step: int  # steps done, those before a resume included
    cancelled: bool
    version: str | None  # of the last checkpoint, where a folder was given


def learn(
    network: GroundingNetwork,
    optimizer: torch.optim.Optimizer,
    source: Source,
    plan: Plan,
    *,
    folder: Path | None = None,
    resume: bool = False,
    on_metrics: Callable[[Mapping[str, float]], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Outcome:
    """Trains ``network`` in place.

    The learning rate of each group of ``optimizer`` is warmed up and lowered along a cosine from what it is at the start.
    With ``folder``, writes STATE_FILE and CHECKPOINT_FILE there, each by an atomic rename, every
    ``plan.checkpoint_every`` steps, at the end and when ``cancelled()`` turns true; ``resume`` goes on from there if they
    exist. ``on_metrics`` gets means since its last call (and step, seconds, rate); ``on_progress`` the share done.
    Raises FloatingPointError when the loss is no longer finite; what was saved before is kept.
    """
    vocabulary = Vocabulary(network.config.text.buckets)
    rates = [group["lr"] for group in optimizer.param_groups]
    step = 0
    if resume and folder is not None and (folder / STATE_FILE).is_file():
        step, rates = _restore(folder / STATE_FILE, network, optimizer, plan)
    network.train()
    seen: dict[str, list[float]] = {}  # since the last report; parts of the loss that a step lacks are not counted as 0
    began, version, stop = time.monotonic(), None, False
    while step < plan.steps and not stop:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * rate_at(step, plan)
        for name, value in _step(network, optimizer, source(step), plan, step, vocabulary).items():
            seen.setdefault(name, []).append(value)
        step += 1
        stop = cancelled is not None and cancelled()
        last = stop or step == plan.steps
        if on_metrics is not None and (last or step % plan.metrics_every == 0):
            means = {name: sum(values) / len(values) for name, values in seen.items()}
            on_metrics(
                {"step": step, "seconds": time.monotonic() - began, "rate": optimizer.param_groups[0]["lr"], **means}
            )
            seen = {}
        if folder is not None and (last or step % plan.checkpoint_every == 0):
            version = _save(folder, network, optimizer, plan, step, rates)
        if on_progress is not None:
            on_progress(step / plan.steps)
    network.eval()
    return Outcome(step, step < plan.steps, version)


def rate_at(step: int, plan: Plan) -> float:
    """Factor on the learning rate at a step: linear warm-up times a cosine to ``plan.floor``."""
    warm = min(1.0, (step + 1) / max(1, plan.warmup))
    return warm * (plan.floor + (1 - plan.floor) * 0.5 * (1 + math.cos(math.pi * step / plan.steps)))


def _step(
    network: GroundingNetwork,
    optimizer: torch.optim.Optimizer,
    examples: Sequence[Example],
    plan: Plan,
    step: int,
    vocabulary: Vocabulary,
) -> dict[str, float]:
    rng = random.Random(f"{plan.seed}:{step}")
    torch.manual_seed(rng.getrandbits(62))
    hidden = [[rng.random() < plan.anchors_dropped for _ in example.questions] for example in examples]
    batch = make_batch(examples, vocabulary, network.config, without_anchors=hidden)
    if rng.random() < plan.prompted_steps:
        batch = with_prompts(network, batch, vocabulary, rng, plan.prompted_questions)
    loss, parts = loss_of(network(batch.pages, batch.questions), batch.targets, plan.pixel_weight)
    if not torch.isfinite(loss):
        raise FloatingPointError(f"The loss is {loss.item()} at step {step}; lower the learning rate.")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), plan.clip)
    optimizer.step()
    return {name: value.item() for name, value in parts.items()}


def _save(
    folder: Path,
    network: GroundingNetwork,
    optimizer: torch.optim.Optimizer,
    plan: Plan,
    step: int,
    rates: Sequence[float],
) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    state: dict[str, Any] = {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
        "rates": list(rates),
        "seed": plan.seed,
    }
    temporary = folder / f".{STATE_FILE}.{os.getpid()}.tmp"
    with temporary.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    version = checkpoint.save(folder / CHECKPOINT_FILE, network, network.config.to_dict())
    temporary.replace(folder / STATE_FILE)
    return version


def _restore(
    path: Path, network: GroundingNetwork, optimizer: torch.optim.Optimizer, plan: Plan
) -> tuple[int, list[float]]:
    state = torch.load(path, weights_only=True)
    if state["seed"] != plan.seed:
        raise ValueError(
            f"The run in {path.parent} has seed {state['seed']}; resume it with that seed, not {plan.seed}."
        )
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"], state["rates"]
