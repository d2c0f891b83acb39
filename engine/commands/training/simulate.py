"""`glossator simulate`: simulate annotation and retraining on a grounded dataset."""

import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from engine.commands.common import console, emit, fail, list_table, output, settings_here
from engine.errors import Refused

if TYPE_CHECKING:
    from engine.simulation.figures import Round


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("simulate")(simulate)


def simulate(
    source: Annotated[Path, typer.Argument(metavar="SET", help="Folder with pages.jsonl and images, or that file.")],
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Number of rounds of annotation and retraining.")] = 5,
    pages: Annotated[int, typer.Option(min=1, help="Pages annotated per round.")] = 20,
    against: Annotated[
        str,
        typer.Option(
            help="Variant to compare with: nothing, never (retrain), adamw, whole or history (modes of our "
            "optimizer), quick (depth), or mean (of the folds, for use)."
        ),
    ] = "nothing",
    select: Annotated[
        str,
        typer.Option(help="Page selection: random, or model (most uncertain first)."),
    ] = "random",
    watch: Annotated[
        Path | None, typer.Option(metavar="SET", help="Another dataset, not shown to the model, to measure forgetting.")
    ] = None,
    watch_pages: Annotated[int, typer.Option(min=1, help="Pages of the --watch dataset to measure.")] = 60,
    upload_all: Annotated[
        bool,
        typer.Option(
            "--upload-all",
            help="All pages to annotate are in the project from the beginning; with --setting unlabelled=0.2 those "
            "without answers take part in each retraining.",
        ),
    ] = False,
    depth: Annotated[
        str | None, typer.Option(help="Training depth: quick or full; default: that of the product.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps per round.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.05, help="Maximum training time per round in minutes.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the pages drawn and of the retrainings.")] = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Setting of each retraining, as begin=champion; repeatable."),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder to keep the project in; open it with GLOSSATOR_DATA_DIR=FOLDER."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on after the last finished round in the --keep folder.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Plot of the rounds to write.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Simulate annotators on a grounded dataset: ask, fix, accept, retrain, and measure on unseen pages.

    Three fifths of the pages, chosen by hash, are annotated; the others are never shown. Your own projects stay
    unchanged.
    """
    from engine.commands.servers.background import run_worker
    from engine.simulation.picture import draw
    from engine.simulation.rounds import AGAINST, SELECTIONS, Plan, Simulation, name_of, pages_of, split_pages
    from engine.simulation.rounds import simulate as run
    from model.devices import use_threads

    if against not in AGAINST:
        fail(f"Unknown variant {against!r}. Choose from {', '.join(AGAINST)}.", code=2)
    if select not in SELECTIONS:
        fail(f"Unknown selection {select!r}. Choose from {', '.join(SELECTIONS)}.", code=2)
    if out is not None and (out.is_dir() or not out.absolute().parent.is_dir()):
        fail(f"The plot cannot be written to {out}. Name a file in an existing folder.", code=2)
    if resume and keep is None:
        fail("--resume needs --keep: the folder of the simulation.", code=2)
    settings = settings_here()
    use_threads(settings.threads)  # all cores by default: no server needs one
    chosen: dict[str, Any] = {"depth": depth, "steps": steps, "minutes": minutes}
    for pair in setting or ():
        name, _, value = pair.partition("=")
        chosen[name.strip()] = value.strip()
    plan = Plan(
        rounds=rounds,
        pages=pages,
        seed=seed,
        against=against,
        select=select,
        watched=watch,
        watched_pages=watch_pages,
        uploaded=upload_all,
        run={name: value for name, value in chosen.items() if value is not None},
    )
    rounds_done: list[Round] = []
    try:
        pool, unseen = split_pages(pages_of(source))
        with ExitStack() as stack:
            folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="glossator-simulation-")))
            with console.status("Starting.") as status:
                do_jobs = partial(run_worker, once=True)
                for result in run(
                    source, folder, settings, plan, resume=resume, do_jobs=do_jobs, on_progress=status.update
                ):
                    rounds_done.append(result)
                    console.print(_line(result), soft_wrap=True)
    except Refused as refused:
        fail(str(refused))
    simulation = Simulation(
        name_of(source), name_of(watch) if watch else None, len(pool), len(unseen), plan, tuple(rounds_done)
    )
    answer = simulation.to_json()
    if out is not None and not draw(
        {f"{simulation.set}, {against}" if against != "nothing" else simulation.set: answer}, out
    ):
        console.print("No plot: matplotlib is missing. Run: pip install 'glossator[bench]'")
    if as_json:
        emit(answer)
    else:
        output.print(_table(simulation.set, rounds_done))


def _line(result: "Round") -> str:
    sentence = f"round {result.round}: {result.pages} pages annotated, {result.version} in use"
    sentence += f", acc@.5 {result.acc_50:.3f}"
    if result.watched is not None:
        sentence += f", watched {result.watched.acc_50:.3f}"
    if result.challenger is not None:
        sentence += f"; challenger {result.challenger.acc_50:.3f}, retrained in {result.seconds:.0f} s."
        sentence += f" {result.sentence}"
    return sentence


def _table(name: str, rounds: "list[Round]") -> Table:
    table = list_table(title=name)
    for title in (
        "round", "pages", "in use", "acc@.5", "mean IoU", "gain (95 %)", "watched", "challenger", "corrections a page",
        "words a question", "retrained in", "promoted",
    ):  # fmt: skip
        table.add_column(title, justify="right" if title != "in use" else "left")
    for result in rounds:
        table.add_row(
            str(result.round),
            str(result.pages),
            result.version,
            f"{result.acc_50:.3f}",
            f"{result.mean_iou:.3f}",
            _interval(result.gain),
            "-" if result.watched is None else f"{result.watched.acc_50:.3f}",
            "-" if result.challenger is None else f"{result.challenger.acc_50:.3f}",
            _figure(result.corrections_a_page, ".1f"),
            _figure(result.edited_words_a_question, ".2f"),
            "-" if result.seconds is None else f"{result.seconds:.0f} s",
            "-" if result.promoted is None else "yes" if result.promoted else "no",
        )
    return table


def _interval(gain: tuple[float, float, float] | None) -> str:
    return "-" if gain is None else f"{gain[0]:+.3f} ({gain[1]:+.3f} .. {gain[2]:+.3f})"


def _figure(value: Any, form: str) -> str:
    return "-" if value is None else format(value, form)
