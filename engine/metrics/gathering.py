"""Gathers the metrics of all processes of a `glossator serve`, or of a worker that runs by itself.

The process that starts others asks each over a pipe; what has died is not asked any more, so none of its series stays.
A process that was started asks the one that started it, so that a scrape of the web port shows all processes, too.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from engine.metrics.counted import REGISTRY
from engine.metrics.families import collect, from_wire, to_text, to_wire
from engine.metrics.pipes import Asking, answer_questions

PIPES, NAME = "GLOSSATOR_METRICS_PIPES", "GLOSSATOR_METRICS_PROCESS"  # descriptors of a process that was started
_CHILDREN_SECONDS = 2.0  # for which processes may keep a scrape waiting, all together
_LEAST_SECONDS = 0.05  # for each, also after one that does not answer
_PARENT_SECONDS = 8.0
_log = logging.getLogger(__name__)


class NoAnswer(Exception):
    """The process that gathers the metrics does not answer."""


class Gatherer:
    """Metrics of this process, of those that it started, and of the installation. Thread-safe.

    Args:
        process: Name of this process, the label of its series.
    """

    def __init__(self, process: str = "web-1") -> None:
        self.process = process
        self._collectors: list[Collector] = [REGISTRY, ProcessCollector(registry=None)]
        self._of_installation: list[Collector] = []
        self._children: dict[str, Asking] = {}
        self._parent: Asking | None = None
        self._changing, self._gathering = threading.Lock(), threading.Lock()

    @property
    def is_child(self) -> bool:
        """Whether another process gathers, so that this one needs no metrics of the installation."""
        return self._parent is not None

    def add(self, collector: Collector) -> None:
        """Add metrics of this process."""
        self._collectors.append(collector)

    def add_of_installation(self, collector: Collector) -> None:
        """Add metrics that are the same seen from any process; they have no label for it."""
        self._of_installation.append(collector)

    @contextmanager
    def child(self, process: str) -> Iterator[tuple[Mapping[str, str], tuple[int, ...]]]:
        """Ask a process while it runs; yield the variables and descriptors that it has to inherit."""
        (asking, answering), (asked, asks) = Pipe(), Pipe()
        variables = {PIPES: f"{answering.fileno()},{asks.fileno()}", NAME: process}
        child = Asking(asking)
        answer_questions(asked, self.text)
        with self._changing:
            self._children[process] = child
        try:
            with answering, asks:
                yield variables, (answering.fileno(), asks.fileno())
        finally:
            with self._changing:
                self._children.pop(process, None)
            child.close()

    def join(self) -> None:
        """Answer the process that started this one, where it gathers metrics."""
        pipes = os.environ.pop(PIPES, "")
        if not pipes:
            return
        self.process = os.environ.pop(NAME)
        answering, asks = (int(descriptor) for descriptor in pipes.split(","))
        for descriptor in (answering, asks):
            os.set_inheritable(descriptor, False)
        answer_questions(Connection(answering), lambda: to_wire(self._own()))
        self._parent = Asking(Connection(asks))

    def text(self) -> bytes:
        """Return the metrics of all processes, in Prometheus' text format.

        Raises:
            NoAnswer: The process that gathers them does not answer.
        """
        if self._parent is not None:
            text = self._parent.ask(_PARENT_SECONDS)
            if text is None:
                raise NoAnswer
            return text
        with self._gathering:
            return to_text([*collect(self._of_installation, None), *self._own(), *self._of_children()])

    def _own(self) -> list[Metric]:
        return collect(self._collectors, self.process)

    def _of_children(self) -> Iterator[Metric]:
        with self._changing:
            children = dict(self._children)
        last = time.monotonic() + _CHILDREN_SECONDS
        for process, child in children.items():
            message = child.ask(max(_LEAST_SECONDS, last - time.monotonic()))
            if message is None:
                continue  # it is starting, or ending
            try:
                yield from from_wire(message)
            except (ValueError, TypeError):
                _log.warning("the metrics of the process %s cannot be read", process)


HERE = Gatherer()
