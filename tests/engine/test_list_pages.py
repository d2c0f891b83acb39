"""Pages of every list: each row once while others are added, and cursors that belong to their list alone."""

import base64
import json
from typing import Any

import pytest
from sqlalchemy import event

from db import migrate
from db.base import Base
from engine.errors import Refused
from engine.paging import every
from engine.tasks.asked_questions import asked_questions, count_asked
from engine.tasks.tasks import list_tasks
from engine.workspace import Workspace
from tests.support.factories import accept
from tests.support.long_lists import Fetch, LongLists

pytestmark = pytest.mark.usefixtures("figures_at_once")

NAMES = (
    "skips", "tasks", "jobs", "jobs of all", "audit trail", "audit trail of all", "runs", "models", "snapshots",
    "automatic answers", "label review", "revisions", "newest revisions", "reviews", "questions", "questions by text",
    "values", "projects", "members", "users", "invitations", "sessions", "webhooks", "deliveries",
    "bin", "removed projects", "removed questions",
)  # fmt: skip
OF_ALL = ("jobs of all", "audit trail of all", "users", "removed projects")
ROWS, SHORT = 5, 2  # rows of a list at least, and lines of a page
FOREIGN = ["x", "é", "", "W10", "bnVsbA", "WyJ0YXNrcyJd", "WzFd", "e30"]


def _key(line: Any) -> str:
    """What tells a line from all others of its list."""
    for name in ("id", "annotation_id", "number", "user_id", "reason", "document_id"):
        if getattr(line, name, None) is not None:
            return str(getattr(line, name))
    return str(line.project.id)


def _long(workspace: Workspace, name: str) -> tuple[LongLists, Any, Fetch]:
    lists = LongLists(workspace)
    grow, fetch = lists.lists[name]
    for _ in range(ROWS):
        grow()
    return lists, grow, fetch


def test_every_list_is_tried(workspace: Workspace) -> None:
    assert set(LongLists(workspace).lists) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_pages_hold_each_row_once_while_others_are_added(workspace: Workspace, name: str) -> None:
    _, grow, fetch = _long(workspace, name)
    whole = [_key(line) for line in fetch(500, None)]
    assert len(whole) == len(set(whole)) >= ROWS and fetch(500, None).next is None
    assert fetch(len(whole), None).next is None
    seen: list[str] = []
    cursor = None
    for _ in range(100):
        page = fetch(SHORT, cursor)
        assert len(page) <= SHORT
        seen += map(_key, page)
        cursor = page.next
        if cursor is None:
            break
        if len(seen) < len(whole):
            grow()
    assert cursor is None and len(seen) == len(set(seen))
    assert [each for each in seen if each in set(whole)] == whole
    assert {_key(line) for line in every(lambda cursor: fetch(3, cursor))} >= set(seen)


@pytest.mark.parametrize("name", NAMES)
def test_a_cursor_of_another_list_is_refused(sqlite_workspace: Workspace, name: str) -> None:
    lists, _, fetch = _long(sqlite_workspace, name)
    mine = fetch(1, None).next
    assert mine is not None
    content = json.loads(base64.urlsafe_b64decode(mine + "=" * (-len(mine) % 4)))
    broken = [[content[0], None], [content[0], *([[]] * len(content[1:]))], [content[0], *content[1:], "more"]]
    broken += [[content[0], *(["\0"] * len(content[1:]))], [content[0], *([2**70] * len(content[1:]))]]
    strange = [base64.urlsafe_b64encode(json.dumps(each).encode()).decode() for each in broken]
    others = []
    for other in {"jobs", "tasks", "questions"} - {name}:
        lists.lists[other][0]()
        lists.lists[other][0]()
        others.append(lists.lists[other][1](1, None).next)
    for cursor in [*FOREIGN, *strange, *others]:
        with pytest.raises(Refused, match="another list"):
            fetch(2, cursor)


def test_an_offset_answers_as_before(workspace: Workspace) -> None:
    lists, _, _ = _long(workspace, "tasks")
    whole = [line.id for line in list_tasks(workspace, lists.project)]
    assert [line.id for line in list_tasks(workspace, lists.project, limit=2, offset=3)] == whole[3:5]
    assert list_tasks(workspace, lists.project, offset=len(whole)) == []


def test_questions_are_counted_searched_and_sorted(workspace: Workspace) -> None:
    lists = LongLists(workspace)
    asked = ["Wie heißt der KUNDE?", "who is the customer 2?", "Who signs?"]
    for text in asked:
        accept(workspace, lists.document, text, [1])
    found = asked_questions(workspace, lists.project, sort="text")
    assert [each.text for each in found][1:] == ["who is the customer 2?", "Who signs?", "Wie heißt der KUNDE?"]
    assert [each.documents for each in found] == [1] * 4 and [each.standard for each in found].count(True) == 1
    assert asked_questions(workspace, lists.project, limit=1)[0].text == "Who signs?"  # the latest
    assert [each.text for each in asked_questions(workspace, lists.project, query="HEISST kunde")] == asked[:1]
    assert count_asked(workspace, lists.project) == 4 and count_asked(workspace, lists.project, "who") == 2
    assert asked_questions(workspace, lists.project, query="%") == []


def test_no_page_reads_or_sorts_a_whole_list(sqlite_workspace: Workspace) -> None:
    """SQLite tells how it finds rows: never by a scan of a table that grows, nor by sorting what it found."""
    lists = LongLists(sqlite_workspace)
    steps: list[str] = []

    def explain(connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            plan = connection.connection.dbapi_connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            steps.extend(step for *_, step in plan)

    event.listen(sqlite_workspace.database.engine, "before_cursor_execute", explain)
    # Of few rows: projects and members are sorted by name, reviews are those of one answer, shipped models are a few.
    for name in set(NAMES) - {"projects", "members", "reviews", "models"}:
        grow, fetch = lists.lists[name]
        for _ in range(3):
            grow()
        cursor = fetch(1, None).next
        steps.clear()
        fetch(1, None)
        fetch(1, cursor)
        scans = [step for step in steps if step.startswith("SCAN ") and step.split()[1] in Base.metadata.tables]
        if name in OF_ALL:  # an index is walked in its order, as far as the page goes
            scans = [step for step in scans if "USING INDEX" not in step]
        sorts = [step for step in steps if step == "USE TEMP B-TREE FOR ORDER BY"]
        assert not scans and not sorts, (name, steps)


def test_what_pages_follow_is_there_after_an_upgrade(workspace: Workspace) -> None:
    lists = LongLists(workspace)
    accept(workspace, lists.document, "Wie HEISST er?", [1])
    before = asked_questions(workspace, lists.project)
    migrate.downgrade(workspace.database, "0012")
    migrate.upgrade(workspace.database)
    assert migrate.differences(workspace.database) == []
    assert asked_questions(workspace, lists.project) == before
    assert [each.text for each in asked_questions(workspace, lists.project, query="heißt")] == ["Wie HEISST er?"]
