"""Changes that the tasks of a project follow in batches, as the tabs show them where they were asked for."""

from html import escape

from engine.projects import task_changes
from engine.workspace import Workspace


def drawn(workspace: Workspace, project_id: str, kinds: tuple[str, ...]) -> str:
    """Return the progress of a project's changes of these kinds (HTML); nothing without one."""
    lines = [_line(each) for each in task_changes.running(workspace, project_id) if each.kind in kinds]
    return f'<div class="glossator-following" role="status">{"".join(lines)}</div>' if lines else ""


def _line(change: task_changes.TaskProgress) -> str:
    bar = ""
    if change.finished_at is None:
        bar = f'<progress max="{max(change.total, 1)}" value="{change.done}" aria-hidden="true"></progress>'
    return f"<p>{bar}<span>{escape(change.sentence)}</span></p>"


def saved(workspace: Workspace, project_id: str) -> str:
    """Return a sentence for a message after a change that goes on; empty where it is done."""
    going = [each for each in task_changes.running(workspace, project_id) if each.finished_at is None]
    return " The queue is being updated; this tab shows the progress." if going else ""
