"""Measure memory and seconds of training steps by preset, kind of step, pages and checkpointing."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch

from engine.training.pretraining.pretraining_stage import PAGES, StageInputs
from engine.training.pretraining.stages import STAGES
from engine.training.sources.examples import synthetic_source
from engine.training.sources.page_supply import PageSupply
from model.examples import Example, Source
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.objective import Objective
from model.objectives.promptable import Asking, PromptableSegmentation
from model.presets import NetworkConfig
from model.throughput import peak_memory

BUDGET = 80e9  # bytes of the GPU that a step has to fit
_STEPS = 3  # timed, after the first one
_SEED = 5


_PROMPTED = Asking(prompted_steps=1.0)  # the costlier half of the steps; which of three are would be chance


def _words(around: StageInputs) -> Objective:
    source = synthetic_source(around.seed, pages=around.pages, made=around.supply.words)
    return PromptableSegmentation(around.network, around.feed(source), _PROMPTED)


def _pictures(around: StageInputs) -> Objective:
    source = synthetic_source(around.seed, pages=around.pages, regions=0.3, images=True, made=around.supply.drawn)
    return PromptableSegmentation(around.network, around.feed(source), _PROMPTED)


# Kind of step -> stage whose learning rates and optimizer it takes, its objective, and `StageInputs.pages` a page.
# Steps of one kind do the same: `joint` draws what it does, so what it draws is measured.
KINDS: Mapping[str, tuple[str, Callable[[StageInputs], Objective], int]] = {
    "words": ("words", _words, 1),
    "pictures": ("segment", _pictures, 1),
    "regions": ("pixels", STAGES["pixels"].objective, PAGES),
    "mim": ("mim", STAGES["mim"].objective, 1),
    "djepa": ("djepa", STAGES["djepa"].objective, 1),
}


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of one kind of step. `bytes`: at most, on CUDA as torch allocated them, else resident memory."""

    kind: str
    pages: int
    checkpointing: bool
    mixed: bool
    fits: bool  # in BUDGET, and in the memory of this machine
    bytes: int | None = None
    first_seconds: float | None = None  # of the first step
    seconds: float | None = None  # a further step, their median, its examples made before
    pages_a_second: float | None = None

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return asdict(self)


def measure(
    config: NetworkConfig,
    kind: str,
    pages: int,
    supply: PageSupply,
    *,
    checkpointing: bool,
    mixed: bool,
    device: torch.device,
    steps: int = _STEPS,
) -> Costs:
    """Train a few steps with fresh weights and return their costs; the network is discarded.

    Args:
        config: network.
        kind: one of `KINDS`.
        pages: pages a step.
        supply: pages to learn from.
        checkpointing: recompute activations.
        mixed: forward passes in bfloat16.
        device: device to train on.
        steps: steps to time, after a first one.
    """
    _forget(device)
    try:
        first, seconds = _time_steps(config, kind, pages, supply, checkpointing, mixed, device, steps)
    except torch.OutOfMemoryError:
        return Costs(kind, pages, checkpointing, mixed, fits=False)
    used = peak_memory(device)
    fits = used is None or used <= BUDGET
    return Costs(kind, pages, checkpointing, mixed, fits, used, first, seconds, pages / seconds)


def _time_steps(
    config: NetworkConfig,
    kind: str,
    pages: int,
    supply: PageSupply,
    checkpointing: bool,
    mixed: bool,
    device: torch.device,
    steps: int,
) -> tuple[float, float]:
    stage, objective_of, factor = KINDS[kind]
    torch.manual_seed(_SEED)
    network = GroundingNetwork(config).to(device)
    network.checkpointing(checkpointing)
    around = StageInputs(
        network, _SEED, Path(), Path(), pages=factor * pages, supply=supply, feed=_feed_made_ahead(steps + 1)
    )
    objective = objective_of(around)
    optimizer = STAGES[stage].optimizer(STAGES[stage].groups(objective))
    ends: list[float] = []

    def note_end() -> bool:
        """Note when a step ended; never stops the run."""
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        ends.append(time.monotonic())
        return False

    note_end()
    learn(objective, optimizer, Plan(steps=steps + 1, seed=_SEED, mixed=mixed), cancelled=note_end)
    took = [after - before for before, after in pairwise(ends)]
    return took[0], median(took[1:])  # shapes met for the first time cost a GPU a second more


def _feed_made_ahead(steps: int) -> Callable[[Source], Source]:
    """Return a feed that makes the examples of the first steps before any is asked for."""

    def feed(source: Source) -> Source:
        """Return the source of examples already made."""
        made: list[Sequence[Example]] = [source(step) for step in range(steps)]
        return lambda step: made[step]

    return feed


def _forget(device: torch.device) -> None:
    """Free what earlier measurements left, and begin to count the peak anew."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):  # Linux alone; elsewhere the peak is that of the whole process
            Path("/proc/self/clear_refs").write_text("5")
