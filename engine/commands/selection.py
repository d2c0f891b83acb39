"""glossator survey, second-look, stage: what the model says unasked, and what comes of it."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from engine.accounts.users import LOCAL_NAME, ensure_local_user
from engine.commands.common import console, emit, fail, here, output
from engine.commands.found import acting
from engine.projects.projects import DEFAULT_NAME, project_named

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("survey")(survey)
    app.command("second-look")(second_look)
    app.command("stage")(stage)


def survey(
    project: TheProject = DEFAULT_NAME,
    queue_only: Annotated[bool, typer.Option("--queue", help="Only ask for it; the worker does it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the model answer the standard questions of all documents, then put the queue in order.

    Only what is missing is asked. What it says is for the order of the queue, second looks and the stage; no annotation is touched.
    """
    from engine.commands.followed import followed
    from engine.models import registry
    from engine.selection import survey_trigger

    with here() as workspace:
        there = project_named(workspace, project)
        registry.ensure_shipped(workspace)
        job = survey_trigger.request(workspace, there.id, by=ensure_local_user(workspace).id)
        if not queue_only:
            job = followed(workspace, job)
    if as_json:
        emit({"job_id": job.id, "status": job.status, "message": job.message, **job.result})
    if queue_only:
        if not as_json:
            output.print(f"Asked for: job {job.id}.", markup=False)
    elif job.status != "done":
        fail(job.message or f"The job ended as {job.status}.")
    elif not as_json:
        output.print(job.message, markup=False, soft_wrap=True)


def second_look(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """List accepted labels that the model contradicts, and what became of those that were looked at.

    `glossator survey` finds them. A reviewer who is not the author decides: on the page, or with `glossator review judge`.
    """
    from engine.selection import label_review

    with here() as workspace:
        found = label_review.lines(workspace, project_named(workspace, project).id)
    if as_json:
        emit({"second_looks": [asdict(each) for each in found]})
        return
    if not found:
        console.print("No accepted label is contradicted; glossator survey looks again.")
    for each in found:
        state = f"{each.verdict} by {each.decided_by}" if each.verdict else "waits"
        output.print(f"{each.annotation_id}  {each.author}: {each.question} ({each.document})", markup=False)
        output.print(f"    {each.sentence} {state.capitalize()}.", markup=False, soft_wrap=True)


def stage(
    project: TheProject = DEFAULT_NAME,
    wanted: Annotated[
        str | None, typer.Option("--set", help="assisted, semi_automatic or automatic (refused until it was measured).")
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back all automatic answers that no person has answered since.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the automatic answers instead.")] = False,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    by: Annotated[str, typer.Option("--by", help="Name of who does it; an admin of the project.")] = LOCAL_NAME,
    as_json: AsJson = False,
) -> None:
    """Show or set a project's stage: assisted, semi-automatic, automatic; and what was measured for it."""
    from engine.models import registry
    from engine.projects import project_stage
    from engine.selection import auto_accept, stages
    from engine.selection.stage_view import stage_view

    if sum((wanted is not None, undo, listed)) > 1:
        fail("Choose one of --set, --undo and --list.", code=2)
    with here() as workspace:
        there = project_named(workspace, project)
        registry.ensure_shipped(workspace)
        if listed:
            found = auto_accept.lines(workspace, there.id, auto_accept.MOST_LISTED)
            _list(found, as_json)
            return
        if wanted is not None or undo:
            person = acting(workspace, by, "project_id", there.id, "admin")
        if wanted is not None:
            stages.set_stage(workspace, there.id, wanted.replace("-", "_"), by=person, reason=reason)
        undone = auto_accept.undo(workspace, there.id, by=person) if undo else None
        view = stage_view(workspace, there.id)
    if as_json:
        emit({**view.model_dump(mode="json"), **({"undone": undone} if undone is not None else {})})
        return
    if undone is not None:
        console.print(f"{undone} automatic answer{'' if undone == 1 else 's'} taken back; their tasks are open again.")
    who = view.changed_by or ("the project itself" if view.since else None)
    since = f" since {view.since.astimezone():%Y-%m-%d %H:%M}, by {who}" if view.since else ""
    output.print(f"{project_stage.NAMES[view.stage]}{since}. {view.reason}".rstrip(), markup=False, soft_wrap=True)
    table = Table("confidence", "answers", "right", "at least", box=None, header_style="bold", pad_edge=False)
    for point in view.points:
        if point.precision is not None:
            table.add_row(f"{point.threshold:.2f}", str(point.answers), f"{point.precision:.1%}", f"{point.low:.1%}")
    if table.row_count:
        output.print(table)
    if view.threshold is not None and view.blocked is None:
        output.print(
            f"From a confidence of {view.threshold:.2f} on at least {view.target:.1%} are right; "
            f"{view.would_accept} open tasks lie above it.",
            soft_wrap=True,
        )
    else:
        output.print(view.blocked or "", markup=False, soft_wrap=True)
    if view.audit.drawn:
        output.print(f"Checked by people: {view.audit.right} of {view.audit.checked} right, {view.audit.drawn} drawn.")


def _list(found: list, as_json: bool) -> None:  # type: ignore[type-arg]
    if as_json:
        emit({"automatic": [asdict(each) for each in found]})
        return
    if not found:
        console.print("No answer was accepted automatically.")
    for each in found:
        state = "taken back" if each.withdrawn else each.verdict or ("for a check" if each.audit else "stands")
        output.print(f"{each.confidence:.2f}  {each.document}: {each.question}  {each.text}  ({state})", markup=False)
