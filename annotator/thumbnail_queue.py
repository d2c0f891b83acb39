"""Making small pictures of pages for requests: few at once, each once however many ask, and nobody who waits holds a thread for it."""

import threading
from concurrent.futures import Future
from pathlib import Path

from annotator.work_queues import WorkQueue, apart, end_of
from engine.documents.thumbnails import Thumbnail

# In this process. A page of 25 megapixels takes some 100 MB while it is decoded.
THUMBNAILS = WorkQueue("small pictures", at_work=2, waiting=62, come_back=2)
_running: dict[Path, "Future[bytes]"] = {}
_lock = threading.Lock()


async def made(picture: Thumbnail) -> bytes:
    """Return the JPEG of a picture, made now unless somebody else makes it already. TooMany when too many others wait to be made."""
    return await end_of(_begun(picture))


def _begun(picture: Thumbnail) -> "Future[bytes]":
    where = picture.path

    def work() -> bytes:
        try:
            with place.turn(lambda: None, lambda: None):
                return picture.made()
        finally:
            with _lock:
                del _running[where]
            place.leave()

    with _lock:  # held until it is noted: the work may have ended before
        outcome = _running.get(where)
        if outcome is None:
            place = THUMBNAILS.place()
            try:
                outcome = _running[where] = apart(work, "small picture")
            except BaseException:
                place.leave()
                raise
        return outcome
