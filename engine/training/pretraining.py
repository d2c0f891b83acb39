"""Pretraining from generated pages: a stage on words alone, then one on rendered pages too. Resumable, by seed."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from engine.training.examples import mixed_source, synthetic_source
from model import checkpoint
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import PromptableSegmentation
from model.presets import NetworkConfig
from model.pretraining.token_vectors import reduced_vectors

WEIGHTS_FILE = "nano.safetensors"
METRICS_FILE = "metrics.jsonl"
_PLAN_FILE = "plan.json"
_WORDS_SHARE = 0.55  # of the time
_PACE_STEPS = 10  # steps that are timed to turn minutes into steps
_PIXEL_PARTS = ("image_encoder.", "fusion.", "mask_decoder.", "prompt_encoder.mask_in.", "prompt_encoder.no_mask")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Steps and learning rates of the two stages. The steps are written down at the start: a resumed run keeps them."""

    seed: int
    words_steps: int
    joint_steps: int
    words_rate: float = 2e-3
    joint_words_rate: float = 4e-4
    joint_pixels_rate: float = 1.5e-3
    weight_decay: float = 0.02
    image_share: float = 0.7  # of the steps of the joint stage: one rendered page, instead of four pages of words


@dataclass(frozen=True, slots=True)
class Pretrained:
    """What a run of pretraining left behind."""

    weights: Path | None  # None when it was cancelled before the end
    version: str | None
    stages: Stages


def pretrain(
    folder: Path,
    config: NetworkConfig,
    teacher: Path,
    stages: Stages,
    *,
    resume: bool = False,
    on_metrics: Callable[[Mapping[str, Any]], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Pretrained:
    """Trains ``config`` into ``folder``: WEIGHTS_FILE (float16), METRICS_FILE and the state of each stage.

    Step by step the same weights for the same stages and seed, on one thread of the same machine. ``resume`` goes on with
    the stages that ``folder`` remembers. ValueError when there is no teacher or the folder holds another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stages = _remembered(folder, stages, resume)
    network = _fresh(config, teacher, stages.seed)
    total = stages.words_steps + stages.joint_steps

    def report(stage: str, done: int) -> tuple[Callable[[Mapping[str, float]], None], Callable[[float], None]]:
        def metrics(values: Mapping[str, float]) -> None:
            line = {"stage": stage, **{name: round(float(value), 6) for name, value in values.items()}}
            with (folder / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            if on_metrics is not None:
                on_metrics(line)

        def progress(share: float) -> None:
            if on_progress is not None:
                steps = stages.joint_steps if done else stages.words_steps
                on_progress((done + share * steps) / total)

        return metrics, progress

    words_folder, joint_folder = folder / "words", folder / "joint"
    on_words, progress = report("words", 0)
    outcome = learn(
        PromptableSegmentation(network, synthetic_source(stages.seed)),
        torch.optim.AdamW(network.parameters(), stages.words_rate, weight_decay=stages.weight_decay),
        Plan(steps=stages.words_steps, seed=stages.seed),
        folder=words_folder,
        resume=resume,
        on_metrics=on_words,
        on_progress=progress,
        cancelled=cancelled,
    )
    if outcome.cancelled:
        return Pretrained(None, outcome.version, stages)
    if stages.joint_steps:
        on_joint, progress = report("joint", stages.words_steps)
        outcome = learn(
            PromptableSegmentation(network, joint_source(stages)),
            _joint_optimizer(network, stages),
            Plan(steps=stages.joint_steps, seed=stages.seed + 1),
            folder=joint_folder,
            resume=resume,
            on_metrics=on_joint,
            on_progress=progress,
            cancelled=cancelled,
        )
        if outcome.cancelled:
            return Pretrained(None, outcome.version, stages)
    weights = folder / WEIGHTS_FILE
    last = checkpoint.load((joint_folder if stages.joint_steps else words_folder) / CHECKPOINT_FILE)
    version = checkpoint.save(weights, checkpoint.halved(last.state), last.config)
    return Pretrained(weights, version, stages)


def joint_source(stages: Stages) -> Any:
    """Pages of words, and in between one rendered page with many questions about what no words make."""
    words = synthetic_source(stages.seed + 7_000)
    rendered = synthetic_source(stages.seed + 8_000, pages=1, regions=0.5, images=True)
    return mixed_source(words, rendered, stages.image_share, stages.seed)


def paced(config: NetworkConfig, teacher: Path, minutes: float, seed: int) -> Stages:
    """Stages that take about ``minutes`` here: some steps of each are timed, then thrown away."""
    network = _fresh(config, teacher, seed)
    probe = Stages(seed=seed, words_steps=1, joint_steps=1)
    words = _pace(network, synthetic_source(seed), seed)
    joint = _pace(network, joint_source(probe), seed)
    return Stages(
        seed=seed,
        words_steps=max(1, round(60 * minutes * _WORDS_SHARE / words)),
        joint_steps=max(1, round(60 * minutes * (1 - _WORDS_SHARE) / joint)),
    )


def _pace(network: GroundingNetwork, source: Any, seed: int) -> float:
    optimizer = torch.optim.AdamW(network.parameters(), 1e-5)
    began = time.monotonic()
    learn(PromptableSegmentation(network, source), optimizer, Plan(steps=_PACE_STEPS, seed=seed))
    return (time.monotonic() - began) / _PACE_STEPS


def _fresh(config: NetworkConfig, teacher: Path, seed: int) -> GroundingNetwork:
    torch.manual_seed(seed)
    network = GroundingNetwork(config)
    vectors = reduced_vectors(teacher, config.text.vector_width)
    if vectors.shape != network.text_encoder.embedding.piece_vectors.shape:
        raise ValueError(f"The teacher has {len(vectors)} wordpieces, the network {config.text.pieces}.")
    network.text_encoder.embedding.piece_vectors.copy_(vectors)
    return network


def _joint_optimizer(network: GroundingNetwork, stages: Stages) -> torch.optim.Optimizer:
    pixels = [p for name, p in network.named_parameters() if name.startswith(_PIXEL_PARTS)]
    words = [p for name, p in network.named_parameters() if not name.startswith(_PIXEL_PARTS)]
    groups = [{"params": pixels, "lr": stages.joint_pixels_rate}, {"params": words, "lr": stages.joint_words_rate}]
    return torch.optim.AdamW(groups, weight_decay=stages.weight_decay)


def _remembered(folder: Path, stages: Stages, resume: bool) -> Stages:
    path = folder / _PLAN_FILE
    if path.is_file():
        if not resume:
            raise ValueError(f"{folder} already holds a run; go on with --resume or choose another folder.")
        return Stages(**json.loads(path.read_text(encoding="utf-8")))
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(asdict(stages)), encoding="utf-8")
    temporary.replace(path)
    return stages
