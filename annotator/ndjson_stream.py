"""Long work answered line by line: each step as it is taken, and at last what came of it or what was wrong."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import TypeVar

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from annotator.exception_handlers import told
from annotator.running_imports import UnderWay, begin, end
from annotator.work_queues import Place, WorkQueue, apart
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused

MEDIA_TYPE = "application/x-ndjson"
_EVERY = 0.25  # seconds between two steps of a kind that are told
_STILL = 15.0  # seconds without a step after which the last one is told again: a line that is silent is cut by what stands between
IMPORTS = WorkQueue("imports", at_work=2, waiting=8, come_back=120)  # in this process
_WAITING, _BEGINNING = "Waiting for other imports", "Starting"
_STOPPED = "Stopped before anything was stored. Start the import again to run it."
_FAILED = "The import failed on the server; see its log. Stored documents are kept; import again to add the rest."
_log = logging.getLogger(__name__)

OnStep = Callable[[str, int, int], None]  # what is done, how far, of how much
_Result = TypeVar("_Result", bound=BaseModel)


class _Telling:
    """The lines that are to be said. Steps that follow each other closely are passed over, but for the first and last of each kind."""

    def __init__(self, under_way: UnderWay) -> None:
        self._under_way = under_way
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        self._doing, self._at = "", 0.0

    def step(self, doing: str, done: int, of: int) -> None:
        self._under_way.step(doing, done, of)
        now = time.monotonic()
        if doing != self._doing or done == of or now - self._at >= _EVERY:
            self._doing, self._at = doing, now
            self._put(_line(id=self._under_way.id, doing=doing, done=done, of=of), False)

    def end(self, **line: object) -> None:
        self._put(_line(**line), True)

    def _put(self, line: str, last: bool) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended, and nobody listens
            self._loop.call_soon_threadsafe(self._lines.put_nowait, (line, last))

    async def lines(self) -> AsyncIterator[str]:
        line, last = _line(), False
        while not last:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STILL):
                    line, last = await self._lines.get()
            yield line


def begun(
    work: Callable[[OnStep], _Result],
    under_way: UnderWay,
    place: Place,
    clean_up: Callable[[], None],
    on_step: OnStep | None = None,
) -> "Future[_Result]":
    """Do `work` in a thread of its own, when it is the turn of its place, and return what will come of it; it goes on when nobody waits.

    Meanwhile it is shown as `under_way`; `work` ends by itself when that should stop. `clean_up` is called whatever happens, also where `work` never
    began. `on_step` hears of the steps.
    """
    step = on_step or under_way.step
    place.keep()

    def ended() -> None:
        end(under_way)
        place.leave()
        clean_up()

    def check() -> None:
        if under_way.stopping.is_set():
            raise Refused(_STOPPED)

    def run() -> _Result:
        try:
            step(_BEGINNING, 0, 0)
            with place.turn(lambda: step(_WAITING, 0, 0), check):
                if under_way.doing != _BEGINNING:
                    step(_BEGINNING, 0, 0)
                return work(step)
        finally:
            ended()

    begin(under_way)
    try:
        return apart(run, "long-work")
    except RuntimeError:  # no thread is to be had
        ended()
        raise


def streamed(
    work: Callable[[OnStep], BaseModel], under_way: UnderWay, place: Place, clean_up: Callable[[], None]
) -> StreamingResponse:
    """Do `work` as `begun` does, and answer with lines of JSON.

    {"id", "doing", "done", "of"} a few times a second; then {"result": {...}}, or {"status", "detail"}, as the route's failures are told.
    """
    telling = _Telling(under_way)

    def tell(outcome: "Future[BaseModel]") -> None:
        error = outcome.exception()
        if error is None:
            telling.end(result=outcome.result().model_dump(mode="json"))
            return
        if not isinstance(error, Refused | DocumentRefused):
            _log.error("long work failed", exc_info=error)
        status, detail = (told(error) if isinstance(error, Exception) else None) or (500, _FAILED)
        telling.end(status=status, detail=detail)

    begun(work, under_way, place, clean_up, telling.step).add_done_callback(tell)
    return StreamingResponse(telling.lines(), media_type=MEDIA_TYPE, headers={"cache-control": "no-store"})


def _line(**said: object) -> str:
    return json.dumps(said, ensure_ascii=False) + "\n"
