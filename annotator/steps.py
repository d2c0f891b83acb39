"""Long work answered line by line: each step as it is taken, and at last what came of it or what was wrong."""

import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from engine.documents.refusal import DocumentRefused
from engine.errors import Refused

MEDIA_TYPE = "application/x-ndjson"
_EVERY = 0.25  # seconds between two steps that are told
_FAILED = "The server failed at this. Its log says where."
_log = logging.getLogger(__name__)

OnStep = Callable[[str, int, int], None]  # what is done, how far, of how much


def streamed(work: Callable[[OnStep], BaseModel]) -> StreamingResponse:
    """Do `work` in a thread of its own, which goes on when nobody listens any more, and answer with lines of JSON.

    {"doing", "done", "of"} a few times a second; then {"result": {...}}, or {"detail": "..."} with the sentence of a refusal.
    """
    said: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
    told = 0.0

    def tell(last: bool = False, **line: object) -> None:
        said.put((json.dumps(line, ensure_ascii=False) + "\n", last))

    def step(doing: str, done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _EVERY:
            told = time.monotonic()
            tell(doing=doing, done=done, of=of)

    def run() -> None:
        try:
            result = work(step)
        except (Refused, DocumentRefused) as refused:
            tell(last=True, detail=str(refused))
        except Exception:
            _log.exception("long work failed")
            tell(last=True, detail=_FAILED)
        else:
            tell(last=True, result=result.model_dump(mode="json"))

    def lines() -> Iterator[str]:
        last = False
        while not last:
            line, last = said.get()
            yield line

    threading.Thread(target=run, name="long-work", daemon=True).start()
    return StreamingResponse(lines(), media_type=MEDIA_TYPE, headers={"cache-control": "no-store"})
