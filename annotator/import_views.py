"""Imports as people see them: under way, line by line, and what came in."""

import json
import time
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from fastapi import HTTPException
from pydantic import BaseModel, Field

from annotator.followed_job import WAITING, FollowedJob
from db.tables import Job
from engine.errors import Refused
from engine.interchange.import_jobs import Step

_STILL = 15.0  # seconds after which the last line is told again: a line that is silent is cut by what stands between
_STOPPED = "Stopped before anything was stored. Start the import again to run it."
_FAILED = "The import failed on the server. Stored documents are kept; import again to add the rest."


class ImportedView(BaseModel):
    """Counts of an import: new and known documents, pages, answers, and what was left out."""

    format: str
    documents: int
    known: int = Field(description="Documents that existed before.")
    pages: int
    read: int = Field(description="Pages without words, read by OCR.")
    answers: int
    no_answer: int = Field(description="Questions marked as not answered by the document.")
    proposals: int = Field(0, description="Answers of models, which people are shown as proposals.")
    lost: dict[str, int] = Field(description="Number of entries left out, by kind, such as automatic answers.")
    bad: int = Field(0, description="Number of entries with an error that were left out.")
    bad_entries: list[str] = Field(default_factory=list, description="Sentences on the first 20 of them.")


class ImportUnderWay(BaseModel):
    """An import that has not ended."""

    id: str = Field(description="The id of its job.")
    name: str = Field(description="The file.")
    by: str = Field(description="User who started it.")
    began_at: datetime
    doing: str
    done: int
    of: int = Field(description="Total number; 0 while it is unknown.")
    stopping: bool = Field(description="Whether it was stopped; it ends at its next step.")


async def import_lines(followed: FollowedJob) -> AsyncIterator[str]:
    """Yield a line of JSON for each step of an import, and one for its end."""
    try:
        last, line_time = _line(followed.id, Step("Starting")), time.monotonic()
        yield last
        async for message in followed.messages():
            line = _line(followed.id, Step.parse(message))
            if line != last or time.monotonic() - line_time >= _STILL:
                yield line
                last, line_time = line, time.monotonic()
        job = await followed.job()
    finally:
        followed.leave()
    try:
        yield _json(result=import_result(job).model_dump(mode="json"))
    except Refused as refused:
        yield _json(status=422, detail=str(refused))
    except HTTPException as failed:
        yield _json(status=failed.status_code, detail=failed.detail)


def import_result(job: Job) -> ImportedView:
    """Return what came in with an import that has ended.

    Raises:
        Refused: It failed or was stopped; the sentence says why.
        HTTPException: 500, it was given up.
    """
    if job.status == "done":
        imported = job.result["imported"]
        return ImportedView(format=imported["form"], **{name: imported[name] for name in imported if name != "form"})
    if job.status == "dead":
        raise HTTPException(500, _FAILED)
    if job.status == "cancelled" and not job.message.startswith("Stopped"):
        raise Refused(_STOPPED)  # before it began
    raise Refused(job.message)


def under_way(job: Job, names: dict[str, str]) -> ImportUnderWay:
    """Return an import that has not ended. `names`: of people, by id."""
    step = Step.parse(WAITING if job.status == "waiting" else job.message)
    return ImportUnderWay(
        id=job.id,
        name=job.payload["name"],
        by=names.get(job.payload["user_id"], ""),
        began_at=job.created_at,
        doing=step.doing,
        done=step.done,
        of=step.of,
        stopping=job.cancel_requested_at is not None,
    )


def _line(job_id: str, step: Step) -> str:
    return _json(id=job_id, doing=step.doing, done=step.done, of=step.of)


def _json(**said: Any) -> str:
    return json.dumps(said, ensure_ascii=False) + "\n"
