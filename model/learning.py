"""Run the one training loop, which every stage of pretraining and retraining shares.

An `Objective` defines what is learned; this file knows steps, learning rates, checkpoints and resuming. Step n depends
on the seed, on n and on the state alone, because an objective draws all its randomness from (seed, n). A run that was
interrupted and resumed therefore ends bit for bit like an uninterrupted one, on one thread of the same machine.

An optimizer step averages the gradients of one or more micro-steps: `Plan.accumulate` on each process of the run. The
objective sees the number of the micro-step, counted over all processes and steps, so that two processes learn from the
same samples as one process that accumulates twice as many.
"""

import math
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from model.distributed import ALONE, Ranks
from model.objectives.objective import Objective
from model.throughput import throughput

STATE_FILE = "state.pt"  # weights, optimizer and step, for resuming a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Settings of a run that do not depend on its objective.

    `accumulate`: micro-steps whose gradients each process averages into a step. `mixed` runs forward passes in bfloat16
    where the device supports it. `cycle`: steps of the first cycle; at its end
    the learning rate is at its floor, so the weights are finished, and a warm restart follows. Each further cycle is as
    long as all before it together (SGDR with T_mult 2, Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983,
    section 3; there a cycle is twice as long as the one before). None: the run is one cycle.
    """

    steps: int
    cycle: int | None = None
    seed: int = 0
    accumulate: int = 1
    warmup: int = 100
    floor: float = 0.01  # of the learning rate, at the end of the cosine
    clip: float = 1.0  # norm of the gradient
    mixed: bool = False
    checkpoint_every: int = 200
    metrics_every: int = 20

    def __post_init__(self) -> None:
        if self.steps < 1 or (self.cycle is not None and self.cycle < 1):
            raise ValueError("A run needs at least one step.")
        if self.accumulate < 1:
            raise ValueError("A step needs the gradient of at least one micro-step.")

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
    examples: Callable[[], int] | None = None,
    ranks: Ranks = ALONE,
) -> Outcome:
    """Train `objective.learned` in place.

    With several processes, each calls this function with the same arguments. All begin with the weights of the first,
    which alone writes, reports and decides when to stop; its callbacks are those that are called.

    The learning rate of each parameter group is warmed up and then lowered along a cosine from its initial value, in
    each cycle of the plan.

    Args:
        objective: what is learned.
        optimizer: its parameter groups hold the initial learning rates.
        plan: steps, seed, schedule and intervals.
        folder: where STATE_FILE and the objective's result are written, each by an atomic rename, every
            `plan.checkpoint_every` steps, at the end of a cycle and on cancellation; None writes nothing.
        resume: continue from the state in `folder`, if there is one.
        on_metrics: receives the means since its last call, with step, seconds and processor seconds since the call of
            this function, learning rate and the figures of `model.throughput`.
        on_progress: receives the share of the run that is done, 0..1.
        cancelled: checked after each step; True saves and ends the run.
        at_checkpoint: called with the step when a due checkpoint is written and where the run begins or resumes, so it
            may see one step twice. True ends the run. Random numbers that it draws do not affect the run.
        examples: returns how many examples this process took from its source so far, as `Prefetched.given` counts
            them; None: the metrics lack examples a second.
        ranks: this process's place among those of the run. All need the same `folder`, on a disk that they share.

    Returns:
        The number of steps done, why the run ended, and the version of the last checkpoint.

    Raises:
        FloatingPointError: the loss is no longer finite.
        OSError: the disk is full. Earlier checkpoints are kept.
        RankLost: another process of the run ended.
        ValueError: the state to resume has another seed.
    """
    learned = objective.learned
    rates = [group["lr"] for group in optimizer.param_groups]
    step = samples = 0  # `samples`: micro-steps so far, of all processes
    if resume and folder is not None and ranks.first:
        for cut_short in folder.glob(f".{STATE_FILE}.*.tmp"):  # left by a process that was killed while saving
            cut_short.unlink(missing_ok=True)
    if resume and folder is not None and (folder / STATE_FILE).is_file():
        step, samples, rates = _restore(folder / STATE_FILE, learned, optimizer, plan)
    ranks.share_weights(learned)
    learned.train()
    seen: dict[str, list[float]] = {}  # since the last report; a part of the loss that a step lacks does not count as 0
    began, worked, version, stop = time.monotonic(), time.process_time(), None, False
    reported = _Reported(step, began, examples() if examples else 0)
    due = folder is not None and _due(step, plan)
    settled = at_checkpoint is not None and due and ranks.on_first(partial(at_checkpoint, step))
    while step < plan.steps and not stop and not settled:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * rate_at(step, plan)
        for name, values in _step(objective, optimizer, plan, step, samples, ranks).items():
            seen.setdefault(name, []).extend(values)
        step, samples = step + 1, samples + plan.accumulate * ranks.count
        stop = cancelled is not None and ranks.on_first(cancelled)
        last = stop or step == plan.steps
        if on_metrics is not None and (last or step % plan.metrics_every == 0):
            now = _Reported(step, time.monotonic(), examples() if examples else 0)
            gather = ranks.gather((seen, now.examples - reported.examples))
            if ranks.first:
                taken = sum(count for _, count in gather) if examples else None
                figures = throughput(
                    step - reported.step, now.time - reported.time, plan.steps - step, taken, objective.device
                )
                rate = optimizer.param_groups[0]["lr"]
                means = _means([own for own, _ in gather])
                spent = {"seconds": now.time - began, "processor_seconds": time.process_time() - worked}
                on_metrics({"step": step, **spent, "rate": rate, **figures, **means})
            seen, reported = {}, now
        due = _due(step, plan)
        if last or due:
            ranks.average_statistics(learned)
        if folder is not None and (last or due):
            version = ranks.on_first(partial(_save, folder, objective, optimizer, plan, step, samples, rates))
            settled = due and at_checkpoint is not None and ranks.on_first(partial(at_checkpoint, step))
        if on_progress is not None and ranks.first:
            on_progress(step / plan.steps)
    learned.eval()
    early = step < plan.steps
    return Outcome(step, early and not settled, settled and early, version)


@dataclass(frozen=True, slots=True)
class _Reported:
    """Where a run stood when metrics were reported."""

    step: int
    time: float  # seconds
    examples: int


def _means(seen: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, float]:
    """Return the mean of each part of the loss over the micro-steps of all processes that had it."""
    pooled: dict[str, list[float]] = {}
    for own in seen:
        for name, values in own.items():
            pooled.setdefault(name, []).extend(values)
    return {name: sum(values) / len(values) for name, values in pooled.items()}


def _due(step: int, plan: Plan) -> bool:
    """Return whether a checkpoint is due after a step: where cycles begin and end, and in regular intervals."""
    return step % plan.checkpoint_every == 0 or step == plan.cycle_of(step - 1)[1]


def rate_at(step: int, plan: Plan) -> float:
    """Return the learning rate's factor at a step: linear warm-up times a cosine to `plan.floor`, in each cycle."""
    begin, end = plan.cycle_of(step)
    warm = min(1.0, (step - begin + 1) / max(1, plan.warmup))
    done = (step - begin) / (end - begin)
    return warm * (plan.floor + (1 - plan.floor) * 0.5 * (1 + math.cos(math.pi * done)))


def _step(
    objective: Objective, optimizer: torch.optim.Optimizer, plan: Plan, step: int, samples: int, ranks: Ranks
) -> dict[str, list[float]]:
    """Take a step on the next micro-steps; return the parts of the loss of this process's own."""
    learned = objective.learned
    device = next(learned.parameters()).device
    learned.zero_grad(set_to_none=True)  # all parameters, because the norm below covers all
    count = plan.accumulate * ranks.count
    seen: dict[str, list[float]] = {}
    spoiled: float | None = None
    for number in range(samples + ranks.rank, samples + count, ranks.count):
        rng = random.Random(f"{plan.seed}:{number}")
        torch.manual_seed(rng.getrandbits(62))
        with torch.autocast(device.type, torch.bfloat16, enabled=plan.mixed):
            loss, parts = objective.loss(number, rng)
        if not torch.isfinite(loss):
            spoiled = loss.item()
            break
        (loss / count if count > 1 else loss).backward()
        for name, value in parts.items():
            seen.setdefault(name, []).append(value.item())
    for lost in ranks.gather(spoiled):  # all processes end together
        if lost is not None:
            raise FloatingPointError(f"The loss is {lost} at step {step}; lower the learning rate.")
    ranks.sum_gradients(list(learned.parameters()))
    nn.utils.clip_grad_norm_(learned.parameters(), plan.clip)
    optimizer.step()
    objective.after_step((step + 1) / plan.steps)
    return seen


def _save(
    folder: Path,
    objective: Objective,
    optimizer: torch.optim.Optimizer,
    plan: Plan,
    step: int,
    samples: int,
    rates: Sequence[float],
) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    state: dict[str, Any] = {
        "network": objective.learned.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
        "samples": samples,
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


def _restore(
    path: Path, learned: nn.Module, optimizer: torch.optim.Optimizer, plan: Plan
) -> tuple[int, int, list[float]]:
    state = torch.load(path, map_location="cpu", weights_only=True)
    if state["seed"] != plan.seed:
        raise ValueError(
            f"The run in {path.parent} has seed {state['seed']}; resume it with that seed, not {plan.seed}."
        )
    learned.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"], state.get("samples", state["step"]), state["rates"]  # older states: one micro-step a step
