"""HTTP limits that uvicorn lacks: time to send a request, time to read a response, idle connections.

A connection with half a header costs a file descriptor, and a process has few: some hundred such connections would shut
out all others. Here each step has a time limit and a header a size limit. When too many connections are open, the one
that has waited longest without a complete request is closed.
"""

import asyncio
import json
import time
from collections.abc import Callable
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from annotator.peers import PEER

AT_SHUTDOWN = "at_shutdown"  # in the state of a request: a function that ends its response


class LimitedHttp(HttpToolsProtocol):
    """One connection. Its limits are class attributes."""

    header_seconds: ClassVar[float] = 20.0  # from connecting, or the first byte of a request, to the end of its header
    transfer_seconds: ClassVar[float] = 30.0  # in this time a body or response must advance ...
    transfer_bytes: ClassVar[int] = 30 * 256  # ... by this much: slower than any connection that people use
    largest_header: ClassVar[int] = 64 * 1024  # bytes, including the request line

    _timer: asyncio.TimerHandle | None = None  # of incoming data
    _writing: asyncio.TimerHandle | None = None  # of outgoing data
    _idle_since: float | None = None  # time since which no complete header has arrived; None during a request
    _in_header = _in_body = False
    _answered = 0  # requests so far
    _header_bytes = 0
    _received = 0  # bytes of a body in this period
    _body_bytes = 0  # body bytes in the last data received
    _around_body = 0  # bytes around a body: chunk sizes, extensions, trailers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, closing an idle one when too many are open."""
        limit = self.limit_concurrency
        # uvicorn refuses requests at the limit and counts the requesting connection too.
        if limit is not None and len(self.connections) >= limit - 1 and not self._make_room():
            sentence = "The server has too many open connections. Try again in a few seconds."
            _refuse(transport, 503, sentence, b"retry-after: 5\r\n")
            return
        super().connection_made(transport)
        self._wait_for_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._set_timer(None)
        self._stop_writing_clock()
        self._idle_since = None
        if self.transport is not None:  # else it was never accepted
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count incoming bytes and pass them on."""
        if self.transport is None or self.transport.is_closing():
            return
        self._received += len(data)
        self._body_bytes = 0
        super().data_received(data)
        if self._in_body:
            # A chunk of one byte has five bytes around it; eight are allowed.
            self._around_body = max(0, self._around_body + len(data) - 8 * self._body_bytes)
        if self._in_body and self._around_body > self.largest_header:
            self._end(400, "The request body has too much chunk overhead. Send larger chunks.")
        if self._idle_since is not None and not self._in_body:
            self._header_bytes += len(data)
            if self._header_bytes > self.largest_header:
                self._end(
                    431, f"The request header is larger than the {self.largest_header // 1024} KB allowed. Send less."
                )

    def on_message_begin(self) -> None:
        """Start the header timer, unless an earlier request is still being answered."""
        super().on_message_begin()
        self.scope["state"][PEER] = self.client[0] if self.client else ""
        self._in_header = True
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for_header()

    def on_headers_complete(self) -> None:
        """Start the timer of the body and begin to answer."""
        self._in_header, self._in_body = False, True
        self._idle_since, self._received, self._around_body = None, 0, 0
        self._set_timer(self._look_at_body, self.transfer_seconds)
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Accept headers but no trailers: none is used here, and uvicorn would keep any number of them."""
        if not self._in_body:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Count body bytes, which allow for some overhead around them."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the timer: the request is complete."""
        self._in_body = False
        self._set_timer(None)
        super().on_message_complete()
        if self.cycle.response_complete:
            self._idle_since = time.monotonic()

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn's keep-alive timer limits that."""
        super().on_response_complete()
        self._answered += 1
        if self._in_header:
            self._wait_for_header()
        elif not self._in_body and not self.pipeline:
            self._idle_since, self._header_bytes = time.monotonic(), 0

    def shutdown(self) -> None:
        """Close the connection when its response is complete; a response without an end is asked to end now."""
        super().shutdown()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.scope["state"].get(AT_SHUTDOWN, lambda: None)()

    def pause_writing(self) -> None:
        """Start the timer of a response that the client does not read."""
        if self.transport is not None:
            super().pause_writing()
            self._look_at_answer(None)

    def resume_writing(self) -> None:
        """Stop that timer: the client reads again."""
        self._stop_writing_clock()
        if self.transport is not None:
            super().resume_writing()

    def _wait_for_header(self) -> None:
        self._idle_since, self._header_bytes = time.monotonic(), 0
        sentence = "The request header did not arrive in time. Send the request again."
        self._set_timer(lambda: self._end(408, sentence), self.header_seconds)

    def _look_at_body(self) -> None:
        """End a request whose body has stalled, unless the application itself has paused reading."""
        if not self.flow.read_paused and self._received < self.transfer_bytes:
            self._end(408, "The request body did not arrive in time. Send the request again.")
            return
        self._received = 0
        self._set_timer(self._look_at_body, self.transfer_seconds)

    def _look_at_answer(self, left: int | None) -> None:
        """Abort a connection whose response is not read; `left`: bytes unsent at the last check."""
        self._stop_writing_clock()
        waiting = self.transport.get_write_buffer_size()
        if left is not None and waiting > left - self.transfer_bytes:
            self.transport.abort()
            return
        self._writing = self.loop.call_later(self.transfer_seconds, self._look_at_answer, waiting)

    def _make_room(self) -> bool:
        """Close the longest-idle connection, preferring those that never sent a request.

        Return whether there was one.
        """
        idle = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedHttp) and connection._idle_since is not None
        ]
        if not idle:
            return False
        oldest = min(idle, key=lambda connection: (connection._answered > 0, connection._idle_since))
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True

    def _end(self, status: int, sentence: str) -> None:
        """Send one sentence, unless a response has begun, and close the connection."""
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
