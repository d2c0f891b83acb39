"""Follow a job without a thread: its messages as they come, then the finished job."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from db.ids import new_id
from db.tables import Job
from engine.interchange.import_jobs import Step
from engine.jobs import queue
from engine.jobs.in_process_worker import InProcessWorker
from engine.workspace import Workspace

WAITING = "Waiting for other imports."
_EVERY = 0.25  # seconds between two messages of a kind that are passed on
_LOOK = 1.0  # seconds without a message after which the database is asked: another server may do the job


class FollowedJob:
    """A job that is about to be given to an in-process worker, as `id`: no message is missed. `leave` ends it."""

    def __init__(self, workspace: Workspace, worker: InProcessWorker) -> None:
        self.id = new_id()
        self._workspace = workspace
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._doing, self._at = "", 0.0
        self.leave = worker.listen(self.id, self._pass_on)

    async def messages(self) -> AsyncIterator[str]:
        """Yield each message of the job's progress until the job ends.

        The last message is repeated while nothing new comes.
        """
        patience = _EVERY  # a job that waits for others says so soon
        message: str | None = None  # of the attempt that this process makes; newer than what the database knows
        while True:
            new = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    message = await self._messages.get()
                new = message is not None
            patience = _LOOK
            if message is not None and new:
                yield message
                continue
            job = await self.job()
            if job.status in queue.ENDED and self._messages.empty():
                return
            yield message or (WAITING if job.status == "waiting" else job.message or Step("Starting").sentence())

    async def job(self) -> Job:
        """Return the job as it is now."""
        return await run_in_threadpool(queue.job_by_id, self._workspace, self.id)

    async def wait_for_end(self) -> Job:
        """Wait for the end of the job, and return it."""
        async for _ in self.messages():
            pass
        return await self.job()

    async def ended_unless_gone(self, request: Request) -> Job | None:
        """Wait for the end of the job, and return it; None as soon as the client has disconnected."""
        async for _ in self.messages():
            if await request.is_disconnected():
                return None
        return await self.job()

    def _pass_on(self, message: str | None) -> None:
        """Pass on the first and the last message of each kind, and some between; called from the job's thread."""
        if message is not None:
            step, now = Step.parse(message), time.monotonic()
            if step.doing == self._doing and step.done != step.of and now - self._at < _EVERY:
                return
            self._doing, self._at = step.doing, now
        with contextlib.suppress(RuntimeError):  # the server has ended, and nobody listens
            self._loop.call_soon_threadsafe(self._messages.put_nowait, message)
