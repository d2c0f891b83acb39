"""What tabs show while tasks or figures of a project still follow a change."""

from html import escape

from annotator.ui.table import moment
from engine.followers import freshness
from engine.tasks.opening import task_changes
from engine.workspace import Workspace

LAG_SECONDS = 2.0  # figures that are younger count as those of now


def draw_progress(workspace: Workspace, project_id: str, kinds: tuple[str, ...]) -> str:
    """Return the progress of a project's changes of these kinds, and how old the figures are while they lag (HTML)."""
    lines = [_line(change) for change in task_changes.running(workspace, project_id) if change.kind in kinds]
    with workspace.database.autocommit_read() as session:
        figures = freshness(session)
    if figures.lag_seconds > LAG_SECONDS:
        lines.append(f"<p><span>Figures as of {moment(figures.as_of)}. Newer work is being counted.</span></p>")
    return f'<div class="glossator-following" role="status">{"".join(lines)}</div>' if lines else ""


def _line(change: task_changes.TaskProgress) -> str:
    bar = ""
    if change.finished_at is None:
        bar = f'<progress max="{max(change.total, 1)}" value="{change.done}" aria-hidden="true"></progress>'
    return f"<p>{bar}<span>{escape(change.sentence)}</span></p>"


def progress_sentence(workspace: Workspace, project_id: str) -> str:
    """Return a sentence for a message after a change that goes on; empty where it is done."""
    going = [change for change in task_changes.running(workspace, project_id) if change.finished_at is None]
    return " The queue is being updated; this tab shows the progress." if going else ""
