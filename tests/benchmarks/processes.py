"""Processes that share the runs of a benchmark and end with it."""

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process


def processes(count: int) -> ProcessPoolExecutor:
    """Return a pool of new processes, each of which ends at once when the benchmark does, by a signal too.

    Without this, a run of an hour went on after its benchmark was killed, and took a core from whatever came next.
    """
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    threading.Thread(target=_wait_for_its_end, daemon=True).start()


def _wait_for_its_end() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
