"""Memory that is given back to the system."""

import contextlib
import ctypes
import gc


def give_back() -> None:
    """Give freed memory back to the system, where the C library can (glibc).

    Training frees tensors of ever other sizes; glibc keeps the pages between those still in use, so that a process
    would stay as large as it ever was.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
