"""Figures follow the changes: none twice, by one process at a time, and past a change that cannot be followed."""

import threading
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.dirty_documents import mark_dirty
from db.tables import Change, DocumentFigures, FollowerPosition, ProjectFigures, QueueDay, SkippedChange
from engine import changes, leases
from engine.documents.lists.totals import document_totals
from engine.followers import FollowerRunner, catch_up, checks, document_figures, freshness, positions
from engine.followers.derived_table import DerivedTable, Row, Sums
from engine.followers.follower import Follower
from engine.followers.following import Following
from engine.followers.registry import FOLLOWERS
from engine.followers.runner import SUBJECT
from engine.workspace import Workspace
from tests.support.annotators import answer
from tests.support.drift import find_drift
from tests.support.office import Office
from tests.support.published_events import published_events
from tests.support.statements import heard
from tests.support.waiting import wait_until


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def accepted(workspace: Workspace, office: Office) -> int:
    return document_totals(workspace, office.project.id).accepted


def test_figures_of_an_answer_follow_its_commit_and_are_published(workspace: Workspace, office: Office) -> None:
    catch_up(workspace)
    task = office.taken(office.ann)
    answer(workspace, task, office.ann)
    assert accepted(workspace, office) == 0
    with workspace.database.read() as session:
        assert freshness(session).lag_seconds > 0
    documents = {each.id: each.document_id for each in office.tasks()}
    with published_events(workspace) as events:
        assert catch_up(workspace)
    assert accepted(workspace, office) == 1
    assert {(event.topic, event.subject_id) for event in events} == {
        ("figures", documents[task]),
        ("values", documents[task]),
    }
    with workspace.database.read() as session:
        assert freshness(session).lag_seconds == 0
    assert not find_drift(workspace)


def test_a_thread_of_a_server_follows_and_another_goes_on_after_it(workspace: Workspace, office: Office) -> None:
    first, second = FollowerRunner(workspace), FollowerRunner(workspace)
    first.start()
    second.start()
    answer(workspace, office.taken(office.ann), office.ann)
    wait_until(lambda: accepted(workspace, office) == 1)
    first.stop()
    answer(workspace, office.taken(office.ben), office.ben)
    wait_until(lambda: accepted(workspace, office) == 2)
    second.stop()
    assert not find_drift(workspace)


def test_an_installation_where_nothing_happens_is_not_written_to(workspace: Workspace, office: Office) -> None:
    catch_up(workspace)
    runner = FollowerRunner(workspace)
    with heard(workspace) as statements:
        assert not runner.look()
    assert statements and all(text.lstrip().upper().startswith("SELECT") for text, _ in statements), statements


def test_while_another_process_holds_the_lease_nothing_is_followed(workspace: Workspace, office: Office) -> None:
    catch_up(workspace)
    with workspace.database.write() as session:
        leases.acquire(session, SUBJECT, "another process", 60)
    answer(workspace, office.taken(office.ann), office.ann)
    assert not FollowerRunner(workspace).look() and not catch_up(workspace)
    with workspace.database.write() as session:
        leases.release(session, SUBJECT)
    assert catch_up(workspace) and accepted(workspace, office) == 1


def test_of_two_that_follow_the_same_change_one_stores_it(workspace: Workspace, office: Office) -> None:
    """Both read before either stores, as when a lease ends while its holder still works."""
    catch_up(workspace)
    for person in (office.ann, office.ben):
        answer(workspace, office.taken(person), person)
    both = threading.Barrier(2)

    class Late(Following):
        def _read_groups(self, session: Session) -> Any:
            groups = super()._read_groups(session)
            both.wait()
            return groups

    threads = [threading.Thread(target=Late(workspace, FOLLOWERS).look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accepted(workspace, office) == 2
    assert not find_drift(workspace)


def test_a_change_that_cannot_be_followed_is_named_and_skipped(
    workspace: Workspace, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up(workspace)
    bad, good = office.documents[0].id, office.documents[1].id
    broken = [True]

    def compute(session: Session, ids: Collection[str]) -> Iterable[Row]:
        if broken[0] and bad in ids:
            raise ArithmeticError("this document cannot be counted")
        return document_figures.compute_figures(session, ids)

    sums = Sums(ProjectFigures, document_figures.count_figures)
    poisoned = Follower("document_figures", (DerivedTable(DocumentFigures, compute, sums),))
    following = Following(workspace, [poisoned, *FOLLOWERS[1:]])
    with workspace.database.write() as session:
        session.execute(update(DocumentFigures).where(DocumentFigures.person_id == "").values(pages=7))
        mark_dirty(session, office.project.id, [bad])
    with workspace.database.write() as session:
        mark_dirty(session, office.project.id, [good])
    monkeypatch.setattr(positions, "_FIRST_RETRY", timedelta())
    for _ in range(positions.MOST_ATTEMPTS):
        following.look()
    with workspace.database.read() as session:
        pages = dict(session.execute(select(DocumentFigures.document_id, DocumentFigures.pages)).tuples().all())
        assert (pages[bad], pages[good]) == (7, 1)
        [skipped] = session.scalars(select(SkippedChange)).all()
        assert (skipped.follower, skipped.documents) == ("document_figures", [bad])
        assert freshness(session).skipped == 1 and freshness(session).lag_seconds == 0
    [(name, _, error)] = checks.skipped_changes(workspace, office.project.id)
    assert name == "document_figures" and "this document cannot be counted" in error
    broken[0] = False
    checks.rebuild(workspace, office.project.id)
    assert not find_drift(workspace) and not checks.skipped_changes(workspace, office.project.id)


def test_a_failed_attempt_is_tried_again_later_while_others_go_on(workspace: Workspace, office: Office) -> None:
    catch_up(workspace)
    fails = [True]

    def compute(session: Session, ids: Collection[str]) -> Iterable[Row]:
        if fails[0]:
            raise ArithmeticError("not now")
        return document_figures.compute_figures(session, ids)

    sums = Sums(ProjectFigures, document_figures.count_figures)
    shaky = Follower("document_figures", (DerivedTable(DocumentFigures, compute, sums),))
    following = Following(workspace, [shaky, *FOLLOWERS[1:]])
    answer(workspace, office.taken(office.ann), office.ann)
    following.look()
    with workspace.database.read() as session:
        places = positions.read_positions(session)
        failed = session.get_one(FollowerPosition, "document_figures")
    assert failed.attempts == 1 and failed.retry_at is not None and failed.retry_at > now() - timedelta(seconds=5)
    assert {place.attempts for name, place in places.items() if name != "document_figures"} == {0}
    assert places["queue_days"].cursor > failed.cursor and accepted(workspace, office) == 0
    fails[0] = False
    wait_until(lambda: following.look() and accepted(workspace, office) == 1)
    assert not find_drift(workspace)


def test_changes_are_kept_until_every_follower_has_read_them(
    workspace: Workspace, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up(workspace)
    answer(workspace, office.taken(office.ann), office.ann)
    with workspace.database.write() as session:
        session.execute(update(Change).values(created_at=now() - timedelta(hours=3)))
    changes.prune(workspace)
    assert catch_up(workspace) and accepted(workspace, office) == 1
    changes.prune(workspace)
    with workspace.database.read() as session:
        oldest = session.scalar(select(func.min(Change.id)))
        assert oldest is not None
        assert oldest > max(place.cursor for place in positions.read_positions(session).values())


def test_work_of_yesterday_that_is_followed_today_counts_on_its_day(workspace: Workspace, office: Office) -> None:
    catch_up(workspace)
    yesterday = now() - timedelta(days=1)
    answer(workspace, office.taken(office.ann), office.ann)
    with workspace.database.write() as session:
        session.execute(update(Change).where(Change.documents.is_not(None)).values(created_at=yesterday))
    catch_up(workspace)
    with workspace.database.read() as session:
        moved = select(QueueDay.open).where(QueueDay.project_id == office.project.id, QueueDay.day == yesterday.date())
        assert session.scalar(moved) == -1
    assert not find_drift(workspace)


@pytest.mark.parametrize("number", [1, 450])
def test_many_documents_of_a_change_are_followed_in_batches(workspace: Workspace, office: Office, number: int) -> None:
    catch_up(workspace)
    with workspace.database.write() as session:
        session.execute(update(DocumentFigures).where(DocumentFigures.person_id == "").values(pages=9))
        absent = [f"{at:032x}" for at in range(number)]  # of documents that are no more
        mark_dirty(session, office.project.id, [*absent, *(document.id for document in office.documents)])
    assert catch_up(workspace)
    with workspace.database.read() as session:
        assert set(session.scalars(select(DocumentFigures.pages).where(DocumentFigures.person_id == ""))) == {1}
        assert freshness(session).lag_seconds == 0
