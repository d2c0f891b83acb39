"""`glossator pretrain OUT`: weights from generated pages."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.commands.common import console, emit, fail, progress

SHOWN = ("loss", "words", "answered", "mask_one", "mask_best")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("pretrain")(pretrain)


def pretrain(
    out: Annotated[Path, typer.Argument(help="Folder for weights, metrics and the state of the run.")],
    minutes: Annotated[float, typer.Option(help="About how long to train on this machine.", min=0.05)] = 60,
    seed: Annotated[int, typer.Option(help="Same seed and steps, same weights.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in OUT.")] = False,
    words_steps: Annotated[int | None, typer.Option(help="Steps on words alone, instead of --minutes.", min=1)] = None,
    joint_steps: Annotated[
        int | None, typer.Option(help="Steps with rendered pages, instead of --minutes.", min=0)
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads; one gives the same weights every time.", min=1)] = 1,
    teacher: Annotated[Path | None, typer.Option(help="Folder of all-MiniLM-L6-v2, if it is not installed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")] = False,
) -> None:
    """Train the nano network on generated pages: first on words alone, then on rendered pages too."""
    import torch

    from engine.training.pretraining import Stages, paced
    from engine.training.pretraining import pretrain as run
    from model.presets import NANO
    from model.pretraining.token_vectors import teacher_folder

    if (words_steps is None) != (joint_steps is None):
        fail("Give both --words-steps and --joint-steps, or neither.", code=2)
    torch.set_num_threads(threads)
    try:
        source = teacher or teacher_folder()
        if words_steps is not None and joint_steps is not None:
            stages = Stages(seed=seed, words_steps=words_steps, joint_steps=joint_steps)
        elif resume and (out / "plan.json").is_file():
            stages = Stages(seed=seed, words_steps=1, joint_steps=0)  # the run in OUT remembers its own
        else:
            stages = paced(NANO, source, minutes, seed)
        with progress() as bar:
            task = bar.add_task("pretraining", total=1.0)

            def show(values: Mapping[str, Any]) -> None:
                parts = "  ".join(f"{name} {values[name]:.3f}" for name in SHOWN if name in values)
                console.print(f"{values['stage']} {values['step']:.0f}  {parts}", markup=False)

            done = run(
                out,
                NANO,
                source,
                stages,
                resume=resume,
                on_metrics=show,
                on_progress=lambda share: bar.update(task, completed=share),
            )
    except (ValueError, FloatingPointError) as error:
        fail(str(error))
    if as_json:
        emit({"weights": str(done.weights), "version": done.version, "stages": asdict(done.stages)})
    else:
        console.print(f"{done.weights}  version {done.version}", markup=False)
