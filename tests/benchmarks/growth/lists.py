"""Cost of a project's list of documents: its pages, its search by each kind of query, and its sums.

`python -m tests.benchmarks.growth.lists [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from db.tables import Document, PageWord
from engine.documents.lists.listing import document_page
from engine.documents.lists.totals import document_totals
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import NOUNS, Grown
from tests.benchmarks.growth.queue import Work

TIMES = 15
LINES = 100  # of a page, as the screen asks for them
DEEP = 20  # pages before a deep one, or as many as there are
BAR = 50.0  # milliseconds at 20,000 documents
FIRST, LATER = "sums, first call of a server", "sums after an answer"


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of the list, of its search, and of its sums.

    Args:
        workspace: open workspace.
        grown: project in it; one of its people answers some more of its tasks.
    """
    rows = [_first(workspace.settings, grown)]
    viewer = grown.people[0]
    for what, asked in _queries(workspace, grown).items():

        def act(asked: dict[str, Any] = asked) -> object:
            return document_page(workspace, grown.project, viewer, limit=LINES, **asked)

        rows.append(row(what, [_times(act)], BAR))
    return [*rows, _later(workspace, grown)]


def _queries(workspace: Workspace, grown: Grown) -> dict[str, dict[str, Any]]:
    """Return what is asked for; the words are those of the project, which has each noun on most documents."""
    with workspace.database.read() as session:
        rare = session.scalar(select(PageWord.text).order_by(PageWord.page_id.desc()).limit(1))
        name = session.scalar(select(Document.name).where(Document.project_id == grown.project).limit(1))
    assert rare is not None and name is not None
    number = name.split()[-1]
    return {
        "first page of the list": {},
        "first page by name": {"sort": "name"},
        "deep page": {"cursor": _deep(workspace, grown)},
        "a rare word": {"query": rare},
        "a word on most documents": {"query": NOUNS[3]},
        "the same, by name": {"query": NOUNS[3], "sort": "name"},
        "the same, a deep page": {"query": NOUNS[3], "cursor": _deep(workspace, grown, query=NOUNS[3])},
        "two words on most documents": {"query": f"{NOUNS[3]} {NOUNS[0]}"},
        "one letter": {"query": NOUNS[3][0]},
        "a part of every name": {"query": "note"},
        "a name and a printed word": {"query": f"{number} {NOUNS[3][:2]}"},
        "a word that nothing has": {"query": "nowhere"},
    }


def _deep(workspace: Workspace, grown: Grown, query: str = "") -> str | None:
    """Return the cursor of a page far behind the first one."""
    cursor = None
    for _ in range(DEEP):
        page = document_page(workspace, grown.project, query=query, limit=LINES, cursor=cursor)
        if page.next is None:
            break
        cursor = page.next
    return cursor


def _times(act: Callable[[], object]) -> list[float]:
    """Return milliseconds of each try; the first one warms up and does not count."""
    act()
    taken = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - begin))
    return taken


def _first(settings: Settings, grown: Grown) -> Row:
    """Each try has a workspace of its own, which has read nothing yet, as after a start of the server."""
    taken = []
    for _ in range(5):
        fresh = open_workspace(settings)
        begin = time.perf_counter()
        document_totals(fresh, grown.project, grown.people[0])
        taken.append(1000 * (time.perf_counter() - begin))
        fresh.close()
    return row(FIRST, [taken], BAR)


def _later(workspace: Workspace, grown: Grown) -> Row:
    work = Work(workspace, grown.project, grown.people[0])
    task, taken = work.next(None), []
    for _ in range(TIMES):
        work.answer(task)
        task = work.next(task)
        begin = time.perf_counter()
        document_totals(workspace, grown.project, grown.people[0])
        taken.append(1000 * (time.perf_counter() - begin))
    return row(LATER, [taken], BAR)


if __name__ == "__main__":
    command(measure)
