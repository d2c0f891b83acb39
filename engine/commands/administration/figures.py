"""`glossator figures`: show throughput, speed, reliability and queue depth."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.commands.common import emit, here, list_table, output
from engine.datasets.weights import Reliability
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.statistics.selection_gain import Choices
from engine.statistics.throughput import LONGEST, Pace


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("figures")(figures)


def figures(
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    days: Annotated[int, typer.Option(min=1, max=LONGEST, help="Length of the period in days, ending today.")] = 90,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Show throughput, speed, share accepted unchanged, reliability and queue depth."""
    from engine.datasets.comparisons import people_reliability
    from engine.statistics.throughput import figures as figures_of

    with here() as workspace:
        project_id = project_named(workspace, project).id
        computed = figures_of(workspace, project_id, days=days)
        with workspace.database.read() as session:
            people = people_reliability(session, project_id)
    if as_json:
        emit({**computed.model_dump(mode="json"), "reliability": [asdict(row) for row in people]})
        return
    if not computed.by_model and not computed.people:
        output.print("No finished masks in this period. Accept answers, or choose a longer period with --days.")
        return
    _print("model", [(row.label, row) for row in computed.by_model])
    _print("person", [(row.person, row) for row in computed.people])
    _print_reliability(people)
    _print_choices(computed.choices)
    total = sum(row.masks for row in computed.masks_a_day)
    output.print(f"{count(total, 'mask')} from {computed.first_day} to {computed.last_day}.")
    if computed.queue:
        now = computed.queue[-1]
        output.print(f"{count(now.open, 'task')} to answer, {count(now.submitted, 'answer')} to review.")


def _print_reliability(people: list[Reliability]) -> None:
    """Print the reliability of people, lowest first, and who disagrees with all others."""
    if not people:
        return
    table = list_table("person")
    for title in ("reliability", "comparisons", "gold questions"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in people:
        table.add_row(row.person, f"{row.reliability:.2f}", str(row.comparisons), str(row.gold_questions))
    output.print(table)
    for row in people:
        if row.sentence:
            output.print(row.sentence, soft_wrap=True)


def _print_choices(choices: Choices) -> None:
    """Print corrections a page of documents selected by the model, and of random documents."""
    if not choices.by:
        return
    table = list_table("selection")
    for title in ("documents", "corrections a page", "95 %"):
        table.add_column(title, justify="right", no_wrap=True)
    for strategy in choices.by:
        ends = "-" if strategy.low is None or strategy.high is None else f"{strategy.low:.2f} .. {strategy.high:.2f}"
        table.add_row(strategy.chosen_by, str(strategy.documents), f"{strategy.corrections_a_page:.2f}", ends)
    output.print(table)
    if choices.more is not None and choices.more_low is not None and choices.more_high is not None:
        output.print(
            f"Selected by the model, compared with random: {choices.more:+.2f} corrections a page "
            f"({choices.more_low:+.2f} .. {choices.more_high:+.2f}).",
        )


def _print(what: str, rows: list[tuple[str, Pace]]) -> None:
    table = list_table(what)
    for title in ("masks", "a mask (median)", "95 %", "unchanged", "95 %"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, pace in rows:
        known = pace.seconds_low is not None and pace.seconds_high is not None
        table.add_row(
            name,
            str(pace.masks),
            "-" if pace.seconds_median is None else f"{pace.seconds_median:.1f} s",
            f"{pace.seconds_low:.1f} .. {pace.seconds_high:.1f}" if known else "-",
            f"{pace.unchanged_share:.0%}",
            f"{pace.unchanged_low:.0%} .. {pace.unchanged_high:.0%}",
        )
    output.print(table)
