"""The clock as it really goes: a scheduler sleeps until a minute is full, and fires it once."""

import time
from datetime import timedelta

from sqlalchemy import select

from db.base import now
from db.tables import Firing
from engine.jobs.scheduler import Scheduler
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project


class Convinced:
    """A candidate that believes to be elected, as one does whose clock has jumped."""

    def stand(self) -> bool:
        return True

    def leave(self) -> None:
        pass


def test_a_full_minute_is_fired_once_by_two_schedulers_that_both_believe_to_be_elected(
    sqlite_workspace: Workspace,
) -> None:
    settings = sqlite_workspace.settings.model_copy(update={"poll_seconds": 0.5})
    shop = Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)
    project = make_project(shop)
    make_bills(shop, project.id, {"train": 1})
    change_settings(shop, project.id, retrain_cron="* * * * *", retrain_after=100)
    began = now()
    schedulers = [Scheduler(shop, name) for name in ("one", "other")]
    for each in schedulers:
        each._candidate = Convinced()  # type: ignore[assignment]
    latest = time.monotonic() + 130
    with schedulers[0], schedulers[1]:
        while not (fired := firings(shop)):
            assert time.monotonic() < latest, "it slept through a full minute"
            time.sleep(0.2)
        time.sleep(2)  # for the other one, which wakes up at the same time
        fired = firings(shop)
    full = (began + timedelta(minutes=1)).replace(second=0, microsecond=0)
    assert fired[0].due_at == full
    assert len({firing.due_at for firing in fired}) == len(fired) <= 2
    assert fired[0].created_at >= full
    assert fired[0].outcome == "asked"


def firings(shop: Workspace) -> list[Firing]:
    with shop.database.read() as session:
        return list(session.scalars(select(Firing).order_by(Firing.id)))
