"""Results that several threads ask for: computed once, the most recently used ones are held."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class SharedResults(Generic[Key, Result]):
    """The `most` most recently used results by key; concurrent requests share one computation. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Key, Future[Result]] = OrderedDict()
        self._lock = threading.Lock()

    def is_begun(self, key: Key) -> bool:
        """Return whether the result is computed or being computed."""
        with self._lock:
            return key in self._results

    def is_done(self, key: Key) -> bool:
        """Return whether the result is computed."""
        with self._lock:
            future = self._results.get(key)
        return future is not None and future.done()

    def peek(self, key: Key) -> Result | None:
        """Return the result where it is computed; None where it is not, or not yet."""
        with self._lock:
            future = self._results.get(key)
            if future is None or not future.done():
                return None
            self._results.move_to_end(key)
        return future.result()

    def put(self, key: Key, result: Result) -> None:
        """Hold a result that was computed elsewhere; one that is there or on its way stays."""
        future: Future[Result] = Future()
        future.set_result(result)
        with self._lock:
            self._results.setdefault(key, future)
            while len(self._results) > self._most:
                self._results.popitem(last=False)

    def discard(self, is_old: Callable[[Key], bool]) -> None:
        """Drop results that nobody will ask for."""
        with self._lock:
            for key in [key for key in self._results if is_old(key)]:
                del self._results[key]

    def get(self, key: Key, compute: Callable[[], Result]) -> Result:
        """Return the result; computes it when absent. Raises what `compute` raises; the next request tries again."""
        with self._lock:
            future = self._results.get(key)
            mine = future is None
            if future is None:
                future = self._results[key] = Future()
                while len(self._results) > self._most:
                    self._results.popitem(last=False)
            else:
                self._results.move_to_end(key)
        if mine:
            try:
                future.set_result(compute())
            except BaseException as error:
                with self._lock:
                    self._results.pop(key, None)
                future.set_exception(error)
        return future.result()
