"""One training loop, used by every stage of pretraining and by retraining.

What is learned is an `Objective`; this file knows steps, learning rates, checkpoints and resuming. Step ``n`` depends on
the seed, on ``n`` and on the state alone: an objective gets all its randomness from (seed, n). So a run that was
interrupted and resumed ends bit for bit where an uninterrupted one ends (on one thread of the same machine).
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

from model.objectives.objective import Objective

STATE_FILE = "state.pt"  # what is learned, optimizer, step: what a resumed run needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a run goes, apart from what it learns. mixed: forward passes in bfloat16, where the device has it."""

    steps: int
    seed: int = 0
    warmup: int = 100
    floor: float = 0.01  # of the learning rate, at the end of the cosine
    clip: float = 1.0  # norm of the gradient
    mixed: bool = False
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
    settled: bool  # ended before its last step because `at_checkpoint` said so
    version: str | None  # of the last checkpoint, where a folder was given


def learn(
    objective: Objective,
    optimizer: torch.optim.Optimizer,
    plan: Plan,
    *,
    folder: Path | None = None,
    resume: bool = False,
    on_metrics: Callable[[Mapping[str, float]], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    at_checkpoint: Callable[[int], bool] | None = None,
) -> Outcome:
    """Trains ``objective.learned`` in place.

    The learning rate of each group of ``optimizer`` is warmed up and lowered along a cosine from what it is at the start.
    With ``folder``, writes STATE_FILE and what the objective saves there, each by an atomic rename, every
    ``plan.checkpoint_every`` steps, at the end and when ``cancelled()`` turns true; ``resume`` goes on from there if they
    exist. ``on_metrics`` gets means since its last call (and step, seconds, rate); ``on_progress`` the share done.
    ``at_checkpoint`` is called with the step when a checkpoint that was due is written, and with the step at which the run
    begins or goes on, so it may hear of a step twice; the run ends where it returns true. What it draws at random is not
    noticed by the run.
    Raises FloatingPointError when the loss is no longer finite, OSError when the disk is full; what was saved before is kept.
    """
    learned = objective.learned
    rates = [group["lr"] for group in optimizer.param_groups]
    step = 0
    if resume and folder is not None:
        for cut_short in folder.glob(f".{STATE_FILE}.*.tmp"):  # by a process that was killed while it saved
            cut_short.unlink(missing_ok=True)
    if resume and folder is not None and (folder / STATE_FILE).is_file():
        step, rates = _restore(folder / STATE_FILE, learned, optimizer, plan)
    learned.train()
    seen: dict[str, list[float]] = {}  # since the last report; parts of the loss that a step lacks are not counted as 0
    began, version, stop = time.monotonic(), None, False
    due = folder is not None and step % plan.checkpoint_every == 0
    settled = at_checkpoint is not None and due and at_checkpoint(step)
    while step < plan.steps and not stop and not settled:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * rate_at(step, plan)
        for name, value in _step(objective, optimizer, plan, step).items():
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
        due = step == plan.steps or step % plan.checkpoint_every == 0
        if folder is not None and (last or due):
            version = _save(folder, objective, optimizer, plan, step, rates)
            settled = due and at_checkpoint is not None and at_checkpoint(step)
        if on_progress is not None:
            on_progress(step / plan.steps)
    learned.eval()
    early = step < plan.steps
    return Outcome(step, early and not settled, settled and early, version)


def rate_at(step: int, plan: Plan) -> float:
    """Factor on the learning rate at a step: linear warm-up times a cosine to ``plan.floor``."""
    warm = min(1.0, (step + 1) / max(1, plan.warmup))
    return warm * (plan.floor + (1 - plan.floor) * 0.5 * (1 + math.cos(math.pi * step / plan.steps)))


def _step(objective: Objective, optimizer: torch.optim.Optimizer, plan: Plan, step: int) -> dict[str, float]:
    rng = random.Random(f"{plan.seed}:{step}")
    torch.manual_seed(rng.getrandbits(62))
    device = next(objective.learned.parameters()).device
    with torch.autocast(device.type, torch.bfloat16, enabled=plan.mixed):
        loss, parts = objective.loss(step, rng)
    if not torch.isfinite(loss):
        raise FloatingPointError(f"The loss is {loss.item()} at step {step}; lower the learning rate.")
    objective.learned.zero_grad(set_to_none=True)  # all of it: the norm below is of all of it
    loss.backward()
    nn.utils.clip_grad_norm_(objective.learned.parameters(), plan.clip)
    optimizer.step()
    objective.after_step((step + 1) / plan.steps)
    return {name: value.item() for name, value in parts.items()}


def _save(
    folder: Path,
    objective: Objective,
    optimizer: torch.optim.Optimizer,
    plan: Plan,
    step: int,
    rates: Sequence[float],
) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    state: dict[str, Any] = {
        "network": objective.learned.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
        "rates": list(rates),
        "seed": plan.seed,
    }
    temporary = folder / f".{STATE_FILE}.{os.getpid()}.tmp"
    try:
        _write(temporary, state)
        version = objective.save(folder)
        temporary.replace(folder / STATE_FILE)
    finally:
        temporary.unlink(missing_ok=True)  # a full disk is not made fuller; what was saved before stays as it is
    return version


def _write(path: Path, state: dict[str, Any]) -> None:
    try:
        with path.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
    except (
        OSError,
        RuntimeError,
    ) as error:  # torch's writer says something else than the disk did, and neither names the file
        failed = error if isinstance(error, OSError) else error.__context__
        if isinstance(failed, OSError):
            raise OSError(failed.errno, failed.strerror, str(path)) from error
        raise


def _restore(path: Path, learned: nn.Module, optimizer: torch.optim.Optimizer, plan: Plan) -> tuple[int, list[float]]:
    state = torch.load(path, map_location="cpu", weights_only=True)
    if state["seed"] != plan.seed:
        raise ValueError(
            f"The run in {path.parent} has seed {state['seed']}; resume it with that seed, not {plan.seed}."
        )
    learned.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"], state["rates"]
