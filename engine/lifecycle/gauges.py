"""Metrics of the installation, read from the database and the disk at a scrape.

They cost the same in a project of 200 documents and of 20,000: statements read rows of an index, at most `MOST` of
them, and their results are used for some seconds. A gauge of a new kind is one more function in `_GAUGES`.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from db.base import now
from db.changes import DIRTY
from db.probe import Probe
from db.session import POOL, Database
from db.tables import Change, FollowerPosition, Job, LoginSession, SkippedChange, WebhookDelivery
from db.tables.webhooks import WAITING
from engine.accounts.sessions import is_valid
from engine.jobs import presence
from engine.metrics import Gatherer
from engine.settings import Settings
from engine.version import code_version
from engine.workspace import Workspace

if TYPE_CHECKING:
    from engine.annotation.predictors import Predictors

MOST = 10_000  # rows that a gauge counts; it shows this number when there are more
REUSED_SECONDS = 5.0
_CONNECT_SECONDS = 2
Counts = dict[tuple[str, ...], float]  # values by labels
_UNFINISHED = ("waiting", "running", "failed", "dead")


class InstallationGauges(Collector):
    """Metrics of one installation. Thread-safe.

    Args:
        settings: With the data folder.
        database: The database.
    """

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database
        self._probe = Probe(database, _CONNECT_SECONDS)
        self._lock = threading.Lock()
        self._families: list[Metric] = []
        self._read_at = -REUSED_SECONDS

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, at most some seconds old; of a database that does not answer, only that it does not."""
        with self._lock:
            if time.monotonic() - self._read_at >= REUSED_SECONDS:
                self._families = [*self._read()]
                self._read_at = time.monotonic()
            families = self._families
        yield from families

    def _read(self) -> Iterator[Metric]:
        yield _labelled("build_info", "1, with the version of the code.", ("version",), {(code_version(),): 1})
        yield from _disk(self._settings)
        families: list[Metric] = []
        try:
            with self._probe.read() as session:
                families = [family for gauge in _GAUGES for family in gauge(session, self._settings)]
        except (SQLAlchemyError, OSError):
            answers = 0
        else:
            answers = 1
        yield GaugeMetricFamily("glossator_database_up", "1 while the database answers, else 0.", answers)
        yield from families


class PoolGauges(Collector):
    """Connections of this process to the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """Yield how many connections are in use, and how many there may be."""
        pool = self._database.engine.pool
        if isinstance(pool, QueuePool):
            yield GaugeMetricFamily(
                "glossator_database_connections", "Connections to the database in use.", pool.checkedout()
            )
            most = POOL["pool_size"] + POOL["max_overflow"]
            yield GaugeMetricFamily(
                "glossator_database_connections_max", "Connections to the database that may be in use at once.", most
            )


class ModelGauges(Collector):
    """Models that answer questions in this process."""

    def __init__(self, predictors: "Predictors") -> None:
        self._predictors = predictors

    def collect(self) -> Iterator[Metric]:
        """Yield a row for each version in use; projects with the same checkpoint share one."""
        versions: Counts = {(name, sha[:12]): 1.0 for sha, name in self._predictors.versions_in_use().items()}
        yield _labelled("model_info", "1 for each model version in use.", ("version", "checkpoint"), versions)


def _disk(settings: Settings) -> Iterator[Metric]:
    try:
        usage = shutil.disk_usage(settings.data_dir)
    except OSError:
        return
    yield GaugeMetricFamily("glossator_disk_free_bytes", "Free bytes of the data folder's disk.", usage.free)
    yield GaugeMetricFamily("glossator_disk_bytes", "Bytes of the data folder's disk.", usage.total)


def _jobs(session: Session, _: Settings) -> Iterator[Metric]:
    counted: Counts = {}
    for status in _UNFINISHED:
        some = select(Job.kind).where(Job.status == status).limit(MOST).subquery()
        for kind, number in session.execute(select(some.c.kind, func.count()).group_by(some.c.kind)):
            counted[kind, status] = number
    yield _labelled("jobs", "Jobs by kind and state, without those that ended well.", ("kind", "state"), counted)
    first = select(Job.run_after).where(Job.status == "waiting").order_by(Job.run_after).limit(1)
    yield GaugeMetricFamily(
        "glossator_jobs_oldest_wait_seconds", "Seconds for which the next job has waited.", _age(session.scalar(first))
    )
    workers = presence.load_presence(session)
    yield GaugeMetricFamily("glossator_workers", "Workers that were seen in the last minute.", len(workers.living))


def _followers(session: Session, _: Settings) -> Iterator[Metric]:
    lags: Counts = {}
    of_cursor: dict[int, float] = {}
    for name, cursor in session.execute(select(FollowerPosition.name, FollowerPosition.cursor)):
        if cursor not in of_cursor:
            waiting = select(Change.created_at).where(Change.id > cursor, Change.topic == DIRTY)
            of_cursor[cursor] = _age(session.scalar(waiting.order_by(Change.id).limit(1)))
        lags[(name,)] = of_cursor[cursor]
    yield _labelled("follower_lag_seconds", "Seconds since the oldest change not followed yet.", ("follower",), lags)
    skipped = _count(session, select(SkippedChange.id).limit(MOST).subquery())
    yield GaugeMetricFamily("glossator_changes_skipped", "Changes that could not be followed.", skipped)


def _webhooks(session: Session, _: Settings) -> Iterator[Metric]:
    waiting = _count(session, select(WebhookDelivery.id).where(WAITING).limit(MOST).subquery())
    yield GaugeMetricFamily("glossator_webhook_deliveries_waiting", "Messages that wait to be sent.", waiting)


def _sessions(session: Session, settings: Settings) -> Iterator[Metric]:
    counted: Counts = {}
    for kind, condition in (("browser", LoginSession.scope.is_(None)), ("token", LoginSession.scope.is_not(None))):
        valid = select(LoginSession.scope).where(is_valid(settings, now()), condition)
        counted[(kind,)] = float(_count(session, valid.limit(MOST).subquery()))
    yield _labelled("sessions", "Logins that are valid: of browsers, and tokens of programs.", ("kind",), counted)


_GAUGES: tuple[Callable[[Session, Settings], Iterator[Metric]], ...] = (_jobs, _followers, _webhooks, _sessions)


def _labelled(name: str, documentation: str, labels: tuple[str, ...], values: Counts) -> Metric:
    family = GaugeMetricFamily(f"glossator_{name}", documentation, labels=labels)
    for of, value in values.items():
        family.add_metric(of, value)
    return family


def _count(session: Session, some: object) -> int:
    return session.scalar(select(func.count()).select_from(some)) or 0  # type: ignore[arg-type]


def _age(moment: datetime | None) -> float:
    return 0.0 if moment is None else max(0.0, (now() - moment).total_seconds())


def watch(workspace: Workspace, gatherer: Gatherer, predictors: "Predictors | None" = None) -> Gatherer:
    """Add the metrics of a workspace to those that a process gathers, and return the gatherer."""
    gatherer.add(PoolGauges(workspace.database))
    if predictors is not None:
        gatherer.add(ModelGauges(predictors))
    if not gatherer.is_child:
        gatherer.add_of_installation(InstallationGauges(workspace.settings, workspace.database))
    return gatherer
