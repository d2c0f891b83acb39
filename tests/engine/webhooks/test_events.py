"""Messages follow what happened: each kind once, from when it was wanted, in order, after the commit."""

import json
import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from db.base import now
from db.tables import Change, Job, ModelVersion, Promotion, Revision, User, Webhook, WebhookDelivery
from engine.accounts.users import ensure_local_user
from engine.documents.reading import read_jobs
from engine.followers import catch_up
from engine.followers.following import Following
from engine.followers.registry import FOLLOWERS
from engine.jobs import queue
from engine.models import registry
from engine.webhooks import webhooks
from engine.webhooks.events import EVENT_TYPES
from engine.workspace import Workspace
from tests.support.annotators import answer, judge, save
from tests.support.factories import bill, make_document
from tests.support.half_read import half_read, stored
from tests.support.judged_runs import add_run
from tests.support.office import TOTAL, Office

URL = "https://example.org/hook"


@pytest.fixture
def office(workspace: Workspace) -> Office:
    made = Office(workspace, bills=3, questions=(TOTAL,))
    made.set(review_required=True)
    return made


def listen(workspace: Workspace, project_id: str, events: Sequence[str] = EVENT_TYPES) -> str:
    return webhooks.create_webhook(workspace, project_id, URL, events, by=ensure_local_user(workspace)).id


def messages(workspace: Workspace) -> list[dict[str, Any]]:
    """All messages, in the order in which they are sent."""
    assert catch_up(workspace)
    order = WebhookDelivery.next_at, WebhookDelivery.id
    with workspace.database.read() as session:
        return [json.loads(body) for body in session.scalars(select(WebhookDelivery.body).order_by(*order))]


def kinds(workspace: Workspace) -> list[str]:
    return [message["type"] for message in messages(workspace)]


def test_an_answer_is_submitted_rejected_and_accepted(workspace: Workspace, office: Office) -> None:
    listen(workspace, office.project.id)
    first = answer(workspace, office.taken(office.ann), office.ann)
    judge(workspace, first.id, office.rita, "rejected")
    save(workspace, first.id, office.ann, [5], action="edit")
    save(workspace, first.id, office.ann, [5])
    judge(workspace, first.id, office.rita)
    sent = messages(workspace)
    assert [message["type"] for message in sent] == [
        "answer.submitted", "answer.rejected", "answer.submitted", "answer.accepted",
    ]  # fmt: skip
    last = sent[-1]["data"]
    document = next(each for each in office.documents if each.id == last["document"]["id"])
    assert last == {
        "project": {"id": office.project.id, "name": "bills"},
        "document": {"id": document.id, "name": document.name},
        "question": {"id": office.question(TOTAL), "text": TOTAL},
        "answer": {"id": first.id, "revision": 5, "status": "accepted"},
        "by": {"id": office.rita.id, "name": "Rita"},
        "link": f"/app/#project={office.project.id}&document={document.id}&annotation={first.id}",
    }


def test_a_document_is_ready_when_its_last_page_is_read(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    _, project, document = stored(sqlite_workspace, tmp_path, pages=3)
    listen(sqlite_workspace, project)
    job = half_read(sqlite_workspace, document, 3)
    with sqlite_workspace.database.write() as session:
        session.execute(update(Job).where(Job.id == job.id).values(status="running", holder="worker"))
    assert kinds(sqlite_workspace) == []
    job = queue.job_by_id(sqlite_workspace, job.id)
    result = read_jobs.read_further_pages(sqlite_workspace, job, on_progress=lambda *_: None, should_stop=lambda: None)
    assert kinds(sqlite_workspace) == [], "its job may still fail"
    queue.finish(sqlite_workspace, job.id, "worker", result)
    [message] = messages(sqlite_workspace)
    assert message["type"] == "document.ready"
    assert message["data"]["document"] == {"id": document, "name": "long.pdf", "pages": 3}
    make_document(sqlite_workspace, project, [bill(9)], name="short.png")
    assert kinds(sqlite_workspace) == ["document.ready"] * 2


def test_reading_that_was_stopped_leaves_no_ready_document(workspace: Workspace, office: Office) -> None:
    listen(workspace, office.project.id)
    job = half_read(workspace, office.documents[0].id, 3)
    with workspace.database.write() as session:
        session.execute(update(Job).where(Job.id == job.id).values(status="running", holder="worker"))
    queue.close_cancelled(workspace, job.id, "worker")
    assert kinds(workspace) == []


def test_judged_runs_promotions_and_exports_are_told(workspace: Workspace, office: Office) -> None:
    registry.ensure_shipped(workspace)
    listen(workspace, office.project.id, ("run.judged", "model.promoted", "export.ready"))
    run = add_run(workspace, office.project.id, before=0.5, after=0.9)
    payload = {"format": "coco", "once": False, "user_id": office.rita.id}
    for once in (False, True):
        job = queue.enqueue(workspace, "export", office.project.id, payload | {"once": once})
        assert queue.lease(workspace, "worker", ["export"]) is not None
        queue.finish(workspace, job.id, "worker", {"answers": 3})
        if not once:
            kept = job.id
    by_kind = {message["type"]: message["data"] for message in messages(workspace)}
    assert by_kind["run.judged"]["run"]["id"] == run.id
    with workspace.database.read() as session:
        promoted = session.scalars(select(Promotion).where(Promotion.run_id == run.id)).all()
        assert [each.version_id for each in promoted] == [by_kind["model.promoted"]["model"]["id"]]
        assert session.get_one(ModelVersion, promoted[0].version_id).number == 1
    assert by_kind["export.ready"] == {
        "project": {"id": office.project.id, "name": "bills"},
        "export": {"id": kept, "format": "coco", "answers": 3},
        "by": {"id": office.rita.id, "name": "Rita"},
        "link": f"/api/projects/{office.project.id}/exports/{kept}/file",
    }
    assert kinds(workspace).count("export.ready") == 1, "a file for the request that waits is no news"


def test_a_webhook_hears_of_what_happens_after_it_wants_it(workspace: Workspace, office: Office) -> None:
    answer(workspace, office.taken(office.ann), office.ann)
    hook = listen(workspace, office.project.id, ["answer.accepted"])
    assert kinds(workspace) == []
    answer(workspace, office.taken(office.ben), office.ben)
    webhooks.change_webhook(workspace, hook, events=["answer.submitted"], by=office.rita)
    assert kinds(workspace) == []
    first = answer(workspace, office.taken(office.ann), office.ann)
    assert kinds(workspace) == ["answer.submitted"]
    webhooks.change_webhook(workspace, hook, enabled=False, by=office.rita)
    judge(workspace, first.id, office.rita, "rejected")
    save(workspace, first.id, office.ann, [5])
    webhooks.change_webhook(workspace, hook, enabled=True, by=office.rita)
    assert kinds(workspace) == ["answer.submitted"], "it was off meanwhile"


def test_nothing_is_written_twice_or_lost_when_two_processes_follow(workspace: Workspace, office: Office) -> None:
    listen(workspace, office.project.id, ["answer.submitted"])
    made = [answer(workspace, office.taken(person), person) for person in (office.ann, office.ben)]
    both = threading.Barrier(2)

    class Late(Following):
        def _read_groups(self, session: Any) -> Any:
            groups = super()._read_groups(session)
            both.wait(10)
            return groups

    threads = [threading.Thread(target=Late(workspace, FOLLOWERS).look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [message["data"]["answer"]["id"] for message in messages(workspace)]
    assert told == [each.id for each in made]


def test_a_follower_that_was_away_for_days_catches_up(workspace: Workspace, office: Office) -> None:
    listen(workspace, office.project.id, ["answer.submitted"])
    answer(workspace, office.taken(office.ann), office.ann)
    days = timedelta(days=3)
    hook_since = (now() - 2 * days).isoformat()
    with workspace.database.write() as session:
        session.execute(update(Change).values(created_at=now() - days))
        session.execute(update(Revision).values(created_at=now() - days))
        hook = session.scalars(select(Webhook)).one()
        hook.events = dict.fromkeys(hook.events, hook_since)
    assert kinds(workspace) == ["answer.submitted"]


def test_a_project_without_webhooks_gets_no_messages(workspace: Workspace, office: Office) -> None:
    person: User = office.ann
    answer(workspace, office.taken(person), person)
    assert messages(workspace) == []
