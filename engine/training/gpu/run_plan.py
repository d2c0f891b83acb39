"""Do what is left of the plan, for some minutes at most; figures as JSON, weights in parts."""

import json
import math
import platform
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch

from engine.training.gpu.plan import Costs, Piece, Proof, Training
from engine.training.gpu.prepare import corpus_of
from engine.training.gpu.prepared_pages import PreparedPages
from engine.training.gpu.step_costs import BUDGET, KINDS, measure
from engine.training.pretraining.curves import METRICS_FILE
from engine.training.pretraining.run import Pretrained, pretrain
from engine.training.pretraining.schedule import Schedule
from model import checkpoint, checkpoint_parts
from model.inference import SHIPPED
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.presets import PRESETS

FIGURES_FILE = "figures.json"
WEIGHTS_FOLDER = "weights"
_PROOF_STEPS = 4  # stopped after half of them
_POINTS = 200  # of the curve of a stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """Settings of a run of the plan.

    `pages`: folder of prepared pages. `steps`: of each stage of a training, for dry runs. `at_once`: pages a step of
    tables and proofs, for machines of little memory. `begin`: loads public weights; `public`: part -> where from.
    """

    pages: Path
    out: Path
    device: torch.device
    until: float  # of time.monotonic()
    workers: int = 0
    steps: int | None = None
    at_once: tuple[int, ...] | None = None
    begin: Callable[[GroundingNetwork], None] | None = None
    public: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = lambda sentence: None

    def late(self) -> bool:
        """Return whether the minutes are over."""
        return time.monotonic() >= self.until

    @property
    def mixed(self) -> bool:
        """Return whether forward passes run in bfloat16, as on a GPU."""
        return self.device.type == "cuda"


def run_plan(plan: Sequence[Piece], doing: Doing) -> list[str]:
    """Do what is left of the plan until the minutes are over; return the names of the pieces that are still left.

    Raises:
        ValueError: the folder of pages is empty, a piece cannot be done, or memory ended. The message says what to do.
        FloatingPointError: a loss is no longer finite.
        OSError: the disk is full. What was done is kept.
    """
    prepared = PreparedPages(doing.pages)
    doing.out.mkdir(parents=True, exist_ok=True)
    left = remaining(plan, doing.out)
    for piece in [piece for piece in plan if piece.name in left]:
        if doing.late():
            break
        doing.say(f"{piece.name}: begun")
        done = _do(piece, doing, prepared)
        doing.say(f"{piece.name}: {'done' if done else 'to be continued'}")
    return remaining(plan, doing.out)


def remaining(plan: Sequence[Piece], out: Path) -> list[str]:
    """Return the names of the pieces that are not done yet."""
    pieces = read_figures(out)["pieces"]
    return [piece.name for piece in plan if not pieces.get(piece.name, {}).get("done")]


def read_figures(out: Path) -> dict[str, Any]:
    """Return the figures of a folder: what was done, piece by piece."""
    path = out / FIGURES_FILE
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"pieces": {}}
    return figures


def _do(piece: Piece, doing: Doing, prepared: PreparedPages) -> bool:
    try:
        if isinstance(piece, Costs):
            return _costs(piece, doing, prepared)
        if isinstance(piece, Proof):
            return _proof(piece, doing, prepared)
        return _training(piece, doing, prepared)
    except torch.OutOfMemoryError as error:
        raise ValueError(
            f"{piece.name} ran out of memory on {_device_name(doing)}. "
            "Take fewer pages a step with --at-once, or leave the piece out with --only."
        ) from error


def _costs(piece: Costs, doing: Doing, prepared: PreparedPages) -> bool:
    rows = _rows_here(piece, doing)
    known = {(row["kind"], row["pages"], row["checkpointing"]) for row in rows}
    sizes = doing.at_once or piece.pages
    wanted = [(kind, pages, on) for kind in KINDS for pages in sizes for on in (False, True)]
    for kind, pages, on in wanted:
        if (kind, pages, on) in known:
            continue
        if doing.late():
            return False
        row = measure(
            PRESETS[piece.preset],
            kind,
            pages,
            prepared.supply,
            checkpointing=on,
            mixed=doing.mixed,
            device=doing.device,
        )
        rows.append(row.to_json())
        doing.say(f"{piece.name}: {_in_words(rows[-1])}")
        _keep(doing, piece, {"rows": rows, "budget_bytes": BUDGET, "done": False})
    known |= set(wanted)
    whole = sizes if doing.steps is not None else piece.pages  # a dry run is done with the sizes it was given
    done = known >= {(kind, pages, on) for kind in KINDS for pages in whole for on in (False, True)}
    _keep(doing, piece, {"rows": rows, "budget_bytes": BUDGET, "done": done})
    return done


def _proof(piece: Proof, doing: Doing, prepared: PreparedPages) -> bool:
    rows = _rows_here(piece, doing)
    known = {row["stage"] for row in rows}
    for group in piece.stages:
        if group[-1] in known:
            continue
        if doing.late():
            return False
        rows += _prove_stages(piece, group, doing, prepared)
        doing.say(f"{piece.name}: {', '.join(group)} stepped, stopped and resumed")
        _keep(doing, piece, {"rows": rows, "done": group == piece.stages[-1]})
    return True


def _prove_stages(piece: Proof, group: tuple[str, ...], doing: Doing, prepared: PreparedPages) -> list[dict[str, Any]]:
    """Take a few steps of each stage; stop in the middle of the last one, and resume."""
    folder = doing.out / piece.name
    shutil.rmtree(folder, ignore_errors=True)
    if doing.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(doing.device)
    pages = doing.at_once[0] if doing.at_once else piece.pages
    schedule = Schedule(seed=1, steps=dict.fromkeys(group, _PROOF_STEPS), pages=pages, public=doing.public)
    # Whether to stop is asked before the share of a step is told, so the share of the step before decides.
    middle = 1 - (_PROOF_STEPS // 2 + 1) / sum(schedule.steps.values())
    shares: list[float] = []
    stopped = _pretrain_piece(
        piece, folder, schedule, doing, prepared, lambda: bool(shares) and shares[-1] > middle - 1e-6, shares.append
    )
    at_stop = _rows(folder / METRICS_FILE)[-1]["step"]
    done = _pretrain_piece(piece, folder, schedule, doing, prepared, lambda: False)
    metrics = _rows(folder / METRICS_FILE)
    if stopped.weights is not None or done.weights is None or metrics[-1]["step"] != _PROOF_STEPS:
        raise ValueError(f"The stage {group[-1]!r} of {piece.preset} did not stop and resume.")
    shutil.rmtree(folder)
    last = {name: [row for row in metrics if row["stage"] == name][-1] for name in group}
    return [
        {
            "stage": name,
            "pages": pages,
            "steps": int(row["step"]),
            "resumed_at": int(at_stop) if name == group[-1] else None,
            "loss": row.get("loss"),
            "step_seconds": row.get("step_seconds"),
            "memory_mb": row.get("memory_mb"),
            "fits": 1e6 * row.get("memory_mb", 0) <= BUDGET,
        }
        for name, row in last.items()
    ]


def _training(piece: Training, doing: Doing, prepared: PreparedPages) -> bool:
    folder = doing.out / piece.name
    steps = piece.steps if doing.steps is None else dict.fromkeys(piece.steps, doing.steps)
    pages = piece.pages if doing.at_once is None else doing.at_once[0]
    schedule = Schedule(seed=1, steps=steps, pages=pages, public=doing.public)
    done = _pretrain_piece(piece, folder, schedule, doing, prepared, doing.late)
    weights = done.weights
    if weights is None:  # half-finished weights are of use too
        stage = _rows(folder / METRICS_FILE)[-1]["stage"]
        unfinished = checkpoint.load(folder / stage / CHECKPOINT_FILE)
        weights = folder / f"{piece.preset}.unfinished.safetensors"
        checkpoint.save(weights, checkpoint.to_float16(unfinished.state), unfinished.config)
    shutil.rmtree(doing.out / WEIGHTS_FOLDER / piece.name, ignore_errors=True)
    listed = checkpoint_parts.split_file(weights, doing.out / WEIGHTS_FOLDER / piece.name)
    figures = training_figures(_rows(folder / METRICS_FILE), done.schedule.steps)
    about = {
        "weights": str(listed.relative_to(doing.out)),
        "pages": done.schedule.pages,
        "done": done.weights is not None,
    }
    _keep(doing, piece, {**figures, **about})
    return done.weights is not None


def _pretrain_piece(
    piece: Proof | Training,
    folder: Path,
    schedule: Schedule,
    doing: Doing,
    prepared: PreparedPages,
    cancelled: Callable[[], bool],
    on_progress: Callable[[float], None] | None = None,
) -> Pretrained:
    corpus = corpus_of(doing.pages)
    return pretrain(
        folder,
        PRESETS[piece.preset],
        SHIPPED,
        schedule if corpus is None else replace(schedule, corpus=str(corpus.resolve())),
        resume=True,
        mixed=doing.mixed,
        device=str(doing.device),
        workers=doing.workers,
        checkpointing=isinstance(piece, Training) and piece.checkpointing,
        held_out=0,
        supply=prepared.supply,
        begin=doing.begin,
        on_progress=on_progress,
        cancelled=cancelled,
    )


def training_figures(rows: Sequence[Mapping[str, Any]], steps: Mapping[str, int]) -> dict[str, Any]:
    """Return the figures of a training from the rows of its metrics, stage by stage.

    The loss curve has at most 200 points; seconds a step and examples a second are medians of the rows.
    """
    stages = {}
    for name, wanted in steps.items():
        own = list({row["step"]: row for row in rows if row["stage"] == name}.values())  # a resumed run repeats some
        if not own:
            continue
        every = math.ceil(len(own) / _POINTS)
        plotted = own[::every] if own[-1] in own[::every] else [*own[::every], own[-1]]
        stages[name] = {
            "steps": int(own[-1]["step"]),
            "of": wanted,
            "loss": [[int(row["step"]), row["loss"]] for row in plotted if "loss" in row],
            "step_seconds": median(row["step_seconds"] for row in own),
            "pages_a_second": median(row.get("examples_a_second", 0.0) for row in own),
            "memory_mb": max(row.get("memory_mb", 0.0) for row in own),
        }
    return {"stages": stages}


def _keep(doing: Doing, piece: Piece, piece_figures: Mapping[str, Any]) -> None:
    """Write the figures of a piece, with the machine they are of."""
    figures = read_figures(doing.out)
    machine = {
        "device": _device_name(doing),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "mixed": doing.mixed,
    }
    figures["pieces"][piece.name] = {**machine, "preset": piece.preset, **piece_figures}
    path = doing.out / FIGURES_FILE
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    temporary.replace(path)


def _rows_here(piece: Piece, doing: Doing) -> list[dict[str, Any]]:
    """Return the rows of a piece that this device measured; those of another one are measured anew."""
    piece_figures = read_figures(doing.out)["pieces"].get(piece.name, {})
    rows: list[dict[str, Any]] = (
        piece_figures.get("rows", []) if piece_figures.get("device") == _device_name(doing) else []
    )
    return rows


def _device_name(doing: Doing) -> str:
    cuda = doing.device.type == "cuda"
    return torch.cuda.get_device_name(doing.device) if cuda else f"CPU, {platform.machine()}"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _in_words(row: Mapping[str, Any]) -> str:
    what = f"{row['kind']}, {row['pages']} a step, checkpointing {'on' if row['checkpointing'] else 'off'}"
    if row["seconds"] is None:
        return f"{what}: out of memory"
    return f"{what}: {row['bytes'] / 1e9:.2f} GB, {row['seconds']:.3g} s a step"
