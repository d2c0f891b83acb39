"""`glossator survey`, `label-review` and `stage`."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.accounts.users import LOCAL_NAME, ensure_local_user
from engine.commands.common import console, emit, fail, here, list_table, output
from engine.commands.lookups import acting, project_to_change
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
_OLD_NAME = "second-look"  # of `label-review`, which scripts may call


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("survey")(survey)
    app.command("label-review")(list_label_review)
    app.command(_OLD_NAME, hidden=True)(list_label_review)
    app.command("stage")(stage)


def survey(
    project: TheProject = DEFAULT_NAME,
    queue_only: Annotated[bool, typer.Option("--queue", help="Queue the job for the worker, and exit.")] = False,
    as_json: AsJson = False,
) -> None:
    """Survey a project: the model answers all standard questions, then the queue is ordered.

    Existing answers of the model are reused. The results serve queue order, label review and stage; annotations stay
    unchanged.
    """
    from engine.commands.foreground import follow_job
    from engine.models import registry
    from engine.selection import survey_trigger

    with here() as workspace:
        chosen = project_to_change(workspace, project)
        registry.ensure_shipped(workspace)
        job = survey_trigger.request(workspace, chosen.id, by=ensure_local_user(workspace).id)
        if not queue_only:
            job = follow_job(workspace, job)
    if as_json:
        emit({"job_id": job.id, "status": job.status, "message": job.message, **job.result})
    if queue_only:
        if not as_json:
            output.print(f"Queued as job {job.id}.")
    elif job.status != "done":
        fail(job.message or f"The job ended as {job.status}.")
    elif not as_json:
        output.print(job.message, soft_wrap=True)


def list_label_review(
    context: typer.Context,
    project: TheProject = DEFAULT_NAME,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Number of labels, open ones first.")] = 200,
    as_json: AsJson = False,
) -> None:
    """List the label review: accepted labels that the model contradicts, with decisions.

    `glossator survey` finds them. A reviewer other than the author decides, on the page or with `glossator review
    judge`.
    """
    from engine.selection import label_review

    with here() as workspace:
        lines = label_review.lines(workspace, project_named(workspace, project).id, limit)
    if as_json:
        key = "second_looks" if context.info_name == _OLD_NAME else "label_reviews"
        emit({key: [asdict(line) for line in lines]})
        return
    if not lines:
        console.print("No accepted label is contradicted. Run glossator survey to check again.")
    for line in lines:
        state = f"{line.verdict} by {line.decided_by}" if line.verdict else "open"
        output.print(f"{line.annotation_id}  {line.author}: {line.question} ({line.document})")
        output.print(f"    {line.sentence} {state.capitalize()}.", soft_wrap=True)


def stage(
    project: TheProject = DEFAULT_NAME,
    wanted: Annotated[
        str | None,
        typer.Option(
            "--set", help="Stage to set: assisted, semi_automatic or automatic (needs the measured precision)."
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Withdraw all automatic answers that nobody has answered since.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the automatic answers.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="With --list: number of answers, newest first.")] = 1000,
    reason: Annotated[str, typer.Option(help="Reason, kept in the audit trail.")] = "",
    by: Annotated[str, typer.Option("--by", help="Name of the acting user, an admin of the project.")] = LOCAL_NAME,
    as_json: AsJson = False,
) -> None:
    """Show or set the stage of a project, with the measured precision."""
    from engine.commands.foreground import tasks_follow
    from engine.models import registry
    from engine.projects import project_stage
    from engine.selection import auto_accept, stages
    from engine.selection.stage_view import stage_view

    if sum((wanted is not None, undo, listed)) > 1:
        fail("--set, --undo and --list exclude each other. Use one of them.", code=2)
    with here() as workspace:
        chosen = project_named(workspace, project)
        registry.ensure_shipped(workspace)
        if listed:
            answers = auto_accept.lines(workspace, chosen.id, limit)
            _list(answers, as_json)
            return
        if wanted is not None or undo:
            person = acting(workspace, by, "project_id", chosen.id, "admin")
        if wanted is not None:
            stages.set_stage(workspace, chosen.id, wanted.replace("-", "_"), by=person, reason=reason)
        undone = auto_accept.undo(workspace, chosen.id, by=person) if undo else None
        tasks_follow(workspace, chosen.id)
        view = stage_view(workspace, chosen.id)
    if as_json:
        emit({**view.model_dump(mode="json"), **({"undone": undone} if undone is not None else {})})
        return
    if undone is not None:
        console.print(f"{count(undone, 'automatic answer')} withdrawn. Their tasks are open again.")
    who = view.changed_by or ("Glossator" if view.since else None)
    since = f" since {view.since.astimezone():%Y-%m-%d %H:%M}, by {who}" if view.since else ""
    output.print(f"{project_stage.NAMES[view.stage]}{since}. {view.reason}".rstrip(), soft_wrap=True)
    table = list_table("minimum confidence", "answers", "right", "lower bound")
    for point in view.points:
        if point.precision is not None:
            table.add_row(f"{point.threshold:.2f}", str(point.answers), f"{point.precision:.1%}", f"{point.low:.1%}")
    if table.row_count:
        output.print(table)
    if view.threshold is not None and view.blocked is None:
        output.print(
            f"At confidence {view.threshold:.2f} and above, at least {view.target:.1%} are right. "
            f"{view.would_accept} open tasks lie above it.",
            soft_wrap=True,
        )
    else:
        output.print(view.blocked or "", soft_wrap=True)
    if view.audit.drawn:
        output.print(
            f"Audit: {view.audit.right} of {view.audit.checked} checked answers right, {view.audit.drawn} sampled."
        )


def _list(answers: list, as_json: bool) -> None:  # type: ignore[type-arg]
    if as_json:
        emit({"automatic": [asdict(answer) for answer in answers]})
        return
    if not answers:
        console.print("There are no automatic answers.")
    for answer in answers:
        state = (
            "withdrawn" if answer.withdrawn else answer.verdict or ("sampled for audit" if answer.audit else "valid")
        )
        output.print(f"{answer.confidence:.2f}  {answer.document}: {answer.question}  {answer.text}  ({state})")
