"""An installation whose parts are killed while people work."""

from __future__ import annotations

import math
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from db.tables import Annotation, Job, Page, User
from engine.followers import catch_up
from engine.jobs import queue
from engine.jobs.in_process_worker import LEASE_SECONDS
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.training.retraining import trigger
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.growth.files import store_files
from tests.benchmarks.growth.project import analyze, grow
from tests.benchmarks.kills.comparison import PARTS, Killed, check_stored, compare_jobs, compare_revisions
from tests.benchmarks.kills.uploader import Uploader
from tests.support.accounts import cookie_of, make_user
from tests.support.factories import make_bills, make_project, save_tiny_model
from tests.support.own_postgresql import kill, started, stopped
from tests.support.retrying_writers import Corrector, Writer, wait_for_more
from tests.support.server_process import Served

OUTAGES = (500, 503)  # after which the page sends again; a 500 is wrong all the same
CORRECTORS, SHARED = 3, 2  # people, and answers that they correct
START_SECONDS = 900  # in which a server starts on a machine that does other work, too
LEASE = 2.0  # seconds of a lease of the worker
RUN = {"steps": 12, "generated_pages": 6, "pages": 2, "questions": 3, "images": 0.25, "checkpoint_every": 2, "seed": 5}


class _Worker:
    """A `glossator worker` in a process of its own."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "engine.cli", "worker", "--lease-seconds", str(LEASE), "--metrics-port", "0"]
        with (self.served.folder / "worker.log").open("a") as log:
            self.process = subprocess.Popen(
                command, cwd=self.served.folder, env=self.served.environment, stdout=log, stderr=subprocess.STDOUT
            )

    def end(self, number: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait()

    @property
    def holds(self) -> str:
        """Part of the name under which it holds jobs."""
        assert self.process is not None
        return f":{self.process.pid}:"


class Campaign:
    """Parts of an installation, people at work, and kills."""

    def __init__(self, folder: Path, database: Any, *, rounds: int, seed: int = 7) -> None:
        """Prepare the project; nothing runs yet.

        Args:
            folder: Empty folder.
            database: PostgreSQL server (tests.support.own_postgresql); None: SQLite.
            rounds: Kills of each part.
            seed: Of the moments.
        """
        self.rounds, self.rng, self.over = rounds, random.Random(seed), threading.Event()
        self.database, self.outcome = database, Killed()
        tiny = folder / "tiny.safetensors"
        save_tiny_model(tiny)
        address = "" if database is None else database.get_uri()
        environment = {
            "GLOSSATOR_AUTH": "login",
            "GLOSSATOR_DATABASE_URL": address,
            "GLOSSATOR_MODEL_PATH": str(tiny),
            "GLOSSATOR_POLL_SECONDS": "0.1",
        }
        self.served = Served(folder, environment)
        self.served.start_seconds = START_SECONDS
        self.worker = _Worker(self.served)
        settings = Settings(
            data_dir=self.served.data,
            database_url=address,
            auth="login",
            model_path=tiny,
            _env_file=None,  # type: ignore[call-arg]
        )
        self.workspace: Workspace = open_workspace(settings)
        self.people: list[Writer] = self._people(100 + 30 * rounds)
        self.uploader = next(each for each in self.people if isinstance(each, Uploader))
        self.bills = make_project(self.workspace, "learned from").id
        change_settings(self.workspace, self.bills, promotion="by_hand", retrain_automatically=False)
        make_bills(self.workspace, self.bills, {"train": 3, "recent": 2}, questions=2)
        with self.workspace.database.read() as session:
            self.before = dict(session.execute(select(Annotation.id, Annotation.head)).tuples().all())
        self.runs: list[str] = []  # ids of jobs

    def _people(self, documents: int) -> list[Writer]:
        grown = grow(self.workspace, documents)
        store_files(self.workspace, grown.project, document_bytes=100)
        change_settings(self.workspace, grown.project, retrain_automatically=False)
        other = make_project(self.workspace, "copies").id
        with self.workspace.database.read() as session:
            of_pages = select(Page.document_id, Page.id).where(Page.number == 1)
            first = dict(session.execute(of_pages).tuples().all())
            annotators = session.scalars(select(User).where(User.id.in_(grown.people)).order_by(User.name)).all()
            accepted = (Annotation.project_id == grown.project) & (Annotation.status == "accepted")
            shared = session.execute(
                select(Annotation.id, Annotation.document_id).where(accepted).order_by(Annotation.id).limit(SHARED)
            ).all()
        answers = [(answer, first[document]) for answer, document in shared]

        def given(user: User) -> dict[str, Any]:
            return {
                "address": self.served.address,
                "project": grown.project,
                "cookie": cookie_of(self.workspace, user),
                "first_pages": first,
                "over": self.over,
                "outages": OUTAGES,
                "shared": {answer for answer, _ in answers},
            }

        reviewers = [
            make_user(self.workspace, f"Reviewer {at}", **{grown.project: "reviewer"}) for at in range(CORRECTORS)
        ]
        uploader = make_user(self.workspace, "Uploader", **{grown.project: "reviewer", other: "reviewer"})
        analyze(self.workspace)
        return [
            *(Writer(**given(each)) for each in annotators),
            *(Corrector(**given(each), answers=answers) for each in reviewers),
            Uploader(**given(uploader), other=other),
        ]

    def run(self, seconds: float = math.inf) -> Killed:
        """Kill each part so many times, or as often as there is time; return what became of what was acknowledged."""
        until = time.monotonic() + seconds
        parts = PARTS if self.database is not None else PARTS[:2]
        self.served.start()
        self.worker.start()
        threads = [threading.Thread(target=person.work, daemon=True) for person in self.people]
        for thread in threads:
            thread.start()
        try:
            for number in range(self.rounds):
                if time.monotonic() > until:
                    break
                for part in self.rng.sample(parts, len(parts)):
                    wait_for_more(self.people, self.rng.randrange(5, 60), threads)
                    self._kill(part, number, threads)
                    self.outcome.kills[part] += 1
            wait_for_more(self.people, 30, threads)
            self.over.set()
            for thread in threads:
                thread.join()
            self._await_jobs()
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
            self.worker.end(signal.SIGTERM)
            self.served.stop()
        self.outcome.wrong += [failure for person in self.people for failure in person.failures]
        wait_for(lambda: catch_up(self.workspace))  # the lease of a killed process ends first
        compare_revisions(self.workspace, self.people, self.before, self.outcome)
        compare_jobs(self.workspace, self.runs, self.uploader, self.outcome)
        check_stored(self.workspace, self.served, self.outcome)
        return self.outcome

    def close(self) -> None:
        """Close the connections."""
        self.workspace.close()

    def _kill(self, part: str, number: int, threads: Sequence[threading.Thread]) -> None:
        """Kill a part and start it again; note how long nobody was served, or nothing was done."""
        if part == "worker":
            self._ask_for_a_run()
            wait_for(lambda: self._job_held_by(self.worker.holds))
            time.sleep(self.rng.uniform(0, 4) * self.rng.choice((0.05, 1.0)))  # some while it reads what it will use
            began = time.monotonic()
            self.worker.end()
            self.worker.start()
            self._ask_for_a_run()
            wait_for(lambda: self._job_held_by(self.worker.holds))
        else:
            began = time.monotonic()
            if part == "web":
                self.served.kill()
                self.served.start()
            elif number % 2:
                with stopped(self.database):
                    pass
            else:
                kill(self.database)
            wait_for_more(self.people, 1, threads)
        self.outcome.away[part].append(time.monotonic() - began)

    def _ask_for_a_run(self) -> None:
        if not self.runs or queue.job_by_id(self.workspace, self.runs[-1]).status in queue.ENDED:
            key = trigger.retrain_key(self.bills)
            payload = {"settings": {**RUN, "metrics_every": 1}}
            attempts = 2 * len(PARTS) * self.rounds + 3
            job = queue.enqueue(self.workspace, trigger.RETRAIN, self.bills, payload, key, max_attempts=attempts)
            self.runs.append(job.id)

    def _job_held_by(self, holds: str) -> bool:
        job = queue.job_by_id(self.workspace, self.runs[-1])
        if job.status in queue.ENDED:  # it was faster
            self._ask_for_a_run()
            return False
        return holds in (job.holder or "")

    def _await_jobs(self) -> None:
        opened = select(func.count()).select_from(Job).where(Job.status.in_(queue.OPEN))

        def ended() -> bool:
            with self.workspace.database.read() as session:
                return session.scalar(opened) == 0

        try:
            wait_for(ended, 300 + LEASE_SECONDS)
        except TimeoutError:
            with self.workspace.database.read() as session:
                stuck = session.scalars(select(Job).where(Job.status.in_(queue.OPEN))).all()
            self.outcome.wrong += [
                f"The job {job.kind} {job.id} is stuck: {job.message} {job.failure}" for job in stuck
            ]


def wait_for(happens: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for a condition; a database that is away is asked again. Raises TimeoutError."""
    latest = time.monotonic() + seconds
    while True:
        with suppress(DBAPIError):
            if happens():
                return
        if time.monotonic() > latest:
            raise TimeoutError
        time.sleep(0.02)


@contextmanager
def campaign(kind: str, rounds: int) -> Iterator[Campaign]:
    """Yield a campaign on a database of its own, "postgresql" or "sqlite"."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="glossator-kills-"))
        database = stack.enter_context(started()) if kind == "postgresql" else None
        yield stack.enter_context(closing(Campaign(Path(folder), database, rounds=rounds)))
