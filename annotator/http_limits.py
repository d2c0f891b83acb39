"""HTTP with limits that uvicorn has none of: how long a request may take to arrive, an answer to be read, and how many may wait.

A connection that has sent half a header costs a file descriptor, and a process has few of them: some hundred such connections
would shut everybody else out. Here each step has its time, a header its size, and where too many connections are open, the one
that has waited longest without a whole request makes room.
"""

import asyncio
import json
import time
from collections.abc import Callable
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol


class LimitedHttp(HttpToolsProtocol):
    """One connection. Its limits are those of the class."""

    header_seconds: ClassVar[float] = (
        20.0  # from the first byte of a request, or from connecting, to the end of its header
    )
    transfer_seconds: ClassVar[float] = 30.0  # a body, or an answer, must move on within so long ...
    transfer_bytes: ClassVar[int] = 30 * 256  # ... by so much: less than any line that people use gives
    largest_header: ClassVar[int] = 64 * 1024  # bytes, the address of the request among them

    _timer: asyncio.TimerHandle | None = None  # of what comes in
    _writing: asyncio.TimerHandle | None = None  # of what goes out
    _idle_since: float | None = None  # no whole header is there since; None while a request is answered
    _in_header = _in_body = False
    _answered = 0  # requests so far
    _header_bytes = 0
    _received = 0  # bytes of a body in this span of time
    _body_bytes = 0  # of what came in last
    _around_body = 0  # bytes that came with a body and are none of it: sizes of chunks, their extensions, trailers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room where too many connections are open, then take this one."""
        limit = self.limit_concurrency
        # uvicorn refuses requests from the limit on, and counts the connection that asks.
        if limit is not None and len(self.connections) >= limit - 1 and not self._make_room():
            sentence = "The server has too many connections. Try again in a few seconds."
            _refuse(transport, 503, sentence, b"retry-after: 5\r\n")
            return
        super().connection_made(transport)
        self._wait_for_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks."""
        self._set_timer(None)
        self._stop_writing_clock()
        self._idle_since = None
        if self.transport is not None:  # else it was never taken
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes in, and pass it on."""
        if self.transport is None or self.transport.is_closing():
            return
        self._received += len(data)
        self._body_bytes = 0
        super().data_received(data)
        if self._in_body:
            # A chunk of one byte has five bytes around it, so eight are allowed for each.
            self._around_body = max(0, self._around_body + len(data) - 8 * self._body_bytes)
        if self._in_body and self._around_body > self.largest_header:
            self._end(400, "The body of the request is wrapped in more than it holds.")
        if self._idle_since is not None and not self._in_body:
            self._header_bytes += len(data)
            if self._header_bytes > self.largest_header:
                self._end(431, "The header of the request is too large.")

    def on_message_begin(self) -> None:
        """Start the clock of a header, unless it comes behind a request that is still being answered."""
        super().on_message_begin()
        self._in_header = True
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_header()

    def on_headers_complete(self) -> None:
        """Begin to answer; what is left is the body, which has a clock of its own."""
        self._in_header, self._in_body = False, True
        self._idle_since, self._received, self._around_body = None, 0, 0
        self._set_timer(self._look_at_body, self.transfer_seconds)
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, and no trailer: nobody here reads those behind a body, and uvicorn would keep them without end."""
        if not self._in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Count a piece of the body, which pays for what comes around it."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the clock: all of the request is there."""
        self._in_body = False
        self._set_timer(None)
        super().on_message_complete()
        if self.cycle.response_complete:
            self._idle_since = time.monotonic()

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn's own clock says how long."""
        super().on_response_complete()
        self._answered += 1
        if self._in_header:
            self._wait_for_header()
        elif not self._in_body and not self.pipeline:
            self._idle_since, self._header_bytes = time.monotonic(), 0

    def pause_writing(self) -> None:
        """Start the clock of an answer that is not being read."""
        if self.transport is not None:
            super().pause_writing()
            self._look_at_answer(None)

    def resume_writing(self) -> None:
        """Stop it: the answer is being read."""
        self._stop_writing_clock()
        if self.transport is not None:
            super().resume_writing()

    def _wait_for_header(self) -> None:
        self._idle_since, self._header_bytes = time.monotonic(), 0
        sentence = "The header of the request did not arrive in time."
        self._set_timer(lambda: self._end(408, sentence), self.header_seconds)

    def _look_at_body(self) -> None:
        """End a request whose body has come to a halt. While the application does not read, nothing can come."""
        if not self.flow.read_paused and self._received < self.transfer_bytes:
            self._end(408, "The body of the request did not arrive in time.")
            return
        self._received = 0
        self._set_timer(self._look_at_body, self.transfer_seconds)

    def _look_at_answer(self, left: int | None) -> None:
        """Cut a connection whose answer is not being read. left: bytes that waited at the last look."""
        self._stop_writing_clock()
        waiting = self.transport.get_write_buffer_size()
        if left is not None and waiting > left - self.transfer_bytes:
            self.transport.abort()
            return
        self._writing = self.loop.call_later(self.transfer_seconds, self._look_at_answer, waiting)

    def _make_room(self) -> bool:
        """Close the connection that has waited longest without a whole request, those that never sent one first."""
        idle = [each for each in self.connections if isinstance(each, LimitedHttp) and each._idle_since is not None]
        if not idle:
            return False
        oldest = min(idle, key=lambda each: (each._answered > 0, each._idle_since))
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True

    def _end(self, status: int, sentence: str) -> None:
        """Answer in one sentence where nothing was answered yet, and close."""
        self._set_timer(None)
        if self.transport.is_closing():
            return
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
        else:
            _refuse(self.transport, status, sentence)

    def _set_timer(self, act: Callable[[], None] | None, seconds: float = 0) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if act is None else self.loop.call_later(seconds, act)

    def _stop_writing_clock(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None


def _refuse(transport: asyncio.Transport, status: int, sentence: str, more: bytes = b"") -> None:
    body = json.dumps({"detail": sentence}).encode()
    head = b"content-type: application/json\r\nconnection: close\r\n%scontent-length: %d\r\n\r\n" % (more, len(body))
    transport.write(STATUS_LINE[status] + head + body)
    transport.close()
