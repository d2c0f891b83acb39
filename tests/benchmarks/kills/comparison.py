"""What is stored after the kills, compared with what was acknowledged, and with what each job has to leave once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select

from db.tables import Annotation, Document, Job, ModelVersion, Page, PageWord, Revision, Run, TransferredDocument
from engine.workspace import Workspace
from tests.benchmarks.kills.uploader import PAGES, Uploader
from tests.support.drift import find_drift
from tests.support.retrying_writers import Writer
from tests.support.server_process import Served

PARTS = ("web", "worker", "database")
WORDS = 8  # of an uploaded page


@dataclass
class Killed:
    """What a campaign saw.

    Attributes:
        kills: Number of kills by part.
        away: Seconds from each kill until the part was at work again, by part.
        acknowledged: Number of revisions that were confirmed.
        conflicts: Number of corrections that came after somebody else's.
        put_off: Number of requests that were answered by 503, and sent again.
        jobs: Number of ended jobs by kind.
        lost: Confirmed revisions that are not stored as they were confirmed.
        doubled: Revisions that are stored and that nobody has sent, or more than once.
        wrong: A sentence for everything else that is wrong.
    """

    kills: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    away: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in PARTS})
    acknowledged: int = 0
    conflicts: int = 0
    put_off: int = 0
    jobs: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Return whether nothing is lost, doubled or wrong."""
        return not (self.lost or self.doubled or self.wrong)


def compare_revisions(
    workspace: Workspace, people: Sequence[Writer], before: Mapping[str, int], outcome: Killed
) -> None:
    """Note which confirmed revisions are lost, and which ones nobody has sent.

    Args:
        workspace: Open workspace.
        people: Who has sent revisions, and what was confirmed.
        before: Newest revision of each answer before they began.
        outcome: Takes what is wrong.
    """
    confirmed = {key: place for person in people for key, place in person.acknowledged.items()}
    sent = {key for person in people for key in person.sent}
    outcome.acknowledged, outcome.conflicts = len(confirmed), sum(person.conflicts for person in people)
    put_off = sum((person.put_off for person in people), Counter[int]())
    outcome.put_off = put_off.pop(503, 0)
    outcome.wrong += [f"{number} answers have the status {status}." for status, number in put_off.items()]
    with workspace.database.read() as session:
        columns = Revision.annotation_id, Revision.number, Revision.idempotency_key
        rows = session.execute(select(*columns).order_by(Revision.annotation_id, Revision.number)).tuples().all()
        heads = dict(session.execute(select(Annotation.id, Annotation.head)).tuples().all())
    stored: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for answer, number, key in rows:
        numbers[answer].append(number)
        if number > before.get(answer, 0):
            stored[key].append((answer, number))
    outcome.lost = [key for key, place in confirmed.items() if place not in stored[key]]
    outcome.doubled = [key for key, places in stored.items() if len(places) > 1 or (places and key not in sent)]
    outcome.wrong += [
        f"The answer {answer} has the revisions {numbers[answer]}; its newest is {head}."
        for answer, head in heads.items()
        if numbers[answer] != list(range(1, head + 1))
    ]


def compare_jobs(workspace: Workspace, trainings: Sequence[str], uploader: Uploader, outcome: Killed) -> None:
    """Note jobs that are not done, and what jobs have left twice or not at all.

    Args:
        workspace: Open workspace.
        trainings: Ids of the jobs that train a model.
        uploader: Who has uploaded and copied documents.
        outcome: Takes what is wrong.
    """
    uploads = select(Document.id).where(Document.name.like("paper %"))
    of_pages = (
        select(Page.document_id, Page.number, func.count(PageWord.number))
        .outerjoin(PageWord, PageWord.page_id == Page.id)
        .where(Page.document_id.in_(uploads))
        .group_by(Page.document_id, Page.number)
        .order_by(Page.document_id, Page.number)
    )
    with workspace.database.read() as session:
        jobs = session.scalars(select(Job)).all()
        runs = session.scalars(select(Run)).all()
        versions = set(session.scalars(select(ModelVersion.id).where(ModelVersion.number > 0)))
        pages = session.execute(of_pages).tuples().all()
        papers = session.scalars(uploads).all()
        origins = session.scalars(select(TransferredDocument.origin_id)).all()
    outcome.jobs = dict(Counter(job.kind for job in jobs))
    wrong = outcome.wrong
    wrong += [
        f"The job {job.kind} {job.id} is {job.status}: {job.message} {job.failure}"
        for job in jobs
        if job.status != "done"
    ]
    made = [run.challenger_id for run in runs]
    if sorted(str(run.job_id) for run in runs) != sorted(trainings) or not set(made) <= versions:
        wrong.append(f"{len(trainings)} jobs have made {len(runs)} runs, with the versions {made} of {versions}.")
    if len(set(made)) != len(made) or len(set(origins)) != len(origins):
        wrong.append("A version is of two runs, or a document was copied twice.")
    if set(uploader.uploaded) - set(papers) or len(papers) != len(set(uploader.uploaded)) + len(origins):
        wrong.append(f"{len(uploader.uploaded)} papers are uploaded, {len(origins)} copied, {len(papers)} stored.")
    of_paper: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for paper, number, words in pages:
        of_paper[paper].append((number, words))
    whole = [(number, WORDS) for number in range(1, PAGES + 1)]
    wrong += [
        f"The paper {paper} has these pages and words: {those}" for paper, those in of_paper.items() if those != whole
    ]


def check_stored(workspace: Workspace, served: Served, outcome: Killed) -> None:
    """Note what differs from what it follows, and what the product's own check says."""
    outcome.wrong += [f"It differs from what it follows: {drift}" for drift in find_drift(workspace)]
    command = [sys.executable, "-m", "engine.cli", "check"]
    checked = subprocess.run(
        command, env=served.environment, cwd=served.folder, capture_output=True, text=True, check=False
    )
    if checked.returncode:
        outcome.wrong.append(checked.stdout + checked.stderr)
