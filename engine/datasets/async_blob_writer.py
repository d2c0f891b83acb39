"""Write the files of a snapshot in background threads, so that their waits for the disk overlap."""

import hashlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from engine.workspace import Workspace

_AT_ONCE = 8  # files written at a time; as many more wait in memory


class AsyncBlobWriter:
    """Writer of blobs in background threads; `flush` waits for all of them and raises the first error."""

    def __init__(self, workspace: Workspace) -> None:
        self._blobs = workspace.blobs
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="snapshot-file")
        self._waiting: deque[Future[str]] = deque()

    def put(self, content: bytes) -> str:
        """Queue a file for writing, and return its SHA-256; waits while too many are queued."""
        if len(self._waiting) >= 2 * _AT_ONCE:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._blobs.put, content))
        return hashlib.sha256(content).hexdigest()

    def flush(self) -> None:
        """Wait until every queued file is on disk."""
        while self._waiting:
            self._waiting.popleft().result()

    def close(self) -> None:
        """Stop the threads; a file whose write has begun is written to its end."""
        self._pool.shutdown(cancel_futures=True)
