"""Shared by all commands: workspace, errors as one sentence, progress, and JSON output."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from engine import emergency_space, logs, tracing
from engine.errors import Archived, NotFound, Refused
from engine.followers import catch_up
from engine.metrics import HERE, MetricsPort
from engine.outage import is_full
from engine.private_files import private_process_files
from engine.projects.projects import DEFAULT_NAME, ensure_project, project_named
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace

_WIDE = 10_000  # characters
# Names and printed words may hold brackets, so nothing is read as markup.
console = Console(stderr=True, highlight=False, markup=False)  # for people: progress and sentences
# Results. In a pipe or a file nothing is cut: programs read whole ids, and lines have no width.
output = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _WIDE)
_LISTED = 20  # files
_IDS = ("id", "answer", "task", "job", "run", "export", "session", "invitation")  # columns of ids


def fail(sentence: str, code: int = 1) -> NoReturn:
    """End the command with one sentence on standard error.

    Args:
        sentence: the error and the action to take.
        code: exit code.
    """
    console.print(sentence, style="red", soft_wrap=True)
    raise typer.Exit(code)


def list_table(*columns: str | Column, **options: Any) -> Table:
    """Return an empty table in the look of all commands; ids are whole also where the terminal is narrow."""
    headers = [_column(column) if isinstance(column, str) else column for column in columns]
    return Table(*headers, box=None, header_style="bold", pad_edge=False, **options)


def _column(header: str) -> Column:
    return Column(header, no_wrap=True, min_width=32) if header.lower() in _IDS else Column(header, overflow="fold")


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that is not undone; ends the command unless the answer is yes.

    Args:
        question: what is about to be done, with a question mark.
        yes: option --yes: it is done without a question.
    """
    if yes:
        return
    try:
        agreed = typer.confirm(question, err=True)
    except typer.Abort:  # no terminal to answer on, or Ctrl+C
        console.print()
        fail("Nothing was changed. Confirm with --yes.")
    if not agreed:
        fail("Nothing was changed.")


def print_list(table: Table, none: str) -> None:
    """Print the lines of a list; where there are none, a sentence on standard error."""
    if table.row_count:
        output.print(table)
    else:
        console.print(none, soft_wrap=True)


def emit(answer: dict[str, Any]) -> None:
    """Print one JSON object as the last line of standard output, escaped where the encoding lacks characters."""
    line = json.dumps(answer, ensure_ascii=False, default=str)
    try:
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeError:
        line = json.dumps(answer, default=str)
    sys.stdout.write(f"{line}\n")


def settings_here(**chosen: Any) -> Settings:
    """Return the settings of the environment with the options of the command line.

    Ends the command when invalid.
    """
    try:
        return Settings(**{name: value for name, value in chosen.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        sentence = str(first["msg"]).removeprefix("Value error, ")
        if first["loc"]:
            name, *within = map(str, first["loc"])  # what is within is an entry of a list or object
            entry = f" ({within[0]})" if within else ""
            sentence = f"GLOSSATOR_{name.upper()}{entry}: {sentence}"
        fail(sentence, code=2)


@contextmanager
def here(**chosen: Any) -> Iterator[Workspace]:
    """Open the workspace of the environment; a refusal inside ends the command with its sentence.

    New files are private, except inside `engine.private_files.users_umask`.

    Args:
        chosen: settings from the command line; None: not given.
    """
    settings = settings_here(**chosen)
    with private_here(settings):
        try:
            workspace = open_workspace(settings)
        except (Refused, ValueError) as error:
            fail(str(error))
        try:
            catch_up(workspace)  # no server may run that lets the figures follow
            yield workspace
            catch_up(workspace)
        except Refused as error:
            fail(str(error))
        finally:
            workspace.close()


@contextmanager
def private_here(settings: Settings) -> Iterator[None]:
    """Keep new files private and temporary files in a folder of this process.

    Ends the command when that fails.
    """
    with ExitStack() as stack:
        try:
            try:
                stack.enter_context(private_process_files(settings.data_dir))
            except OSError as error:
                if not (is_full(error) and emergency_space.release(settings.data_dir)):
                    raise
                stack.enter_context(private_process_files(settings.data_dir))
        except OSError as error:
            fail(f"The data folder {settings.data_dir.absolute()} cannot be written to: {error.strerror or error}.")
        yield


def set_up_logs(process: str, settings: Settings) -> None:
    """Write the logs of this process in the form of the settings, and send its traces where they are wanted.

    Ends the command when they cannot be sent.
    """
    logs.set_up(process, settings.log_format, trace_ids=tracing.current_ids)
    try:
        tracing.begin(process)
    except Refused as error:
        fail(str(error))


def announce(sentence: str, settings: Settings) -> None:
    """Say what a server does, on standard error: a line for people, or of the log where that is for programs."""
    if settings.log_format == "json":
        logs.announce(sentence)
    else:
        console.print(sentence, style="bold", soft_wrap=True)


@contextmanager
def metrics_port(settings: Settings) -> Iterator[None]:
    """Serve the metrics of this process, and of those that it starts, where they have a port of their own.

    Ends the command when the port cannot be used.
    """
    if not settings.metrics_port:
        yield
        return
    shown = f"[{settings.metrics_host}]" if ":" in settings.metrics_host else settings.metrics_host
    where = f"{shown}:{settings.metrics_port}"
    try:
        port = MetricsPort(HERE, settings.metrics_host, settings.metrics_port)
    except OSError as error:
        fail(
            f"The metrics cannot be served on {where}: {error.strerror or error}. Choose another --metrics-port.",
            code=3,
        )
    with port:
        announce(f"Metrics are on http://{where}/metrics", settings)
        yield


def project_to_fill(workspace: Workspace, name: str, user_id: str) -> str:
    """Return the id of a project, created if missing.

    Creating prints a note, because the name may be misspelt.
    """
    try:
        project = project_named(workspace, name)
        if project.archived_at is not None:
            raise Archived
        return project.id
    except NotFound:
        pass
    with workspace.database.write() as session:
        made = ensure_project(session, name, workspace.settings, user_id).id
    if name != DEFAULT_NAME:
        console.print(f"Created project {name!r}.", soft_wrap=True)
    return made


def list_files(names: list[str], what: str, as_json: bool = False) -> None:
    """Print the names of files with a fault, each with a clause; nothing with `as_json`."""
    if as_json:
        return
    for name in names[:_LISTED]:
        output.print(f"{name}: {what}.", soft_wrap=True)
    if len(names) > _LISTED:
        output.print(f"And {len(names) - _LISTED:,} more.")


def progress() -> Progress:
    """Return a progress bar on standard error; silent unless that is a terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )


@contextmanager
def step_bar() -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function that shows the progress of a step: its name, how much is done, and of how much."""
    with progress() as bar:
        tasks: dict[str, TaskID] = {}

        def on_step(step: str, done: int, size: int | None) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=size)
            bar.update(tasks[step], completed=done, total=size)

        yield on_step
