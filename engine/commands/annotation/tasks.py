"""`glossator questions`, `queue` and `tasks`: manage standard questions, gold questions and the queue."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from engine import plurals
from engine.accounts.users import ensure_local_user
from engine.commands.annotation import question_bin
from engine.commands.common import console, emit, fail, here, list_table, output, print_list
from engine.commands.foreground import tasks_follow
from engine.commands.lookups import project_to_change
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.tasks import skips, standard_questions
from engine.tasks import tasks as all_tasks
from engine.tasks.opening import task_changes
from engine.tasks.queue import queue_view

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    questions = typer.Typer(no_args_is_help=True, help="List and set standard questions, remove and restore questions.")
    questions.command("list")(list_questions)
    questions.command("set")(set_questions)
    question_bin.add_to(questions)
    app.add_typer(questions, name="questions")
    app.command("queue")(queue)
    tasks = typer.Typer(
        no_args_is_help=True, help="List tasks and skips, set gold questions, and move documents to the front."
    )
    tasks.command("list")(list_tasks)
    tasks.command("gold")(set_gold)
    tasks.command("first")(put_first)
    tasks.command("skipped")(list_skipped)
    app.add_typer(tasks, name="tasks")


def list_questions(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """List the standard questions in order."""
    with here() as workspace:
        questions = standard_questions.standard_questions(workspace, project_named(workspace, project).id)
    _show(questions, as_json)


def set_questions(
    texts: Annotated[list[str] | None, typer.Argument(help="Questions in order; they replace the list.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="File with one question per line.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all standard questions.")] = False,
    project: TheProject = DEFAULT_NAME,
    as_json: AsJson = False,
) -> None:
    """Set the standard questions. Tasks of removed questions are closed; their answers are kept."""
    if sum((bool(texts), file is not None, clear)) != 1:
        fail("No questions are given. Name them, or use --file or --clear.", code=2)
    wanted = list(texts or [])
    if file is not None:
        try:
            wanted = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            fail(f"{file} cannot be read as a list of questions: {error}.")
    with here() as workspace:
        user, chosen = ensure_local_user(workspace), project_to_change(workspace, project)
        questions = standard_questions.replace_standard_questions(workspace, chosen.id, wanted, user.id)
        tasks_follow(workspace, chosen.id)
    _show(questions, as_json)


def queue(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """Show the progress of the queue and the tasks in progress."""
    with here() as workspace:
        user = ensure_local_user(workspace)
        chosen = project_named(workspace, project)
        view = queue_view.queue_view(workspace, chosen.id, user.id)
        following = task_changes.running(workspace, chosen.id)
    if as_json:
        emit(asdict(view))
        return
    output.print(
        f"{view.open} open, {view.submitted} submitted, {view.done} done, of {view.total} tasks. "
        f"{view.to_review} answers to review."
    )
    for change in following:
        console.print(change.sentence)
    for held in view.held:
        output.print(f"{held.person}: {held.question} ({held.document}), until {held.until.astimezone():%H:%M:%S}")
    if view.reason:
        console.print(queue_view.to_local_time(view.reason))


def list_tasks(
    project: TheProject = DEFAULT_NAME,
    limit: Annotated[
        int, typer.Option(min=1, max=all_tasks.MOST_LISTED, help="Maximum number of tasks.")
    ] = all_tasks.MOST_LISTED,
    offset: Annotated[int, typer.Option(min=0, help="Number of tasks to skip.")] = 0,
    cursor: Annotated[
        str | None, typer.Option(help="Begin of the list: `next` of the JSON object of the call before.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List tasks with their answers and gold questions."""
    with here() as workspace:
        chosen = project_named(workspace, project)
        tasks = all_tasks.list_tasks(workspace, chosen.id, limit=limit, offset=offset, cursor=cursor)
    if as_json:
        emit({"tasks": [asdict(task) for task in tasks], "next": tasks.next})
        return
    table = list_table("Task", "Document", "Question", "People", "Answers", "")
    for task in tasks:
        answers = ", ".join(f"{answer.person}: {answer.status}" for answer in task.answers)
        marks = " ".join(word for word, holds in (("gold", task.gold), ("closed", task.closed)) if holds)
        marks = f"{marks} {task.chosen_by or ''}".strip()
        table.add_row(task.id, task.document, task.question, str(task.wanted), answers, marks)
    print_list(table, "No tasks. Standard questions make them: glossator questions set")


def list_skipped(
    project: TheProject = DEFAULT_NAME,
    reason: Annotated[str | None, typer.Option(help=f"Only skips for this reason: {', '.join(skips.REASONS)}.")] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="Only skips on which a reviewer has to decide.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=skips.MOST_LISTED, help="Maximum number of skips.")
    ] = skips.MOST_LISTED,
    cursor: Annotated[
        str | None, typer.Option(help="Begin of the list: `next` of the JSON object of the call before.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks that people skipped: who, why, and what a reviewer decided."""
    if reason is not None and reason not in skips.REASONS:
        fail(f"There is no reason {reason!r}; choose from {', '.join(skips.REASONS)}.", code=2)
    with here() as workspace:
        chosen = project_named(workspace, project)
        lines = skips.list_skips(
            workspace,
            chosen.id,
            reason=reason,  # type: ignore[arg-type]
            waiting=waiting,
            limit=limit,
            cursor=cursor,
        )
    if as_json:
        emit({"skips": [asdict(line) for line in lines], "next": lines.next})
        return
    table = list_table("Task", "Document", "Question", "Person", "Reason", "Note", "")
    for line in lines:
        state = line.verdict or ("waits" if line.waits else "answered")
        table.add_row(line.task_id, line.document, line.question, line.person, line.reason, line.note, state)
    print_list(table, "No skipped tasks.")


def set_gold(
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    annotation: Annotated[
        str | None, typer.Argument(help="Id of an accepted answer; omit it to remove the gold question.")
    ] = None,
) -> None:
    """Make a task a gold question with an accepted answer. See gold_share of `glossator projects set`."""
    with here() as workspace:
        line = all_tasks.set_gold(workspace, task, annotation, ensure_local_user(workspace).id)
    gold = "is now a gold question" if line.gold else "is no longer a gold question"
    console.print(f"“{line.question}” of {line.document} {gold}.")


def put_first(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")], project: TheProject = DEFAULT_NAME
) -> None:
    """Move the tasks of a document to the front of the queue."""
    from engine.commands.lookups import document_called
    from engine.selection.ranking import put_first as put

    with here() as workspace:
        stored = document_called(workspace, project_to_change(workspace, project).id, document)
        count = put(workspace, stored.id, ensure_local_user(workspace).id)
    console.print(f"{plurals.count(count, 'task')} of {stored.name} moved to the front.")


def _show(questions: list[standard_questions.StandardQuestion], as_json: bool) -> None:
    if as_json:
        emit({"questions": [asdict(question) for question in questions]})
        return
    if not questions:
        console.print("There are no standard questions.")
    for question in questions:
        output.print(f"{question.position + 1:>3}  {question.text}")
