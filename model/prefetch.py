"""Make the examples of the next steps in background processes while the network learns from earlier ones.

A source is a pure function of the step, so its examples are the same wherever they are made. Processes are forked, as
torch's DataLoader does on Linux: a source may be a closure over a large corpus, which is then shared and not copied.
"""

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Any, Generic, TypeVar

import torch

T = TypeVar("T")

BLOCK = 12  # consecutive requests that one process answers: sources draw the pages of six steps together

_Answer = tuple[int, Any, BaseException | None]  # step, examples or None, error


class WorkerLost(RuntimeError):
    """A process that made examples was ended from outside."""


class Prefetched(Generic[T]):
    """A source whose next results are made ahead in background processes.

    It expects to be asked for steps in the order first, first + stride, first + 2 * stride and so on, where the first
    is what it is asked for first. It may skip steps; another order is answered correctly, after a new start.

    Attributes:
        given: number of examples returned so far, for the figure of examples a second.
    """

    def __init__(self, source: Callable[[int], T], workers: int, stride: int = 1) -> None:
        """Wrap a source; `workers` processes start with the first request, none with `workers` = 0."""
        self.given = 0
        self._source, self._workers, self._stride = source, workers, stride
        self._running: list[tuple[ForkProcess, Connection]] = []
        self._first = self._next = 0  # step of the first request, and number of the next one after it

    def __call__(self, step: int) -> T:
        """Return the examples of a step.

        Raises:
            WorkerLost: a background process was killed.
            Exception: what the source raised for this step.
        """
        result = self._take(step) if self._workers else self._source(step)
        self.given += len(result) if isinstance(result, Sized) else 1
        return result

    def close(self) -> None:
        """End the background processes."""
        for process, _ in self._running:
            process.kill()  # nothing to tidy up; a signal that is caught could come before its handler is reset
        for process, answers in self._running:
            process.join()
            answers.close()
        self._running = []

    def _take(self, step: int) -> T:
        ahead, off = divmod(step - self._first, self._stride)
        if not self._running or off or not self._next <= ahead < self._next + BLOCK * self._workers:
            self._start(step)
            ahead = 0
        while True:
            made, result, error = self._receive(self._next // BLOCK % self._workers)
            self._next += 1
            if self._next > ahead:
                break
        assert made == step
        if error is not None:
            self.close()
            raise error
        example: T = result
        return example

    def _receive(self, worker: int) -> _Answer:
        process, answers = self._running[worker]
        try:
            answer: _Answer = answers.recv()
        except (EOFError, OSError):
            self.close()
            raise WorkerLost(
                f"A process that prepares examples was ended from outside (code {process.exitcode}); "
                "memory may be short: use fewer --workers."
            ) from None
        return answer

    def _start(self, first: int) -> None:
        self.close()
        self._first, self._next = first, 0
        fork = multiprocessing.get_context("fork")
        for worker in range(self._workers):
            answers, sends = fork.Pipe(duplex=False)
            process = fork.Process(target=self._work, args=(worker, answers, sends), daemon=True)
            process.start()
            sends.close()  # the process holds the only other end, so that its end is noticed here
            self._running.append((process, answers))

    def _work(self, worker: int, answers: Connection, sends: Connection) -> None:
        """Make the examples of this process's blocks until it is ended."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the handlers are those of the training process
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the training process ends us
        for inherited in (answers, *(earlier for _, earlier in self._running)):
            inherited.close()  # with no reader left, sending fails, and this process ends
        torch.set_num_threads(1)  # a pool of threads does not survive a fork
        finished: queue.Queue[_Answer] = queue.Queue(BLOCK)
        threading.Thread(target=_send, args=(finished, sends), daemon=True).start()
        number = worker * BLOCK
        while True:
            step = self._first + number * self._stride
            try:
                finished.put((step, self._source(step), None))
            except Exception as error:
                finished.put((step, None, _portable(error)))
            number += 1
            if number % BLOCK == 0:
                number += BLOCK * (self._workers - 1)


def _send(finished: "queue.Queue[_Answer]", sends: Connection) -> None:
    """Send what is finished, until the training process is gone."""
    while True:
        try:
            sends.send(finished.get())
        except OSError:
            os._exit(0)  # the other thread may wait for room


@contextmanager
def prefetch(source: Callable[[int], T], workers: int, stride: int = 1) -> Iterator[Prefetched[T]]:
    """Make the examples of a source ahead, in order, in `workers` background processes.

    Each process keeps about `BLOCK` finished results and one in the making.

    Args:
        source: a pure function of the step.
        workers: number of processes; 0 calls the source in this process.
        stride: distance of the steps that are asked for: the number of processes that learn together.

    Yields:
        A source with equal results. All its processes have ended when the context ends.
    """
    wrapped = Prefetched(source, workers, stride)
    try:
        yield wrapped
    finally:
        wrapped.close()


def _portable(error: Exception) -> Exception:
    """Return an error that another process can read, with the traceback as a note."""
    note = "".join(traceback.format_exception(error))
    try:
        again: Exception = pickle.loads(pickle.dumps(error))
        if str(again) != str(error):
            raise ValueError
    except Exception:
        again = RuntimeError(str(error))
    again.add_note(f"In a process that prepares examples:\n{note}")
    return again
