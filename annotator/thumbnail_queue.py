"""Making thumbnails for requests: few at a time, each once, without holding a thread while waiting."""

import threading
from concurrent.futures import Future
from pathlib import Path

from annotator.work_queues import WorkQueue, end_of, run_in_thread
from engine.documents.lists.thumbnails import Thumbnail

# Per process. A page of 25 megapixels takes about 100 MB while it is decoded.
THUMBNAILS = WorkQueue("thumbnails", at_work=2, waiting=62, come_back=2)
_running: dict[Path, "Future[bytes]"] = {}
_lock = threading.Lock()


async def make_shared(picture: Thumbnail) -> bytes:
    """Return a thumbnail as JPEG, sharing the work with other requests for the same one.

    Args:
        picture: thumbnail to make.

    Raises:
        TooMany: too many thumbnails wait already.
    """
    return await end_of(_begin(picture))


def _begin(picture: Thumbnail) -> "Future[bytes]":
    where = picture.path

    def work() -> bytes:
        try:
            with place.turn():
                return picture.load_or_make()
        finally:
            with _lock:
                del _running[where]
            place.leave()

    with _lock:  # held until the work is recorded: it may end before
        outcome = _running.get(where)
        if outcome is None:
            place = THUMBNAILS.place()
            try:
                outcome = _running[where] = run_in_thread(work, "small picture")
            except BaseException:
                place.leave()
                raise
        return outcome
