"""Convert minutes of a pretraining run into steps of its stages, by timing some of each."""

import time
from dataclasses import replace
from pathlib import Path

from engine.training.pretraining.beginning import fresh_network, inputs_of
from engine.training.pretraining.schedule import Schedule
from engine.training.pretraining.stages import STAGES
from model.learning import Plan, learn
from model.presets import NetworkConfig

_PACE_STEPS = 10  # timed to convert minutes into steps


def pace_schedule(
    folder: Path,
    config: NetworkConfig,
    teacher: Path,
    schedule: Schedule,
    minutes: float,
    *,
    mixed: bool = False,
    device: str = "cpu",
    checkpointing: bool = False,
) -> Schedule:
    """Return the schedule with as many steps of its stages as take about `minutes` on this machine.

    Some steps of each stage are timed and discarded. What a stage reads at first is kept in `folder`, for the run.
    """
    whole = sum(STAGES[name].share for name in schedule.steps)
    steps = {}
    for number, name in enumerate(schedule.steps):
        network = fresh_network(config, teacher, schedule.seed).to(device)
        network.checkpointing(checkpointing)
        objective = STAGES[name].objective(inputs_of(network, schedule, folder, teacher, schedule.seed + number))
        optimizer = STAGES[name].optimizer(STAGES[name].groups(objective))
        plan = Plan(steps=_PACE_STEPS, seed=schedule.seed, mixed=mixed, accumulate=schedule.accumulate)
        learn(objective, optimizer, replace(plan, steps=1))  # costs of the first step only
        began = time.monotonic()
        learn(objective, optimizer, plan)
        pace = (time.monotonic() - began) / _PACE_STEPS
        steps[name] = max(1, round(60 * minutes * STAGES[name].share / whole / pace))
    return replace(schedule, steps=steps)
