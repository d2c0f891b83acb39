"""Parts of a job, the interface that runs them, and the loop that waits for them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from engine.jobs.cancellation import ShouldStop, Stopped

Report = Callable[[Any], None]
OnReport = Callable[[int, Any], None]  # number of the part, and what it reported
OnResult = Callable[[int, Any], None]


PartFunction = Callable[..., Any]
"""Does a part: `function(workspace, *arguments, report=..., should_stop=...)` returns its result.

It is a function of a module, because another process finds it by its name. `workspace` is that of the process.
`report` is a Report, and what it is given reaches the caller of `run_parts`; `should_stop` is as of a job's handler. A
part may run twice, when its process was lost: what it stores replaces what an earlier try stored.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a job: a function and its arguments, which another machine can read (ids and settings, no open files)."""

    function: PartFunction
    arguments: tuple[Any, ...] = ()


class Executor(AbstractContextManager["Executor"], Protocol):
    """Runs parts, as many at a time as it has room for. Leaving its context ends all of them."""

    @property
    def has_room(self) -> bool:
        """Whether another part would begin now, or soon."""
        ...

    @property
    def shares_disk(self) -> bool:
        """Whether every part reaches the files of this machine."""
        ...

    def submit(self, number: int, part: Part) -> None:
        """Take a part; `number` names it in reports and results."""
        ...

    def progress(self, on_report: OnReport) -> Sequence[tuple[int, Any]]:
        """Wait a moment, hand over reports, and return the parts that ended, with their results.

        Raises what a part raised, Refused and Stopped as they are.
        """
        ...

    def cancel(self) -> None:
        """Stop all parts; returns when none runs."""
        ...


def run_parts(
    executor: Executor,
    parts: Iterable[Part],
    *,
    on_report: OnReport = lambda number, value: None,
    on_result: OnResult = lambda number, value: None,
    should_stop: ShouldStop = lambda: None,
) -> list[Any]:
    """Run parts, and return their results in the order of the parts.

    Args:
        executor: Where they run; entered by this function.
        parts: Taken from only while there is room, so millions may follow each other.
        on_report: Hears what the parts report, in the order of each one.
        on_result: Hears of results as they come, in any order.
        should_stop: Asked about once a second, or at each step of a part that runs here.

    Raises:
        Stopped: `should_stop` gave a reason. No part runs any more.
        Exception: What a part raised; the others are stopped.
    """
    results: dict[int, Any] = {}
    coming = enumerate(parts)
    running = 0
    with executor:
        while True:
            while executor.has_room and (following := next(coming, None)) is not None:
                executor.submit(*following)
                running += 1
            if not running:
                return [results[number] for number in sorted(results)]
            for number, result in executor.progress(on_report):
                running -= 1
                results[number] = result
                on_result(number, result)
            reason = should_stop()
            if reason is not None:
                executor.cancel()
                raise Stopped(reason)
