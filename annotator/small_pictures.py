"""Making small pictures of pages for requests: few at once, each once however many ask, and nobody who waits holds a thread for it."""

import threading
from concurrent.futures import Future
from pathlib import Path

from annotator.work_queues import Line, apart, end_of
from engine.documents.thumbnails import Thumbnail

# In this process. A page of 25 megapixels takes some 100 MB while it is decoded.
PICTURES = Line("small pictures", at_work=2, waiting=62, come_back=2)
_under_way: dict[Path, "Future[bytes]"] = {}
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
                del _under_way[where]
            place.leave()

    with _lock:  # held until it is noted: the work may have ended before
        outcome = _under_way.get(where)
        if outcome is None:
            place = PICTURES.place()
            try:
                outcome = _under_way[where] = apart(work, "small picture")
            except BaseException:
                place.leave()
                raise
        return outcome
