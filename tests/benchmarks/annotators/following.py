"""What a window fetches when others change something: as `annotator/static/sync/following.js`, with its pauses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

ECHO = FIGURES = 1.5  # seconds
MOST = 50  # documents that are fetched line by line
FEW = 4  # changes of a round after which there is no rest
REST, LONGEST_REST = 0.25, 30.0  # seconds, for each further one and at most


class Screen(Protocol):
    """What is open in a window, and what fetches it anew."""

    project: str
    document: str | None
    saved_at: float

    def shows(self, document: str) -> bool: ...
    async def refresh_list(self) -> None: ...
    async def refresh_lines(self, documents: list[str]) -> None: ...
    async def refresh_document(self) -> None: ...
    async def refresh_tasks(self) -> None: ...
    async def refresh_projects(self) -> None: ...
    async def refresh_questions(self) -> None: ...


class Following:
    """Follows the changes for one window.

    Args:
        screen: what is open.
        begin: starts a task that ends with the window.
    """

    def __init__(self, screen: Screen, begin: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        self.screen, self.begin = screen, begin
        self.lines: set[str] = set()
        self.wanted: set[str] = set()
        self.awaited: set[str] = set()
        self.heard: set[tuple[str, str]] = set()
        self.resting = 0.0  # monotonic time before which what others do is not fetched
        self.running = self.urgent = self.overdue = False
        self.later: asyncio.TimerHandle | None = None

    def hear(self, view: dict[str, Any]) -> None:
        """Take an event of the stream."""
        if view["all"]:
            self.wanted |= {"projects", "list", "answers", "tasks", "questions"}
            self.urgent = True
            self.run()
        for change in view["changes"]:
            self._hear(change["project_id"], change["topic"], change["subjects"])

    def _hear(self, project: str | None, topic: str, subjects: list[str] | None) -> None:
        if topic in ("projects", "members"):
            self.wanted.add("projects")
        elif topic not in ("documents", "answers", "figures", "tasks", "questions") or project not in (
            None,
            self.screen.project,
        ):
            return
        elif topic in ("tasks", "questions"):
            self.wanted.add(topic)
        else:
            self._hear_documents(topic, subjects)
        often = topic in ("answers", "figures", "tasks")
        if not often and (topic != "documents" or self.screen.document in (subjects or ())):
            self.urgent = True
        self.heard.update((topic, subject) for subject in subjects or [""])
        if topic == "answers" and time.monotonic() - self.screen.saved_at < ECHO:
            self._run_later(ECHO)
        else:
            self.run()

    def _hear_documents(self, topic: str, subjects: list[str] | None) -> None:
        shown = [each for each in subjects or () if topic == "documents" or self.screen.shows(each)]
        if topic == "answers":
            self.awaited.update(shown)
            if self.awaited and not self.overdue:
                self.overdue = True
                self.begin(self._wait_for_figures())
        else:
            self.lines.update(shown)
            self.awaited.difference_update(shown)
            if subjects is None or len(self.lines) > MOST:
                self.wanted.add("list")
        if topic != "figures" and (subjects is None or self.screen.document in subjects):
            self.wanted.add("answers")
        if topic == "figures":
            self.wanted.add("tasks")

    def run(self) -> None:
        """Fetch what is wanted, one round at a time."""
        if self.later is not None:
            self.later.cancel()
            self.later = None
        if not self.running and not self._waits():
            self.running = True
            self.begin(self._rounds())

    def _run_later(self, seconds: float) -> None:
        if self.later is None:
            self.later = asyncio.get_running_loop().call_later(seconds, self.run)

    def _waits(self) -> bool:
        left = self.resting - time.monotonic()
        if left <= 0 or self.urgent:
            return False
        if self.wanted or self.lines:
            self._run_later(left)
        return True

    def stop(self) -> None:
        """Fetch nothing any more."""
        self.running = True
        if self.later is not None:
            self.later.cancel()

    async def _rounds(self) -> None:
        try:
            while (self.wanted or self.lines) and not self._waits():
                await self._round()
        finally:
            self.running = False

    async def _round(self) -> None:
        wanted, lines = self.wanted, list(self.lines)
        self.wanted, self.lines, self.urgent = set(), set(), False
        self.resting = time.monotonic() + min(LONGEST_REST, REST * (len(self.heard) - FEW))
        self.heard = set()
        steps: dict[str, Callable[[], Awaitable[None]]] = {
            "projects": self.screen.refresh_projects,
            "list": self.screen.refresh_list,
            "answers": self.screen.refresh_document,
            "tasks": self.screen.refresh_tasks,
            "questions": self.screen.refresh_questions,
        }
        parts = [step() for name, step in steps.items() if name in wanted]
        if lines and "list" not in wanted:
            parts.append(self.screen.refresh_lines(lines))
        await asyncio.gather(*parts)

    async def _wait_for_figures(self) -> None:
        await asyncio.sleep(FIGURES)
        self.overdue = False
        self.lines |= self.awaited
        self.awaited = set()
        self.run()
