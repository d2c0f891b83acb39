"""One POST to an address of somebody else: within a time limit, to a checked address, without following redirects."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore

from engine.webhooks.addresses import Unresolved, resolve

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0
STEP_SECONDS = 0.5  # of waiting for the receiver between two looks at the clock
SLICE = 65_536  # bytes of a body that are sent between two looks at the clock


class SendingFailed(Exception):
    """No answer came. The message is one sentence; another attempt may succeed."""


class Interrupted(Exception):
    """The caller wanted no answer any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """HTTP status and content of an answer."""

    status: int
    content: bytes


def post(url: str, headers: Mapping[str, str], body: bytes, allowed: Sequence[str]) -> int:
    """Send a body, and return the HTTP status of the answer, whose content is not read.

    Args:
        url: Checked with addresses.check_url.
        headers: Beside those of every request.
        body: JSON.
        allowed: Private addresses and networks that may be reached.

    Raises:
        SendingFailed: The host has no address, no connection was made, or no answer came in time.
        AddressRefused: The host resolves to a private address.
    """
    with _exchange(url, headers, body, allowed, _Clock(TOTAL_SECONDS), "receiver") as response:
        return response.status


def post_and_read(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    allowed: Sequence[str],
    *,
    seconds: float,
    most_bytes: int,
    who: str,
    stops: Callable[[], bool],
) -> Answer:
    """Send a body, and return the answer with its content.

    Args:
        url: Address that the caller has checked.
        headers: Beside those of every request.
        body: JSON.
        allowed: Private addresses and networks that may be reached.
        seconds: Longest time until the last byte of the answer.
        most_bytes: Longest content of the answer.
        who: Receiver, for sentences.
        stops: Asked about twice a second whether to give up.

    Raises:
        SendingFailed: As `post`; or the answer is longer.
        AddressRefused: The host resolves to a private address that is not allowed.
        Interrupted: `stops` said so.
    """
    content = bytearray()
    with _exchange(url, headers, body, allowed, _Clock(seconds, stops), who) as response:
        for part in response.iter_stream():
            content += part
            if len(content) > most_bytes:
                raise SendingFailed(f"The {who} sent an answer of more than {most_bytes:,} bytes.")
        return Answer(response.status, bytes(content))


@contextmanager
def _exchange(
    url: str, headers: Mapping[str, str], body: bytes, allowed: Sequence[str], clock: "_Clock", who: str
) -> Iterator[httpcore.Response]:
    limits = {"connect": CONNECT_SECONDS, **dict.fromkeys(("read", "write", "pool"), clock.left())}
    sent: dict[bytes | str, bytes | str] = {"content-type": "application/json", "user-agent": "Glossator"}
    sent.update(headers.items())
    try:
        with (
            httpcore.ConnectionPool(max_connections=1, network_backend=_CheckedBackend(allowed, clock)) as pool,
            pool.stream("POST", url, headers=sent, content=body, extensions={"timeout": limits}) as response,
        ):
            yield response
    except Unresolved as error:
        raise SendingFailed(str(error)) from None
    except httpcore.TimeoutException:
        raise SendingFailed(f"The {who} did not answer in time.") from None
    except httpcore.ConnectError:
        raise SendingFailed(f"No connection could be made to the {who}.") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError):
        raise SendingFailed(f"The {who} ended the connection without an answer.") from None


class _Clock:
    """Time that is left for an exchange, `seconds` at first; `stops` ends it early."""

    def __init__(self, seconds: float, stops: Callable[[], bool] = lambda: False) -> None:
        self._ends, self._stops = time.monotonic() + seconds, stops

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            httpcore.ReadTimeout: None are.
            Interrupted: `stops` said so.
        """
        if self._stops():
            raise Interrupted
        seconds = self._ends - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout
        return seconds


class _CheckedBackend(httpcore.NetworkBackend):
    """Connects to the addresses that were checked, one after the other, and to nothing else."""

    def __init__(self, allowed: Sequence[str], clock: _Clock) -> None:
        self._allowed, self._clock = allowed, clock
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Resolve, check and connect; `timeout` seconds for all of it."""
        clock = _Clock(min(self._clock.left(), timeout or CONNECT_SECONDS))
        addresses = resolve(host, port, self._allowed, clock.left())
        for address in addresses:
            try:
                stream = self._sockets.connect_tcp(address, port, clock.left(), local_address, socket_options)
            except httpcore.ConnectError:
                if address == addresses[-1]:
                    raise
            else:
                return _TimedStream(stream, self._clock)
        raise AssertionError("resolve returns an address or raises")


class _TimedStream(httpcore.NetworkStream):
    """A connection whose every step ends with the clock: a receiver that sends a byte a second does not prolong it."""

    def __init__(self, stream: httpcore.NetworkStream, clock: _Clock) -> None:
        self._stream, self._clock = stream, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while True:
            left = self._clock.left()
            try:
                return self._stream.read(max_bytes, min(left, STEP_SECONDS))
            except httpcore.ReadTimeout:
                continue  # the clock says when it is too late

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # Straight to the socket: the write of httpcore begins its time anew with every part that the receiver takes.
        socket, left = self._stream.get_extra_info("socket"), memoryview(buffer)
        while left:
            socket.settimeout(min(self._clock.left(), STEP_SECONDS))
            try:
                left = left[socket.send(left[:SLICE]) :]
            except TimeoutError:
                continue  # the clock says when it is too late
            except OSError as error:
                raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, self._clock.left()), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
