"""glossator questions, queue, tasks: the standard questions of a project and how far their answers are."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from engine.accounts.users import ensure_local_user
from engine.commands.common import console, emit, fail, here, output
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.tasks import queue_view, standard_questions
from engine.tasks import tasks as all_tasks

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    questions = typer.Typer(no_args_is_help=True, help="The standard questions that a project asks of every document.")
    questions.command("list")(list_questions)
    questions.command("set")(set_questions)
    app.add_typer(questions, name="questions")
    app.command("queue")(queue)
    tasks = typer.Typer(no_args_is_help=True, help="Tasks: a standard question and a document; known answers.")
    tasks.command("list")(list_tasks)
    tasks.command("gold")(set_gold)
    tasks.command("first")(put_first)
    app.add_typer(tasks, name="tasks")


def list_questions(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """List the standard questions in their order."""
    with here() as workspace:
        found = standard_questions.standard_questions(workspace, project_named(workspace, project).id)
    _show(found, as_json)


def set_questions(
    texts: Annotated[list[str] | None, typer.Argument(help="The questions in their order; replaces the list.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Read them from a file, one a line.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Ask no standard question any more.")] = False,
    project: TheProject = DEFAULT_NAME,
    as_json: AsJson = False,
) -> None:
    """Replace the list. Every document gets a task for each; the tasks of dropped questions close, their answers stay."""
    if sum((bool(texts), file is not None, clear)) != 1:
        fail("Name the questions, or a --file of them, or --clear.", code=2)
    wanted = list(texts or [])
    if file is not None:
        try:
            wanted = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            fail(f"{file} cannot be read as a list of questions: {error}.")
    with here() as workspace:
        user, there = ensure_local_user(workspace), project_named(workspace, project)
        found = standard_questions.replace_standard_questions(workspace, there.id, wanted, user.id)
    _show(found, as_json)


def queue(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """Say how far the standard questions of a project are, and who is at work on what."""
    with here() as workspace:
        user = ensure_local_user(workspace)
        view = queue_view.queue_view(workspace, project_named(workspace, project).id, user.id)
    if as_json:
        emit(asdict(view))
        return
    output.print(
        f"{view.open} open, {view.submitted} waiting for review, {view.done} done, of {view.total} questions. "
        f"{view.to_review} answers to review."
    )
    for each in view.held:
        output.print(
            f"{each.person}: {each.question} ({each.document}), until {each.until.astimezone():%H:%M:%S}", markup=False
        )
    if view.reason:
        console.print(queue_view.on_this_clock(view.reason), markup=False)


def list_tasks(
    project: TheProject = DEFAULT_NAME,
    limit: Annotated[int, typer.Option(min=1, max=all_tasks.MOST_LISTED, help="How many.")] = all_tasks.MOST_LISTED,
    offset: Annotated[int, typer.Option(min=0, help="How many to leave out first.")] = 0,
    as_json: AsJson = False,
) -> None:
    """List tasks with their answers and known answers."""
    with here() as workspace:
        there = project_named(workspace, project)
        found = all_tasks.list_tasks(workspace, there.id, limit=limit, offset=offset)
    if as_json:
        emit({"tasks": [asdict(each) for each in found]})
        return
    table = Table(
        "Task", "Document", "Question", "People", "Answers", "", box=None, header_style="bold", pad_edge=False
    )
    for each in found:
        answers = ", ".join(f"{given.person}: {given.status}" for given in each.answers)
        marks = " ".join(word for word, holds in (("gold", each.gold), ("closed", each.closed)) if holds)
        marks = f"{marks} {each.chosen_by or ''}".strip()
        table.add_row(each.id, each.document, each.question, str(each.wanted), answers, marks)
    output.print(table)


def set_gold(
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    annotation: Annotated[
        str | None, typer.Argument(help="Id of an accepted answer; left out: no known answer.")
    ] = None,
) -> None:
    """Make an accepted answer the known one of a task; see gold_share in `glossator projects set`."""
    with here() as workspace:
        line = all_tasks.set_gold(workspace, task, annotation, ensure_local_user(workspace).id)
    known = "has a known answer now" if line.gold else "has no known answer any more"
    console.print(f"“{line.question}” of {line.document} {known}.", markup=False)


def put_first(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")], project: TheProject = DEFAULT_NAME
) -> None:
    """Put the tasks of a document before all others."""
    from engine.commands.found import document_called
    from engine.selection.ranking import put_first as put

    with here() as workspace:
        found = document_called(workspace, project_named(workspace, project).id, document)
        count = put(workspace, found.id, ensure_local_user(workspace).id)
    console.print(f"{count} question{'' if count == 1 else 's'} of {found.name} come first now.", markup=False)


def _show(questions: list[standard_questions.StandardQuestion], as_json: bool) -> None:
    if as_json:
        emit({"questions": [asdict(each) for each in questions]})
        return
    if not questions:
        console.print("There are no standard questions.")
    for each in questions:
        output.print(f"{each.position + 1:>3}  {each.text}", markup=False)
