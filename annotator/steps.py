"""Long work answered line by line: each step as it is taken, and at last what came of it or what was wrong."""

import contextlib
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from annotator.failures import told
from annotator.under_way import UnderWay, begin, end
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused, TooMany

MEDIA_TYPE = "application/x-ndjson"
_EVERY = 0.25  # seconds between two steps of a kind that are told
_STILL = 15.0  # seconds without a step after which the last one is told again: a line that is silent is cut by what stands between
_ROOM = threading.BoundedSemaphore(2)  # at work at once in this process; who comes later waits
_QUEUE = threading.BoundedSemaphore(8)  # at work or waiting: each holds a thread of those that answer requests
_LOOK = 0.25  # seconds between two looks whether what waits for its turn should stop
_WAITING, _BEGINNING = "Waiting for other imports", "Beginning"
_STOPPED = "Stopped before anything was stored."
_FAILED = "The server failed at this; its log says where. What was stored stays: the same again adds the rest."
_log = logging.getLogger(__name__)

OnStep = Callable[[str, int, int], None]  # what is done, how far, of how much


class _Telling:
    """The lines that are to be said. Steps that follow each other closely are passed over, but for the first and last of each kind."""

    def __init__(self, under_way: UnderWay) -> None:
        self._under_way = under_way
        self._lines: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
        self._doing, self._at = "", 0.0

    def step(self, doing: str, done: int, of: int) -> None:
        self._under_way.step(doing, done, of)
        now = time.monotonic()
        if doing != self._doing or done == of or now - self._at >= _EVERY:
            self._doing, self._at = doing, now
            self._lines.put((_line(id=self._under_way.id, doing=doing, done=done, of=of), False))

    def end(self, **line: object) -> None:
        self._lines.put((_line(**line), True))

    def lines(self) -> Iterator[str]:
        line, last = _line(), False
        while not last:
            with contextlib.suppress(queue.Empty):
                line, last = self._lines.get(timeout=_STILL)
            yield line


def streamed(
    work: Callable[[OnStep], BaseModel], under_way: UnderWay, clean_up: Callable[[], None]
) -> StreamingResponse:
    """Do `work` in a thread of its own, which goes on when nobody listens any more, and answer with lines of JSON. Meanwhile it is
    shown as `under_way`; `work` ends by itself when that should stop. `clean_up` is called whatever happens, also where `work` never began.

    {"id", "doing", "done", "of"} a few times a second; then {"result": {...}}, or {"status", "detail"}, as the route's failures are told.
    TooMany where too much of the kind is under way.
    """
    if not _QUEUE.acquire(blocking=False):
        clean_up()
        raise TooMany("Too many imports wait already. Try again in a few minutes.", 120)
    telling = _Telling(under_way)

    def ended() -> None:
        end(under_way)
        _QUEUE.release()
        clean_up()

    def run() -> None:
        try:
            telling.step(_BEGINNING, 0, 0)
            if not _ROOM.acquire(blocking=False):
                telling.step(_WAITING, 0, 0)
                while not _ROOM.acquire(timeout=_LOOK):
                    if under_way.stopping.is_set():
                        raise Refused(_STOPPED)
                telling.step(_BEGINNING, 0, 0)
            try:
                result = work(telling.step).model_dump(mode="json")
            finally:
                _ROOM.release()
        except BaseException as error:  # whatever ends the work ends the lines
            if not isinstance(error, Refused | DocumentRefused):
                _log.exception("long work failed")
            status, detail = (told(error) if isinstance(error, Exception) else None) or (500, _FAILED)
            line: dict[str, object] = {"status": status, "detail": detail}
        else:
            line = {"result": result}
        try:
            ended()
        finally:
            telling.end(**line)

    begin(under_way)
    try:
        threading.Thread(target=run, name="long-work", daemon=True).start()
    except RuntimeError:  # no thread is to be had
        ended()
        raise
    return StreamingResponse(telling.lines(), media_type=MEDIA_TYPE, headers={"cache-control": "no-store"})


def _line(**said: object) -> str:
    return json.dumps(said, ensure_ascii=False) + "\n"
