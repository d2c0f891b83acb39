"""Local executor: parts run one after the other in this process, with its threads."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Self

from engine.executors.executor import OnReport, Part
from engine.jobs.cancellation import ShouldStop
from engine.workspace import Workspace


class LocalExecutor:
    """Runs parts in this process, in their order. Arguments: the workspace, and when a part should stop."""

    def __init__(self, workspace: Workspace, should_stop: ShouldStop) -> None:
        self._workspace, self._should_stop = workspace, should_stop
        self._waiting: deque[tuple[int, Part]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    @property
    def has_room(self) -> bool:
        """Whether no part waits."""
        return not self._waiting

    @property
    def shares_disk(self) -> bool:
        """Whether every part reaches the files of this machine."""
        return True

    def submit(self, number: int, part: Part) -> None:
        """Take a part; it runs in `progress`."""
        self._waiting.append((number, part))

    def progress(self, on_report: OnReport) -> Sequence[tuple[int, Any]]:
        """Run the part that waits longest, to its end."""
        number, part = self._waiting.popleft()
        result = part.function(
            self._workspace,
            *part.arguments,
            report=lambda value: on_report(number, value),
            should_stop=self._should_stop,
        )
        return [(number, result)]

    def cancel(self) -> None:
        """Forget the parts that wait."""
        self._waiting.clear()
