"""`glossator pretrain`: train a network on generated pages, stage by stage."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.commands.common import console, emit, fail, progress
from engine.commands.failures import sentence_of
from engine.commands.training.pretraining_pages import STOPPED, read_corpus, read_forms
from engine.text import join_names

if TYPE_CHECKING:
    from engine.training.pretraining.run import Pretrained
    from engine.training.pretraining.schedule import Schedule
    from model.distributed import Ranks

STAGES_OF_A_RUN = "words,regions,segment"
SHOWN = ("loss", "words", "answered", "mask_one", "mask_best", "mask_iou")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("pretrain")(pretrain)


def pretrain(
    context: typer.Context,
    out: Annotated[Path | None, typer.Argument(help="Folder for weights, metrics and run state.")] = None,
    minutes: Annotated[float, typer.Option(help="Approximate training time in minutes.", min=0.05)] = 60,
    stages: Annotated[
        str,
        typer.Option(help="Stages in order, separated by commas; NAME=STEPS sets the steps instead of --minutes."),
    ] = STAGES_OF_A_RUN,
    recipe: Annotated[
        bool, typer.Option("--recipe", help="Use stages, steps and seed of the shipped weights.")
    ] = False,
    at_most: Annotated[
        float | None,
        typer.Option(help="Minutes after which the run stops; --resume continues it.", min=0.05),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed and steps give the same weights.")] = 0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume the run in OUT, with the stages, steps, seed, pages and rates that it began with.",
        ),
    ] = False,
    preset: Annotated[str, typer.Option(help="Network size: nano, base or large.")] = "nano",
    batch: Annotated[
        int, typer.Option(help="Pages a micro-step; a quarter of them where pictures are asked questions.", min=1)
    ] = 4,
    accumulate: Annotated[int, typer.Option(help="Micro-steps whose gradients make one step.", min=1)] = 1,
    start_rate: Annotated[
        float,
        typer.Option(
            help="Factor of the learning rates of the weights of --start, in stages without questions: at the full "
            "ones they would forget how to answer."
        ),
    ] = 0.1,
    rate: Annotated[
        float, typer.Option(help="Factor of the learning rates, which follow from stage, preset and public weights.")
    ] = 1.0,
    device: Annotated[str, typer.Option(help="Device: cpu, cuda, mps or auto.")] = "cpu",
    mixed: Annotated[bool, typer.Option("--mixed", help="Run forward passes in bfloat16.")] = False,
    checkpointing: Annotated[
        bool, typer.Option("--checkpointing", help="Recompute activations: less memory, a third more time.")
    ] = False,
    workers: Annotated[
        int, typer.Option(help="Processes that prepare pages while the network learns; 0 prepares in between.", min=0)
    ] = 0,
    threads: Annotated[int, typer.Option(help="Number of threads; one makes runs reproducible.", min=1)] = 1,
    teacher: Annotated[Path | None, typer.Option(help="Folder of all-MiniLM-L6-v2, unless installed.")] = None,
    trunk: Annotated[
        str | None, typer.Option(help="Public weights of the image trunk: timm name, file or folder.")
    ] = None,
    tower: Annotated[
        str | None, typer.Option(help="Public weights of the prompt tower: open_clip tag, file or folder.")
    ] = None,
    bert: Annotated[
        str | None, typer.Option(help="Public weights of the text encoder: transformers name or folder.")
    ] = None,
    decoder: Annotated[
        str | None,
        typer.Option(help="Language model of the text stages: smollm2, a GGUF file, or a transformers name or folder."),
    ] = None,
    forms: Annotated[
        Path | None,
        typer.Option(help="Folder of fillable PDF forms, for words, practice, ranking and region_ranking."),
    ] = None,
    labelled: Annotated[
        Path | None,
        typer.Option(help="Grounded dataset to learn from: a fifth of the steps of practice and ranking."),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of PDFs, scans and pictures without labels, to learn from; may be repeated."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(help="Project to learn from without labels: its training documents without accepted answers."),
    ] = None,
    corpus_cache: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps documents as read, for several runs; OUT/documents by default."),
    ] = None,
    corpus_pages: Annotated[
        int | None, typer.Option(help="Pages of each document, from its first; all by default.", min=1)
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Documents read at once; by default the number of cores.", min=1)
    ] = None,
    start: Annotated[Path | None, typer.Option(help="Initial weights: checkpoint of the same preset.")] = None,
    list_stages: Annotated[bool, typer.Option("--list", help="List the stages and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Pretrain a network on generated pages, and on documents without labels.

    Each stage prints held-out figures before and after. Metrics, figures and curves are written to OUT. --resume
    continues an interrupted run; --device, --mixed, --checkpointing, --workers and --threads are given again. Several
    GPUs learn together: torchrun --nproc-per-node N $(which glossator) pretrain.
    """
    import time

    import torch

    from engine.training.pretraining.pacing import pace_schedule
    from engine.training.pretraining.run import pretrain as run
    from engine.training.pretraining.schedule import RECIPE, Schedule, check_order
    from engine.training.pretraining.stages import STAGES
    from model.device_missing import DeviceMissing
    from model.devices import device_named
    from model.distributed import RankLost, device_of_rank, join_ranks
    from model.prefetch import WorkerLost
    from model.presets import PRESETS
    from model.pretraining.token_vectors import teacher_folder
    from model.rates import PARTS

    if list_stages:
        for name, stage in STAGES.items():
            console.print(f"{name:15}{stage.title}")
        return
    if out is None:
        fail("The output folder is missing. Run: glossator pretrain OUT", code=2)
    if preset not in PRESETS:
        fail(f"Unknown preset {preset!r}. Choose from {', '.join(PRESETS)}.", code=2)
    try:
        device = device_of_rank(str(device_named(device)))
    except DeviceMissing as error:
        fail(str(error), code=2)
    if recipe and (stages, minutes, seed, start, decoder, preset) != (STAGES_OF_A_RUN, 60, 0, None, None, "nano"):
        fail("--recipe sets stages, steps, seed and preset. Leave those options out.", code=2)
    named = set(RECIPE.steps) if recipe else set(re.findall(r"\w+", stages))
    _check_sources(named, forms=forms, labelled=labelled, unlabelled=bool(corpus or project))
    torch.set_num_threads(threads)
    latest = None if at_most is None else time.monotonic() + 60 * at_most

    def late() -> bool:
        """Return whether the run has to stop."""
        return latest is not None and time.monotonic() > latest

    try:
        with join_ranks(device) as ranks:
            again = _open_folder(out, ranks, resume=resume, recipe=recipe)
            if forms is not None:
                ranks.on_first(partial(read_forms, forms, out))
            source = teacher or teacher_folder()
            steps = RECIPE.steps if recipe else _parse_steps(stages)
            names = _parse_names(stages)
            schedule = Schedule(  # what it refuses is refused before documents are read
                seed=RECIPE.seed if recipe else seed,
                steps=steps or dict.fromkeys(names, 1),
                start=_absolute(start),
                decoder=None if decoder is None else _path_or_name(decoder),
                forms=_absolute(forms),
                labelled=_absolute(labelled),
                pages=batch,
                accumulate=accumulate,
                rate=rate,
                start_rate=start_rate,
                public={
                    part: _path_or_name(path_or_name)
                    for part, path_or_name in zip(PARTS, (trunk, bert, tower), strict=True)
                    if path_or_name is not None
                },
                minutes=None if steps else minutes,
            )
            if again:
                schedule = _keep_corpus(schedule, out, ranks, named=bool(corpus or project))
            else:
                check_order(schedule.steps)
            if (corpus or project) and not again:
                reading = partial(
                    read_corpus,
                    out,
                    corpus or [],
                    project,
                    cache=corpus_cache,
                    long_side=PRESETS[preset].image.long_side,
                    first_pages=corpus_pages,
                    processes=processes,
                    cancelled=late,
                )
                schedule = replace(schedule, corpus=_absolute(ranks.on_first(reading)))
            if steps is None and not again:  # the run in OUT remembers its own steps
                pace = partial(
                    pace_schedule, out, PRESETS[preset], source, schedule, minutes,
                    mixed=mixed, device=device, checkpointing=checkpointing,
                )  # fmt: skip
                schedule = ranks.on_first(pace)
            with progress() as bar:
                task = bar.add_task("pretraining", total=1.0)
                done = run(
                    out,
                    PRESETS[preset],
                    source,
                    schedule,
                    resume=resume,
                    chosen_fields=_chosen_fields(context, "stages" if steps is None else "steps") if again else (),
                    mixed=mixed,
                    device=device,
                    workers=workers,
                    checkpointing=checkpointing,
                    ranks=ranks,
                    begin=lambda network: _load_public(network, trunk, tower, bert),
                    on_metrics=_show_metrics,
                    on_figures=_show_figures,
                    on_progress=lambda share: bar.update(task, completed=share),
                    cancelled=late,
                )
    except (ValueError, FloatingPointError, OSError, RankLost, WorkerLost) as error:
        fail(sentence_of(error))
    if ranks.first:
        _show_end(done, at_most, as_json=as_json)


def _check_sources(named: set[str], *, forms: Path | None, labelled: Path | None, unlabelled: bool) -> None:
    """Refuse pages of which no stage learns, and those that judge the model."""
    from engine.grounded import pages_file
    from engine.training.judging_files import judges
    from engine.training.pretraining.stages import STAGES

    with_forms = [name for name, stage in STAGES.items() if stage.forms]
    with_labels = [name for name, stage in STAGES.items() if stage.labelled]
    with_corpus = [name for name, stage in STAGES.items() if not stage.asks]
    if forms is not None and not named.intersection(with_forms):
        fail(f"--forms is for the stages {join_names(with_forms)}. Add one to --stages, or leave it out.", code=2)
    if labelled is not None and not named.intersection(with_labels):
        fail(f"--labelled is for the stages {join_names(with_labels)}. Add one to --stages, or leave it out.", code=2)
    try:
        if labelled is not None and judges(pages_file(labelled)):
            fail(f"{labelled} judges the model, so nothing is learned from it. Name another dataset.")
    except FileNotFoundError as error:
        fail(str(error), code=2)
    if unlabelled and not named.intersection(with_corpus):
        fail(f"--corpus and --project are for the stages {join_names(with_corpus)}. Add one to --stages.", code=2)


def _open_folder(out: Path, ranks: "Ranks", *, resume: bool, recipe: bool) -> bool:
    """Make the folder of a run; return whether it holds one that goes on."""
    from engine.training.pretraining.schedule import RECIPE, has_run, read_schedule

    again = ranks.on_first(lambda: has_run(out))
    if again and not resume:
        fail(f"{out} already contains a run. Use --resume, or choose another folder.")
    if resume and not again and ranks.first:
        console.print(f"{out} holds no run to resume, so a new one begins.")
    if recipe and again and read_schedule(out).steps != RECIPE.steps:
        raise ValueError(f"{out} contains a run of another recipe. Choose another folder.")
    ranks.on_first(lambda: out.mkdir(parents=True, exist_ok=True))  # fails before anything is read or loaded
    return again


def _keep_corpus(schedule: "Schedule", out: Path, ranks: "Ranks", *, named: bool) -> "Schedule":
    """Return the schedule of a run that goes on, with the pages that it began with; `named`: on the command line."""
    from engine.training.pretraining.schedule import read_schedule
    from engine.training.unlabelled.page_corpus import CORPUS_FILE

    if named:
        if read_schedule(out).corpus is None:
            raise ValueError(f"The run in {out} was begun without --corpus and --project. Leave them out.")
        if ranks.first:
            console.print("The run goes on with the pages that it began with; no folder is read again.")
    if (out / CORPUS_FILE).is_file():  # it is used where the folder of the run has moved
        return replace(schedule, corpus=_absolute(out / CORPUS_FILE))
    return schedule


def _show_metrics(values: Mapping[str, Any]) -> None:
    from model.throughput import in_words

    parts = [f"{name} {values[name]:.3f}" for name in SHOWN if name in values]
    line = "  ".join([*parts, in_words(values)])
    console.print(f"{values['stage']} {values['step']:.0f}  {line}")


def _show_figures(stage: str, figures: Mapping[str, tuple[float, float]]) -> None:
    for name, (before, after) in figures.items():
        console.print(f"{stage}: {name} {before:.3f} -> {after:.3f}")


def _show_end(done: "Pretrained", at_most: float | None, *, as_json: bool) -> None:
    """Show the weights of a run and their version, or how a stopped one goes on."""
    if as_json:
        emit(
            {
                "weights": None if done.weights is None else str(done.weights),
                "version": done.version,
                "seed": done.schedule.seed,
                "steps": dict(done.schedule.steps),
                "figures": {stage: dict(figures) for stage, figures in done.figures.items()},
            }
        )
    elif done.weights is not None:
        console.print(f"{done.weights}  version {done.version}")
    if done.weights is None:
        fail(f"Stopped after {at_most:g} minutes. Run the same command with --resume to continue.", code=STOPPED)


def _chosen_fields(context: typer.Context, stages: str) -> list[str]:
    """Return the fields of a schedule whose options the command line names; `stages` is that of --stages."""
    fields = {"batch": "pages", "stages": stages} | {
        name: name
        for name in (
            *("seed", "accumulate", "rate", "start_rate", "start", "decoder", "forms", "labelled"),
            *("minutes", "trunk", "bert", "tower"),
        )
    }
    return [
        field for option, field in fields.items() if str(context.get_parameter_source(option)).endswith("COMMANDLINE")
    ]


def _load_public(network: Any, trunk: str | None, tower: str | None, bert: str | None) -> None:
    from model import hub

    for load, source in ((hub.load_trunk, trunk), (hub.load_prompt_tower, tower), (hub.load_text_encoder, bert)):
        if source is not None:
            console.print(f"{source}: {load(network, source)} tensors")


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _path_or_name(source: str) -> str:
    """Return a path from the root, so that a run resumes from another folder; the name of weights stays as it is."""
    return str(Path(source).resolve()) if Path(source).exists() else source


def _parse_names(stages: str) -> list[str]:
    """Return the names of stages. Raises ValueError where one is named twice."""
    names = [part.partition("=")[0].strip() for part in stages.split(",")]
    if len(set(names)) < len(names):
        raise ValueError("A stage is named twice. Name each stage once.")
    return names


def _parse_steps(stages: str) -> dict[str, int] | None:
    """Return the steps when every stage has them, None when none has; ValueError for a mixture."""
    parts = [part.strip().partition("=") for part in stages.split(",")]
    if not any(sign for _, sign, _ in parts):
        return None
    if not all(steps.isdigit() and int(steps) > 0 for _, _, steps in parts):
        raise ValueError(
            "Only some stages have steps. Give steps for every stage, as in words=3000,segment=720, or for none."
        )
    return {name: int(steps) for name, _, steps in parts}
