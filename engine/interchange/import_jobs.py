"""Imports as jobs of the queue: requested, run with progress, stopped, and resumed after a crash.

What an attempt has stored is noted on the job in the same transaction as the document itself. The next attempt skips
these documents, so that each comes in once and is counted once.
"""

import re
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from db.tables import Job
from engine import audit
from engine.interchange import uploaded_sets
from engine.interchange.import_store import Imported, Status
from engine.interchange.imports import ImportStopped, import_set
from engine.interchange.uploaded_sets import IMPORT
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped
from engine.jobs.jobs_of_day import enqueue_of_day
from engine.plurals import count
from engine.workspace import Workspace

_BEGINS = {"Unpacking": 0.0, "Checking the pages": 0.1, "Storing": 0.3}  # share of the work before it
_LASTS = {"Unpacking": 0.1, "Checking the pages": 0.2, "Storing": 0.7}
_SENTENCE = re.compile(r"(?P<doing>[^:]*?)(?:: (?P<done>[\d,]+) of (?P<of>[\d,]+))?\.")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an import, with its progress.

    Attributes:
        doing: Name of the step.
        done: How much of it is done.
        of: How much there is to do; 0 while that is not known.
    """

    doing: str
    done: int = 0
    of: int = 0

    def sentence(self) -> str:
        """Return the step as the message of a job."""
        return f"{self.doing}: {self.done:,} of {self.of:,}." if self.of else f"{self.doing}."

    def share(self) -> float:
        """Return how much of the whole import is done, 0..1."""
        part = self.done / self.of if self.of else 0.0
        return _BEGINS.get(self.doing, 0.0) + _LASTS.get(self.doing, 0.0) * part

    @staticmethod
    def parse(sentence: str) -> "Step":
        """Return the step that a message of a job tells."""
        match = _SENTENCE.fullmatch(sentence)
        if match is None:
            return Step(sentence.rstrip("."))
        done, of = (int((match[name] or "0").replace(",", "")) for name in ("done", "of"))
        return Step(match["doing"], done, of)


def request(
    workspace: Workspace,
    project_id: str,
    sha256: str,
    *,
    name: str,
    form: str,
    status: Status,
    ocr: bool,
    skip_bad: bool = False,
    user_id: str,
    job_id: str | None = None,
) -> Job:
    """Queue the import of an upload, and return its job.

    Args:
        workspace: Where the upload lies.
        project_id: The project that it goes into.
        sha256: SHA-256 of the upload, as `uploaded_sets.receive` returned it.
        name: Name of the file, for people.
        form: One of `formats.IMPORTED`, or `imports.RECOGNISE`.
        status: Status of the answers.
        ocr: Whether to read the words of pages that come without.
        skip_bad: Whether to leave out bad entries.
        user_id: The author of the answers.
        job_id: Id of the new job, for a caller who follows it from its first step.

    Raises:
        TooMany: The person has started as many imports as one may in 24 hours.
    """
    payload = {
        "sha256": sha256,
        "name": name,
        "format": form,
        "status": status,
        "ocr": ocr,
        "skip_bad": skip_bad,
        "user_id": user_id,
    }
    most = workspace.settings.imports_per_day
    return enqueue_of_day(workspace, IMPORT, project_id, payload, most=most, created_by=user_id, job_id=job_id)


def run_import(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    """Run an import; a handler of the queue.

    Returns:
        Counts of everything that this import brought in, in all its attempts, and a sentence that tells them.
    """
    wanted, earlier = job.payload, job.result
    done = Imported(**earlier["imported"]) if earlier else None

    def keep(session: Session, total: Imported, documents: int) -> None:
        queue.keep(session, job.id, str(job.holder), {"imported": asdict(total), "documents_stored": documents})

    def say(doing: str, at: int, of: int) -> None:
        step = Step(doing, at, of)
        on_progress(step.share(), step.sentence())

    say("Starting", 0, 0)
    note = partial(_note, workspace, job)
    try:
        with tempfile.TemporaryDirectory(prefix="glossator-import-") as folder:
            packed = Path(folder) / wanted["name"]  # sentences name it
            packed.symlink_to(uploaded_sets.path_of(workspace, wanted["sha256"]).absolute())
            summary = import_set(
                workspace,
                str(job.project_id),
                wanted["format"],
                packed,
                user_id=wanted["user_id"],
                status=wanted["status"],
                ocr=wanted["ocr"],
                skip_bad=bool(wanted.get("skip_bad")),  # jobs of earlier editions do not have it
                on_progress=say,
                should_stop=lambda: should_stop() is not None,
                done=done,
                documents_stored=int(earlier.get("documents_stored", 0)),
                on_stored=keep,
            )
    except ImportStopped as stopped:
        reason = should_stop() or "end"
        if reason == "cancel" and stopped.stored:
            note(stopped.found)
        raise Stopped(reason, str(stopped)) from None
    note(summary)
    return {"imported": asdict(summary), "sentence": _sentence(summary)}


def _note(workspace: Workspace, job: Job, found: Imported) -> None:
    name = str(job.payload["name"])[:60]
    by = job.payload["user_id"]
    audit.note(workspace, by, "imports.make", name, job.project_id, format=found.form, answers=found.answers)


def _sentence(found: Imported) -> str:
    left_out = "".join(f" Left out: {name} ({number:,})." for name, number in sorted(found.lost.items()))
    if found.bad:
        left_out += f" Left out: bad entries ({found.bad:,})."
    answers = count(found.answers + found.no_answer, "answer")
    return f"Imported {count(found.documents, 'document')} and {answers}.{left_out}"
