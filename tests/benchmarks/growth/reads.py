"""Cost of every read over REST, and of opening every tab, in a project of any size.

`python -m tests.benchmarks.growth.reads [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import select
from starlette.testclient import TestClient

from annotator.app import create_app
from db.tables import Annotation, Page, Task, User
from engine.settings import Settings
from engine.workspace import Workspace
from tests.annotator.test_tab_access import OPENED
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown
from tests.benchmarks.growth.queue import Work
from tests.support.accounts import ADDRESS, Person
from tests.support.tab_events import event

TIMES = 7
READ_BAR, TAB_BAR = 100.0, 300.0
# Streams that do not end, and answers that are files of the whole project (see the part `datasets`).
LEFT_OUT = ("/api/changes", "/api/projects/{project_id}/export", "/api/openapi.json", "/api/docs")


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of all reads; before each one, somebody accepts an answer, so that no cache holds everything.

    Args:
        workspace: open workspace.
        grown: project in it; one of its people answers some more of its tasks.
    """
    work = Work(workspace, grown.project, grown.people[0])
    given = workspace.settings
    settings = Settings(data_dir=given.data_dir, database_url=given.database_url, _env_file=None)
    with TestClient(create_app(settings), base_url=ADDRESS) as client:
        with workspace.database.read() as session:
            person = Person(session.scalars(select(User).where(User.name == "local")).one(), client)
        acts = {**_routes(client, _ids(workspace, grown)), **_tabs(person, grown)}
        taken: dict[str, list[float]] = {what: [] for what in acts}
        task = work.next(None)
        for step in range(TIMES + 1):
            work.answer(task)
            task = work.next(task)
            for what, act in acts.items():
                begin = time.perf_counter()
                act()
                if step:  # the first step warms up and does not count
                    taken[what].append(1000 * (time.perf_counter() - begin))
    return [row(what, [times], TAB_BAR if what.startswith("tab ") else READ_BAR) for what, times in taken.items()]


def _ids(workspace: Workspace, grown: Grown) -> dict[str, str]:
    """Return an id for each kind that paths name and the project has."""
    with workspace.database.read() as session:
        answer = session.scalars(select(Annotation).where(Annotation.status == "accepted").limit(1)).one()
        page = session.scalars(select(Page.id).where(Page.document_id == answer.document_id).limit(1)).one()
        task = session.scalars(select(Task.id).where(Task.document_id == answer.document_id).limit(1)).one()
    return {
        "project_id": grown.project,
        "document_id": answer.document_id,
        "annotation_id": answer.id,
        "page_id": page,
        "task_id": task,
        "user_id": grown.people[0],
    }


def _routes(client: TestClient, ids: dict[str, str]) -> dict[str, Callable[[], object]]:
    """Return a call for each route that only reads, of those that the ids are enough for."""
    acts: dict[str, Callable[[], object]] = {}
    paths: dict[str, dict[str, Any]] = client.get("/api/openapi.json").json()["paths"]
    for path, methods in paths.items():
        if "get" not in methods or path in LEFT_OUT:
            continue
        asked = methods["get"].get("parameters", [])
        if any(each["required"] and each["name"] not in ids for each in asked if each["in"] in ("path", "query")):
            continue
        address = path.format(**ids)
        if client.get(address).status_code == 200:
            acts[f"GET {path.removeprefix('/api')}"] = partial(_fetch, client, address)
    return acts


def _tabs(person: Person, grown: Grown) -> dict[str, Callable[[], object]]:
    """Return what each tab fetches when it comes into sight."""
    return {
        f"tab {name.capitalize()}": partial(_open, person, name, grown.project, *given)
        for name, given in OPENED.items()
    }


def _fetch(client: TestClient, address: str) -> None:
    client.get(address).raise_for_status()


def _open(person: Person, name: str, *given: object) -> None:
    told = event(person, name, "show", *given)
    if '"success":true' not in told:
        raise RuntimeError(f"The tab {name} was not opened: {told[:500]}")


if __name__ == "__main__":
    command(measure)
