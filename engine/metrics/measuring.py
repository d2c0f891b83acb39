"""Times a piece of work, and names how it ended."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import Histogram

from engine.errors import Refused
from engine.tracing import span


@dataclass(slots=True)
class Ended:
    """How a piece of work ended; it may name another outcome while it runs."""

    outcome: str


@contextmanager
def measure(
    name: str, seconds: Histogram, outcome: str, *, refusals: tuple[type[Exception], ...] = ()
) -> Iterator[Ended]:
    """Observe the seconds of the work inside, under its outcome, and trace it.

    Args:
        name: Of the work, in traces.
        seconds: Histogram with the label `outcome` alone.
        outcome: Without an exception, unless the work names another one; "refused" or "failed" after one.
        refusals: Exceptions besides Refused that refuse the request.
    """
    ended = Ended(outcome)
    began = time.perf_counter()
    with span(name) as attributes:
        try:
            yield ended
        except BaseException as error:
            ended.outcome = "refused" if isinstance(error, (Refused, *refusals)) else "failed"
            raise
        finally:
            attributes["outcome"] = ended.outcome
            seconds.labels(ended.outcome).observe(time.perf_counter() - began)
