"""Command line of the work on a GPU: prepare the pages that travel, do the plan, join the weights."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

# Heavy modules are imported when a command runs.

STOPPED = 3  # exit code while pieces are left
_DRY = "dry"  # folder in OUT
_SAVING = 30  # seconds of the minutes kept for saving


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; errors are one sentence on standard error."""
    parser = argparse.ArgumentParser("python -m engine.training.gpu", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("prepare", help="write the pages that travel")
    command.add_argument("pages", type=Path, help="folder to write")
    command.add_argument("--preset", default="base", help="preset whose picture size is kept")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--most-mb", type=float, default=40)
    command.add_argument("--most-pages", type=int, help="with pictures, and of words")
    command.add_argument("--corpus", type=Path, help="corpus.json of a run of glossator pretrain --corpus")
    command.set_defaults(run=_prepare)
    command = commands.add_parser("run", help="do what is left of the plan")
    command.add_argument("pages", type=Path, help="folder of prepared pages")
    command.add_argument("out", type=Path, help="folder for figures, weights and state; a second call goes on")
    command.add_argument("--minutes", type=float, default=9, help="stop after so many")
    command.add_argument("--device", default="auto", help="cpu, cuda or auto")
    command.add_argument("--only", help="names of pieces, separated by commas")
    command.add_argument("--steps", type=int, help=f"steps of each stage of a training, for a dry run into OUT/{_DRY}")
    command.add_argument(
        "--at-once", help="pages a step, separated by commas, instead of those of the plan, whose tables then stay open"
    )
    command.add_argument(
        "--workers", type=int, help="processes that make examples; by default the cores but two, on a GPU"
    )
    for part, what in (("trunk", "timm name, file or folder"), ("bert", "transformers name or folder"),
                       ("tower", "open_clip tag, file or folder")):  # fmt: skip
        command.add_argument(f"--{part}", help=f"public weights for base: {what}")
    command.set_defaults(run=_run_plan)
    command = commands.add_parser("join", help="join the parts of weights")
    command.add_argument("parts", type=Path, help="list of the parts, NAME.parts.json")
    command.add_argument("target", type=Path, nargs="?", help="file to write; by default beside the list")
    command.set_defaults(run=_join)
    command = commands.add_parser("status", help="say what is done and what is left")
    command.add_argument("out", type=Path)
    command.set_defaults(run=_status)
    chosen = parser.parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
    except (ValueError, FloatingPointError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return code


def _prepare(chosen: argparse.Namespace) -> int:
    from engine.training.gpu.prepare import prepare
    from model.presets import PRESETS

    if chosen.preset not in PRESETS:
        raise ValueError(f"Unknown preset {chosen.preset!r}. Choose from {', '.join(PRESETS)}.")
    prepared = prepare(
        chosen.pages,
        long_side=PRESETS[chosen.preset].image.long_side,
        seed=chosen.seed,
        most_bytes=round(1e6 * chosen.most_mb),
        most_pages=chosen.most_pages,
        corpus=chosen.corpus,
    )
    _say(
        f"{chosen.pages}: {prepared.pages} pages, {prepared.pictures} of them with pictures,"
        f" {prepared.documents} documents without labels, {prepared.bytes / 1e6:.1f} MB"
    )
    return 0


def _run_plan(chosen: argparse.Namespace) -> int:
    until = time.monotonic() + max(60 * chosen.minutes - _SAVING, 30 * chosen.minutes)
    import os

    import torch

    from engine.training.gpu.plan import PLAN
    from engine.training.gpu.run_plan import Doing, run_plan
    from model.devices import device_named
    from model.network import GroundingNetwork
    from model.rates import PARTS

    names = [piece.name for piece in PLAN]
    only = chosen.only.split(",") if chosen.only else names
    if unknown := [name for name in only if name not in names]:
        raise ValueError(f"There is no piece {unknown[0]!r}; choose from {', '.join(names)}.")
    device = device_named(chosen.device)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if device.type == "cpu":
        torch.set_num_threads(cores)
    workers = chosen.workers if chosen.workers is not None else max(0, cores - 2) if device.type == "cuda" else 0
    sources = {part: getattr(chosen, part) for part in PARTS if getattr(chosen, part)}

    def begin(network: GroundingNetwork) -> None:
        """Load public weights."""
        from model import hub

        loaders = {"trunk": hub.load_trunk, "bert": hub.load_text_encoder, "tower": hub.load_prompt_tower}
        for part, source in sources.items():
            _say(f"{source}: {loaders[part](network, source)} tensors")

    doing = partial(
        Doing,
        pages=chosen.pages,
        out=chosen.out if chosen.steps is None else chosen.out / _DRY,  # a dry run is not the plan done
        device=device,
        until=until,
        workers=workers,
        steps=chosen.steps,
        at_once=tuple(int(count) for count in chosen.at_once.split(",")) if chosen.at_once else None,
        say=_say,
    )
    left: list[str] = []
    for piece in (piece for piece in PLAN if piece.name in only):
        public = sources and piece.preset == "base"
        left += run_plan([piece], doing(begin=begin, public=sources) if public else doing())
    _say(f"Left: {', '.join(left)}. Run the same command again." if left else "Nothing is left.")
    return STOPPED if left else 0


def _join(chosen: argparse.Namespace) -> int:
    from model.checkpoint import load
    from model.checkpoint_parts import join_parts

    path = join_parts(chosen.parts, chosen.target)
    _say(f"{path}  version {load(path).version}")
    return 0


def _status(chosen: argparse.Namespace) -> int:
    from engine.training.gpu.plan import LEFT_OUT, PLAN
    from engine.training.gpu.run_plan import read_figures, remaining

    left = remaining(PLAN, chosen.out)
    for name, figures in read_figures(chosen.out)["pieces"].items():
        _say(
            f"{name}: {'to be continued' if name in left else 'done'} on {figures['device']}, torch {figures['torch']}"
        )
    _say(json.dumps({"left": left, "left_out": dict(LEFT_OUT)}))
    return 0


def _say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
