"""Reading changes: in order, none lost where commits overtake each other, and old ones deleted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.changes import publish
from db.tables import Change
from engine import changes
from engine.changes import EventBatch
from engine.followers import catch_up
from engine.workspace import Workspace

POSTGRESQL = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def change(workspace: Workspace, topic: str = "jobs") -> None:
    with workspace.database.write() as session:
        publish(session, topic, "p")  # type: ignore[arg-type]


def newest(workspace: Workspace) -> int:
    with workspace.database.autocommit_read() as session:
        return changes.newest(session)


def since(workspace: Workspace, cursor: int) -> EventBatch:
    with workspace.database.autocommit_read() as session:
        return changes.since(session, cursor)


def topics(batch: EventBatch) -> list[str]:
    return [each.topic for each in batch.events]


@contextmanager
def uncommitted(workspace: Workspace, topic: str) -> Iterator[Session]:
    """A unit of work that has got the id of its change, and is about to commit."""
    with Session(workspace.database.engine) as session:
        session.execute(insert(Change).values(project_id="p", topic=topic, created_at=now()))
        yield session


def test_a_reader_hears_what_follows_its_cursor_once(workspace: Workspace) -> None:
    cursor = newest(workspace)
    assert since(workspace, cursor) == EventBatch([], cursor)
    change(workspace, "jobs")
    change(workspace, "runs")
    batch = since(workspace, cursor)
    assert topics(batch) == ["jobs", "runs"] and not batch.all
    assert batch.next == newest(workspace)
    assert since(workspace, batch.next) == EventBatch([], batch.next)


@POSTGRESQL
def test_a_change_that_others_overtook_is_not_lost(workspace: Workspace) -> None:
    change(workspace)
    cursor = newest(workspace)
    with uncommitted(workspace, "runs") as late:
        change(workspace, "models")
        before = since(workspace, cursor)
        assert topics(before) == ["models"]
        assert before.next == cursor == newest(workspace), "a cursor behind the gap would lose the change in it"
        late.commit()
    after = since(workspace, before.next)
    assert topics(after) == ["runs", "models"]
    assert since(workspace, after.next).events == []


@POSTGRESQL
def test_a_gap_that_nobody_fills_is_passed_after_a_while(workspace: Workspace) -> None:
    change(workspace)
    cursor = newest(workspace)
    with uncommitted(workspace, "runs") as undone:
        change(workspace, "models")
        undone.rollback()
    assert since(workspace, cursor).next == cursor
    with workspace.database.write() as session:
        session.execute(update(Change).values(created_at=now() - changes.LATE))
    batch = since(workspace, cursor)
    assert topics(batch) == ["models"] and batch.next == newest(workspace) == cursor + 2


def test_old_changes_go_and_who_missed_them_is_told(workspace: Workspace) -> None:
    change(workspace)
    early = newest(workspace)
    for _ in range(4):
        change(workspace)
    last = newest(workspace)
    with workspace.database.write() as session:
        hour_ago = now() - changes.KEPT - timedelta(seconds=1)
        session.execute(update(Change).where(Change.id < last).values(created_at=hour_ago))
    changes.prune(workspace)
    with workspace.database.read() as session:
        assert len(session.scalars(select(Change.id)).all()) == 5, "events may follow from these changes"
    assert catch_up(workspace)
    changes.prune(workspace)
    changes.prune(workspace)
    with workspace.database.read() as session:
        assert session.scalars(select(Change.id)).all() == [last]
    assert since(workspace, early) == EventBatch((), last, all=True)
    assert since(workspace, last) == EventBatch([], last)
    with workspace.database.write() as session:
        session.execute(update(Change).values(created_at=hour_ago))
    changes.prune(workspace)
    assert since(workspace, last) == EventBatch([], last), "the newest stays: who has heard it misses nothing"
    change(workspace, "runs")
    assert topics(since(workspace, last)) == ["runs"]


def test_a_cursor_of_another_database_hears_that_everything_may_have_changed(workspace: Workspace) -> None:
    assert since(workspace, newest(workspace) + 1000).all
    change(workspace)
    assert since(workspace, newest(workspace) + 1).all


def test_more_than_can_be_told_is_everything(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    change(workspace)
    cursor = newest(workspace)
    monkeypatch.setattr(changes, "MOST", 3)
    for _ in range(3):
        change(workspace)
    assert len(since(workspace, cursor).events) == 3
    change(workspace)
    assert since(workspace, cursor) == EventBatch((), newest(workspace), all=True)


def test_a_page_that_begins_to_listen_hears_of_the_seconds_in_which_it_loaded(workspace: Workspace) -> None:
    def begin() -> list[str]:
        with workspace.database.autocommit_read() as session:
            return topics(changes.since(session, changes.newest(session, changes.LOADING)))

    assert begin() == []
    change(workspace, "models")
    assert begin() == ["models"]
    with workspace.database.write() as session:
        session.execute(update(Change).values(created_at=now() - changes.LOADING))
    assert begin() == []
    change(workspace, "jobs")
    assert begin() == ["jobs"]


def test_an_empty_table_has_a_cursor_too(workspace: Workspace) -> None:
    with workspace.database.read() as session:
        assert session.scalar(select(func.count(Change.id))) == 0
    assert since(workspace, 0) == EventBatch([], 0) and newest(workspace) == 0
    change(workspace)
    assert topics(since(workspace, 0)) == ["jobs"]
