"""Run the one training loop, which every stage of pretraining and retraining shares.

An `Objective` defines what is learned; this file knows steps, learning rates, checkpoints and resuming. Step n depends
on the seed, on n and on the state alone, because an objective draws all its randomness from (seed, n). A run that was
interrupted and resumed therefore ends bit for bit like an uninterrupted one, on one thread of the same machine.
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

STATE_FILE = "state.pt"  # weights, optimizer and step, for resuming a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Settings of a run that do not depend on its objective.

    `mixed` runs forward passes in bfloat16 where the device supports it. `cycle`: steps of the first cycle; at its end
    the learning rate is at its floor, so the weights are finished, and a warm restart follows. Each further cycle is as
    long as all before it together (SGDR with T_mult 2, Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983,
    section 3; there a cycle is twice as long as the one before). None: the run is one cycle.
    """

    steps: int
    cycle: int | None = None
    seed: int = 0
    warmup: int = 100
    floor: float = 0.01  # of the learning rate, at the end of the cosine
    clip: float = 1.0  # norm of the gradient
    mixed: bool = False
    checkpoint_every: int = 200
    metrics_every: int = 20

    def __post_init__(self) -> None:
        if self.steps < 1 or (self.cycle is not None and self.cycle < 1):
            raise ValueError("A run needs at least one step.")

    def cycle_of(self, step: int) -> tuple[int, int]:
        """Return the first step of the cycle that a step belongs to, and the step after its last."""
        begin, end = 0, self.cycle or self.steps
        while step >= end:
            begin, end = end, 2 * end
        return begin, min(end, self.steps)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    step: int  # steps done, those before a resume included
    cancelled: bool
    settled: bool  # ended early because `at_checkpoint` returned True
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
    """Train `objective.learned` in place.

    The learning rate of each parameter group is warmed up and then lowered along a cosine from its initial value, in
    each cycle of the plan.

    Args:
        objective: what is learned.
        optimizer: its parameter groups hold the initial learning rates.
        plan: steps, seed, schedule and intervals.
        folder: where STATE_FILE and the objective's result are written, each by an atomic rename, every
            `plan.checkpoint_every` steps, at the end of a cycle and on cancellation; None writes nothing.
        resume: continue from the state in `folder`, if there is one.
        on_metrics: receives the means since its last call, with step, seconds and learning rate.
        on_progress: receives the share of the run that is done, 0..1.
        cancelled: checked after each step; True saves and ends the run.
        at_checkpoint: called with the step when a due checkpoint is written and where the run begins or resumes, so it
            may see one step twice. True ends the run. Random numbers that it draws do not affect the run.

    Returns:
        The number of steps done, why the run ended, and the version of the last checkpoint.

    Raises:
        FloatingPointError: the loss is no longer finite.
        OSError: the disk is full. Earlier checkpoints are kept.
        ValueError: the state to resume has another seed.
    """
    learned = objective.learned
    rates = [group["lr"] for group in optimizer.param_groups]
    step = 0
    if resume and folder is not None:
        for cut_short in folder.glob(f".{STATE_FILE}.*.tmp"):  # left by a process that was killed while saving
            cut_short.unlink(missing_ok=True)
    if resume and folder is not None and (folder / STATE_FILE).is_file():
        step, rates = _restore(folder / STATE_FILE, learned, optimizer, plan)
    learned.train()
    seen: dict[str, list[float]] = {}  # since the last report; a part of the loss that a step lacks does not count as 0
    began, version, stop = time.monotonic(), None, False
    due = folder is not None and _due(step, plan)
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
        due = _due(step, plan)
        if folder is not None and (last or due):
            version = _save(folder, objective, optimizer, plan, step, rates)
            settled = due and at_checkpoint is not None and at_checkpoint(step)
        if on_progress is not None:
            on_progress(step / plan.steps)
    learned.eval()
    early = step < plan.steps
    return Outcome(step, early and not settled, settled and early, version)


def _due(step: int, plan: Plan) -> bool:
    """Return whether a checkpoint is due after a step: where cycles begin and end, and in regular intervals."""
    return step % plan.checkpoint_every == 0 or step == plan.cycle_of(step - 1)[1]


def rate_at(step: int, plan: Plan) -> float:
    """Return the learning rate's factor at a step: linear warm-up times a cosine to `plan.floor`, in each cycle."""
    begin, end = plan.cycle_of(step)
    warm = min(1.0, (step - begin + 1) / max(1, plan.warmup))
    done = (step - begin) / (end - begin)
    return warm * (plan.floor + (1 - plan.floor) * 0.5 * (1 + math.cos(math.pi * done)))


def _step(objective: Objective, optimizer: torch.optim.Optimizer, plan: Plan, step: int) -> dict[str, float]:
    rng = random.Random(f"{plan.seed}:{step}")
    torch.manual_seed(rng.getrandbits(62))
    device = next(objective.learned.parameters()).device
    with torch.autocast(device.type, torch.bfloat16, enabled=plan.mixed):
        loss, parts = objective.loss(step, rng)
    if not torch.isfinite(loss):
        raise FloatingPointError(f"The loss is {loss.item()} at step {step}; lower the learning rate.")
    objective.learned.zero_grad(set_to_none=True)  # all parameters, because the norm below covers all
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
        temporary.unlink(missing_ok=True)  # frees the disk; earlier checkpoints stay
    return version


def _write(path: Path, state: dict[str, Any]) -> None:
    try:
        with path.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, RuntimeError) as error:
        # torch's writer hides the disk's own error, and neither names the file.
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
