"""Commands of `glossator questions`: remove questions with their answers, restore them, delete them for good."""

from dataclasses import asdict
from typing import Annotated

import typer
from sqlalchemy import select

from db.tables import Question, RemovedQuestion
from engine.accounts.users import ensure_local_user
from engine.commands.annotation.deletion import delete_chosen
from engine.commands.common import confirm, emit, fail, here, list_table, output, print_list
from engine.commands.foreground import tasks_follow
from engine.commands.lookups import project_to_change
from engine.fields.project_fields import project_fields
from engine.lifecycle import question_bin, question_erasing
from engine.lifecycle.bins import line_values
from engine.paging import every
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.workspace import Workspace

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def add_to(group: typer.Typer) -> None:
    """Add the commands to `glossator questions`."""
    group.command()(remove)
    group.command()(removed)
    group.command()(restore)
    group.command()(delete)


def remove(
    questions: Annotated[list[str], typer.Argument(help="Questions, names of fields, or ids.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    project: TheProject = DEFAULT_NAME,
    as_json: AsJson = False,
) -> None:
    """Remove questions into the bin, with their answers, values and tasks. glossator questions restore undoes it."""
    with here() as workspace:
        project_id = project_to_change(workspace, project).id
        ids = [_question_called(workspace, project_id, name) for name in questions]
        holdings = [question_bin.question_holdings(workspace, project_id, question_id) for question_id in ids]
        for holding in holdings if not yes else ():
            output.print(f"{holding.text} {_goes(holding)}", soft_wrap=True)
        confirm("Remove into the bin?", yes=yes)
        gone = question_bin.remove_questions(workspace, project_id, ids, ensure_local_user(workspace).id)
        tasks_follow(workspace, project_id)
    if as_json:
        emit({"questions": [asdict(holding) for holding in holdings if holding.id in gone]})
    else:
        output.print(f"Removed {count(len(gone), 'question')}. Undo it: glossator questions restore.")


def restore(
    questions: Annotated[list[str], typer.Argument(help="Questions in the bin, or their ids.")],
    project: TheProject = DEFAULT_NAME,
    as_json: AsJson = False,
) -> None:
    """Restore questions from the bin, with the answers that went with them."""
    with here() as workspace:
        project_id = project_to_change(workspace, project).id
        ids = _removed_called(workspace, project_id, questions)
        restored = question_bin.restore_questions(workspace, project_id, ids, ensure_local_user(workspace).id)
        tasks_follow(workspace, project_id)
    if as_json:
        emit({"questions": restored})
    else:
        output.print(f"Restored {count(len(restored), 'question')} with the answers.")


def removed(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """List the questions in the bin, last removed first, with the time of their deletion."""
    with here() as workspace:
        lines = _every_line(workspace, project_named(workspace, project).id)
    if as_json:
        emit({"project": project, "questions": [line_values(line) for line in lines]})
        return
    table = list_table("question", "id", "answers", "tasks", "removed by", "deleted on")
    for line in lines:
        deleted = f"{line.deleted_at:%Y-%m-%d}"
        table.add_row(line.text, line.id, f"{line.answers:,}", f"{line.tasks:,}", line.removed_by or "", deleted)
    print_list(table, "The bin has no questions.")


def delete(
    questions: Annotated[
        list[str] | None, typer.Argument(help="Questions in the bin, or their ids; without any, all of them.")
    ] = None,
    project: TheProject = DEFAULT_NAME,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete questions in the bin for good, with all of their answers. Snapshots keep what they hold."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        ids = _removed_called(workspace, project_id, questions) if questions else None
        what = count(len(ids), "question") if ids is not None else f"all questions in the bin of {project}"
        confirm(f"Delete {what} for good, with all answers? This cannot be undone.", yes=yes)
        emptied = question_erasing.mark_questions(workspace, project_id, ids, ensure_local_user(workspace).id)
        erase = question_erasing.erase_marked_questions
        delete_chosen(workspace, project_id, RemovedQuestion, erase, emptied.stays, as_json)


def _goes(holding: question_bin.QuestionHoldings) -> str:
    answers, people = count(holding.answers, "answer"), count(holding.people, "person", "people")
    return f"has {answers} of {people}, {count(holding.values, 'value')} and {count(holding.tasks, 'task')}."


def _question_called(workspace: Workspace, project_id: str, name: str) -> str:
    """Return the id of a question by its id, text, or name of its field; ends the command without one."""
    fields = {field.name: field.id for field in project_fields(workspace, project_id)}
    asked = select(Question.id).where(Question.project_id == project_id)
    with workspace.database.read() as session:
        called = session.scalar(asked.where((Question.id == name) | (Question.text == name)))
    if called is None and name not in fields:
        fail(f"The project has no question {name!r}. Run glossator questions list.")
    return called or fields[name]


def _every_line(workspace: Workspace, project_id: str) -> list[question_bin.RemovedQuestionLine]:
    return list(every(lambda cursor: question_bin.list_removed_questions(workspace, project_id, cursor=cursor)))


def _removed_called(workspace: Workspace, project_id: str, names: list[str]) -> list[str]:
    """Return the ids of questions in the bin by their texts or ids; ends the command unless each is one."""
    lines = _every_line(workspace, project_id)
    known = {key: line.id for line in lines for key in (line.id, line.text)}
    for name in names:
        if name not in known:
            fail(f"The bin has no question {name!r}. Run glossator questions removed.")
    return [known[name] for name in names]
