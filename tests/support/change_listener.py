"""A browser that follows the stream of changes, for tests."""

import json
import socket
import threading
import time
from types import TracebackType
from typing import Any, Self

import httpx

_SECONDS = 120.0  # until a test gives up waiting


class Listener:
    """Reads a stream in a thread, and notes its events.

    Attributes:
        response: The answer, as soon as its header has come.
        views: Data of the events, the first one included; of another answer than 200 its body.
        names: Names of events that have one.
        heard_at: Monotonic seconds of each event.
        ended: Set when the answer has ended.
    """

    def __init__(
        self, address: str, cookie: dict[str, str], headers: dict[str, str] | None = None, since: int | None = None
    ) -> None:
        self._client = httpx.Client(base_url=address, cookies=cookie, headers=headers, timeout=_SECONDS)
        self._query = {} if since is None else {"since": since}
        self.response: httpx.Response | None = None
        self.views: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.heard_at: list[float] = []
        self.ended = threading.Event()
        self._noted = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        """Wait for the first event, or for a refusal."""
        self._thread.start()
        self.wait(lambda: bool(self.views))
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.leave()
        self._thread.join(timeout=5)

    def leave(self) -> None:
        """Close the connection, as a window that is closed does."""
        if self.response is not None and not self.ended.is_set():
            at: socket.socket = self.response.extensions["network_stream"].get_extra_info("socket")
            at.shutdown(socket.SHUT_RDWR)

    @property
    def topics(self) -> set[tuple[str | None, str]]:
        """Project and topic of each change so far."""
        return {(each["project_id"], each["topic"]) for view in self.views for each in view["changes"]}

    def subjects(self, topic: str) -> list[str]:
        """Subjects of all changes of a topic so far, in order."""
        lines = [each for view in self.views for each in view["changes"] if each["topic"] == topic]
        return [subject for each in lines for subject in each["subjects"] or ()]

    def wait(self, condition: Any) -> None:
        """Wait until a condition on what was heard holds."""
        with self._noted:
            assert self._noted.wait_for(condition, _SECONDS), f"heard {self.views} and {self.names}"

    def hear(self, topic: str, project_id: str | None) -> None:
        """Wait until a change of the topic has come."""
        self.wait(lambda: (project_id, topic) in self.topics)

    def _read(self) -> None:
        try:
            with self._client, self._client.stream("GET", "/api/changes", params=self._query) as response:
                self.response = response
                if response.status_code != 200:
                    self._note(json.loads(response.read()))
                    return
                for line in response.iter_lines():
                    if line.startswith("event: "):
                        self.names.append(line.removeprefix("event: "))
                    elif line.startswith("data: ") and not self.names:
                        self._note(json.loads(line.removeprefix("data: ")))
        except (httpx.HTTPError, OSError):
            pass  # left, or cut
        finally:
            self.ended.set()
            with self._noted:
                self._noted.notify_all()

    def _note(self, view: dict[str, Any]) -> None:
        with self._noted:
            self.views.append(view)
            self.heard_at.append(time.monotonic())
            self._noted.notify_all()
