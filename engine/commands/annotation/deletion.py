"""Deletion for good of what was chosen in the bin of a project, and what a command says of it."""

from collections.abc import Callable, Sequence

from sqlalchemy import select

from db.tables import RemovedDocument, RemovedQuestion
from engine.commands.common import emit, output
from engine.datasets.freezes import is_freezing
from engine.errors import Conflict
from engine.lifecycle import traces
from engine.plurals import count, word
from engine.workspace import Workspace

_FREEZING = "Answers of the project are being frozen."
_AT_WORK = "Another job is still at work on them."
_HELD = "in the bin: what was frozen meanwhile holds"


def delete_chosen(
    workspace: Workspace,
    project_id: str,
    table: type[RemovedDocument] | type[RemovedQuestion],
    erase: Callable[[Workspace], object],
    stays: Sequence[str],
    as_json: bool,
) -> None:
    """Delete what was chosen, now or earlier; say what is gone, what waits for a worker and why, and what stays.

    Args:
        workspace: Open workspace.
        project_id: Project of the bin.
        table: Rows of the bin.
        erase: Deletes what is chosen in all bins. It may raise Conflict: the rest waits.
        stays: Sentences on what was not chosen, or is kept elsewhere.
        as_json: Whether to print JSON.
    """
    what = "document" if table is RemovedDocument else "question"
    chosen = [key for key, erasing in _in_bin(workspace, project_id, table).items() if erasing]
    why = None
    try:
        erase(workspace)
    except Conflict as conflict:
        why = str(conflict)
    overwritten = traces.wipe(workspace.database)
    left = _in_bin(workspace, project_id, table)
    gone = [key for key in chosen if key not in left]
    waits = [key for key in chosen if left.get(key)]
    if held := len(chosen) - len(gone) - len(waits):
        stays = [*stays, f"{count(held, what)} {word(held, 'stays', 'stay')} {_HELD} {word(held, 'it', 'them')}."]
    if as_json:
        emit({f"{what}s": gone, "waits": waits, "stays": list(stays), "overwritten": overwritten})
        return
    output.print(f"Deleted {count(len(gone), what)} for good.")
    if waits:
        with workspace.database.read() as session:
            why = why or (_FREEZING if is_freezing(session, project_id) else _AT_WORK)
        cannot = f"{count(len(waits), what)} cannot be restored any more, and {word(len(waits), 'waits', 'wait')}"
        output.print(f"{cannot} for a worker. {why}", soft_wrap=True)
    for sentence in (*stays, *(() if overwritten else (traces.STILL_THERE,))):
        output.print(sentence, soft_wrap=True)


def _in_bin(
    workspace: Workspace, project_id: str, table: type[RemovedDocument] | type[RemovedQuestion]
) -> dict[str, bool]:
    """Return the ids of what lies in the bin of a project, in their order, and whether each is being deleted."""
    [key] = table.__mapper__.primary_key
    with workspace.database.read() as session:
        chosen = select(key, table.erasing).where(table.project_id == project_id).order_by(key)
        return dict(session.execute(chosen).tuples().all())
