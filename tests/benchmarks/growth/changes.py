"""Cost of changes that all tasks of a project follow: hold of the write lock, time until done, saves of others meanwhile.

`python -m tests.benchmarks.growth.changes [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.ids import new_id
from db.tables import User
from engine.accounts.members import put_member, remove_member
from engine.accounts.users import ensure_local_user
from engine.annotation.edits import EditWords
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.models import registry
from engine.projects.projects import change_settings
from engine.selection.ranking import rank
from engine.tasks.opening import task_changes
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, percentile, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import AWAY, QUESTIONS, Grown
from tests.benchmarks.growth.queue import Work

BAR = 50.0
BETWEEN_SAVES = 0.05  # seconds


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return the longest hold of the write lock, the time until all tasks have followed, and the saves of others.

    Args:
        workspace: open workspace.
        grown: project in it; its questions, settings and members are as before in the end.
    """
    registry.ensure_shipped(workspace)
    boss, project = ensure_local_user(workspace), grown.project
    with workspace.database.read() as session:
        away = session.scalars(select(User.id).where(User.name == AWAY)).one()
        version = registry.champion(session, project).id

    def ask(*questions: str) -> Callable[[], object]:
        return lambda: replace_standard_questions(workspace, project, questions, boss.id)

    def choose(**settings: Any) -> Callable[[], object]:
        return lambda: change_settings(workspace, project, **settings)

    acts: dict[str, Callable[[], object]] = {
        "overlap of a half": choose(overlap_share=0.5),
        "overlap of a twentieth": choose(overlap_share=0.05),
        "a ninth question": ask(*QUESTIONS, "Who signed it?"),
        "two questions closed": ask(*QUESTIONS[1:]),
        "a question reopened": ask(*QUESTIONS),
        "a ranking": lambda: (choose(selection="random")(), rank(workspace, project, version)),
        "the order of arrival": choose(selection="arrival"),
        "a member removed": lambda: remove_member(workspace, project, away, by=boss),
        "a member added": lambda: put_member(workspace, project, away, "annotator", by=boss),
    }
    rows = []
    for what, act in acts.items():
        with _holds(workspace) as holds, _saves(workspace, grown) as saves:
            begin = time.perf_counter()
            act()
            task_changes.work_off(workspace, project)
            took = 1000 * (time.perf_counter() - begin)
        rows.append(Row(f"{what}: hold of the lock, longest", percentile(holds, 0.5), max(holds), len(holds), BAR))
        rows.append(row(f"{what}: save of others", [saves], BAR))
        rows.append(row(f"{what}: until done", [[took]]))
    return rows


@contextmanager
def _holds(workspace: Workspace) -> Iterator[list[float]]:
    """Yield the times, in milliseconds, that this thread's units of work hold the lock."""
    holds: list[float] = []
    database, mine = workspace.database, threading.get_ident()
    write = database.write

    @contextmanager
    def measured() -> Iterator[Session]:
        with write() as session:
            session.connection()  # SQLite: here it waits for its turn
            begin = time.perf_counter()
            yield session
        if threading.get_ident() == mine:
            holds.append(1000 * (time.perf_counter() - begin))

    database.write = measured  # type: ignore[method-assign]
    try:
        yield holds
    finally:
        del database.write  # type: ignore[misc]


@contextmanager
def _saves(workspace: Workspace, grown: Grown) -> Iterator[list[float]]:
    """Let somebody save again and again; yield the times in milliseconds."""
    taken: list[float] = []
    ended = threading.Event()
    work = Work(workspace, grown.project, grown.people[0])
    answer_id, head, page = work.begun(work.next(None))

    def save() -> None:
        base = head
        while not ended.is_set():
            edits = [EditWords(op="words", page=page, add=[base % 10])]
            request = RevisionRequest(idempotency_key=new_id(), base=base, edits=edits)  # type: ignore[arg-type]
            begin = time.perf_counter()
            base = append_revision(workspace, answer_id, request, work.person).revision
            taken.append(1000 * (time.perf_counter() - begin))
            ended.wait(BETWEEN_SAVES)

    thread = threading.Thread(target=save)
    thread.start()
    try:
        yield taken
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    command(measure)
