"""Stores the files of a snapshot while its answers are read: each waits for the disk, several wait together."""

import hashlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from engine.workspace import Workspace

_AT_ONCE = 8  # files that are written; as many more wait in memory


class AsyncBlobWriter:
    """Threads that store files; `flush` returns when all are on disk, and raises what went wrong."""

    def __init__(self, workspace: Workspace) -> None:
        self._blobs = workspace.blobs
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="snapshot-file")
        self._waiting: deque[Future[str]] = deque()

    def put(self, content: bytes) -> str:
        """Store a file soon, and return its SHA-256."""
        if len(self._waiting) >= 2 * _AT_ONCE:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._blobs.put, content))
        return hashlib.sha256(content).hexdigest()

    def flush(self) -> None:
        """Wait until every file is on disk."""
        while self._waiting:
            self._waiting.popleft().result()

    def close(self) -> None:
        """End the threads; files that they have begun are stored whole."""
        self._pool.shutdown(cancel_futures=True)
