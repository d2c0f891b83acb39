"""One POST to an address of somebody else: within a time limit, to a checked address, without following redirects."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpcore

from engine.webhooks.addresses import Unresolved, resolve

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0


class SendingFailed(Exception):
    """No answer came. The message is one sentence; another attempt may succeed."""


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
    deadline = time.monotonic() + TOTAL_SECONDS
    backend = _CheckedBackend(allowed, deadline)
    limits = {"connect": CONNECT_SECONDS, "read": TOTAL_SECONDS, "write": TOTAL_SECONDS, "pool": TOTAL_SECONDS}
    sent: dict[bytes | str, bytes | str] = {"content-type": "application/json", "user-agent": "Glossator"}
    sent.update(headers.items())
    try:
        with (
            httpcore.ConnectionPool(max_connections=1, network_backend=backend) as pool,
            pool.stream("POST", url, headers=sent, content=body, extensions={"timeout": limits}) as response,
        ):
            return response.status
    except Unresolved as error:
        raise SendingFailed(str(error)) from None
    except httpcore.TimeoutException:
        raise SendingFailed("The receiver did not answer in time.") from None
    except httpcore.ConnectError:
        raise SendingFailed("No connection could be made to the receiver.") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError):
        raise SendingFailed("The receiver ended the connection without an answer.") from None


class _CheckedBackend(httpcore.NetworkBackend):
    """Connects to the addresses that were checked, one after the other, and to nothing else."""

    def __init__(self, allowed: Sequence[str], deadline: float) -> None:
        self._allowed, self._deadline = allowed, deadline
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
        ends = min(self._deadline, time.monotonic() + (timeout or CONNECT_SECONDS))
        addresses = resolve(host, port, self._allowed, _left(ends))
        for address in addresses:
            try:
                stream = self._sockets.connect_tcp(address, port, _left(ends), local_address, socket_options)
            except httpcore.ConnectError:
                if address == addresses[-1]:
                    raise
            else:
                return _TimedStream(stream, self._deadline)
        raise AssertionError("resolve returns an address or raises")


class _TimedStream(httpcore.NetworkStream):
    """A connection whose every step ends at the deadline: a receiver that sends a byte a second does not prolong it."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left(self._deadline)), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(deadline: float) -> float:
    """Return the seconds until a deadline. Raises httpcore.ReadTimeout behind it."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise httpcore.ReadTimeout
    return seconds
