"""The clock as it really goes: two workers that both look fire a full minute once."""

import time
from datetime import timedelta

from sqlalchemy import delete, select

from db.base import now
from db.tables import Firing, Lease
from engine.commands.servers.background import CHORES
from engine.jobs import poll_lease
from engine.jobs.chores import Polls
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project


def forget_lease(workspace: Workspace, holder: str) -> None:
    """A chore that lets every worker look at each poll."""
    with workspace.database.write() as session:
        session.execute(delete(Lease).where(Lease.subject == poll_lease.SUBJECT))


def test_a_full_minute_is_fired_once_by_two_workers_that_both_look(sqlite_workspace: Workspace) -> None:
    settings = sqlite_workspace.settings.model_copy(update={"poll_seconds": 0.5})
    shop = Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    change_settings(shop, project.id, retrain_cron="* * * * *", retrain_after=100)
    began = now()
    looks = {"one": 0, "other": 0}

    def count(workspace: Workspace, holder: str) -> None:
        looks[holder] += 1

    chores = (count, *CHORES.at_polls, forget_lease)
    latest = time.monotonic() + 130
    with Polls(shop, "one", chores) as one, Polls(shop, "other", chores) as other:
        one.start()
        other.start()
        while not firings(shop):
            assert time.monotonic() < latest, "a full minute passed unfired"
            time.sleep(0.2)
        before = dict(looks)
        while min(looks[name] - before[name] for name in looks) < 3:  # each has looked again
            assert time.monotonic() < latest
            time.sleep(0.1)
        fired = firings(shop)
    full = (began + timedelta(minutes=1)).replace(second=0, microsecond=0)
    assert fired[0].due_at == full
    assert len({firing.due_at for firing in fired}) == len(fired) <= 2
    assert full <= fired[0].created_at < full + timedelta(seconds=5)
    assert fired[0].outcome == "asked"


def firings(shop: Workspace) -> list[Firing]:
    with shop.database.read() as session:
        return list(session.scalars(select(Firing).order_by(Firing.id)))
