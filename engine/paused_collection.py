"""Python's garbage collector rests while modules are imported.

An import leaves hundreds of thousands of objects that stay, and the collector walks through all of them again and
again while their number grows: a third of the processor time of a start. Afterwards they are set aside, so that no
later walk, which would hold up every request, goes through them.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_turn = threading.Lock()
_pauses = 0  # that have not ended
_was_enabled = False  # before the first of them


@contextmanager
def paused_collection() -> Iterator[None]:
    """Let the collector rest, in all threads; pauses may overlap, and the last to end sets aside what is there."""
    global _pauses, _was_enabled
    with _turn:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _turn:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.freeze()
                gc.enable()
