"""Connections that send half a request, or read no answer, cost nobody else anything."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from annotator.http_limits import LimitedHttp
from engine.commands.servers.serve import PROTOCOL, server_options
from engine.settings import Settings
from tests.support.server_thread import served

PATIENCE = 60  # seconds until a test gives up waiting
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "


class Hasty(LimitedHttp):
    """The limits of the program, but shorter."""

    header_seconds = 0.4
    transfer_seconds = 0.4
    transfer_bytes = 100


class Site:
    """An application that answers at once, after a while, or with more than a line holds."""

    def __init__(self) -> None:
        self.busy = threading.Semaphore(0)
        self.cut = threading.Event()
        self.go_on = threading.Event()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/body":
            while (message := await receive()).get("more_body"):
                pass
            if message["type"] == "http.disconnect":
                self.cut.set()
                return
        if scope["path"] == "/busy":
            self.busy.release()
            while not self.go_on.is_set():
                await asyncio.sleep(0.02)
        if scope["path"] == "/slow":
            await asyncio.sleep(3 * Hasty.transfer_seconds)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/large":
            waiting = asyncio.ensure_future(receive_end(receive))
            while not waiting.done():
                await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
                await asyncio.sleep(0)
            self.cut.set()
        await send({"type": "http.response.body", "body": b"done"})


async def receive_end(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@contextlib.contextmanager
def site(protocol: type[LimitedHttp] = Hasty, connections: int = 1000) -> Iterator[tuple[Site, tuple[str, int]]]:
    application = Site()
    with served(application, http=protocol, ws="none", limit_concurrency=connections) as address:
        yield application, ("127.0.0.1", int(address.rsplit(":", 1)[1]))


def connected(to: tuple[str, int], sent: bytes = b"") -> socket.socket:
    line = socket.create_connection(to, timeout=PATIENCE)
    line.sendall(sent)
    return line


def said(line: socket.socket) -> bytes:
    """All that the server says until it closes; empty where it just cuts the line."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := line.recv(65536):
            found += piece
    return found


@pytest.mark.parametrize("sent", [b"", b"GET", HALF, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HT"])
def test_half_a_header_ends_in_a_sentence(sent: bytes) -> None:
    with site() as (_, to), connected(to, sent) as line:
        answer = said(line)
    assert answer.rsplit(b"HTTP/1.1", 1)[1].startswith(b" 408 ")
    assert json.loads(answer.rsplit(b"\r\n\r\n", 1)[1])["detail"].startswith("The request header")


def test_half_a_body_ends_in_a_sentence() -> None:
    with site() as (application, to):
        with connected(to, b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf") as line:
            assert said(line).startswith(b"HTTP/1.1 408 ")
        assert application.cut.wait(PATIENCE)


def test_an_endless_header_is_refused() -> None:
    with site(LimitedHttp) as (_, to), connected(to, HALF) as line:
        with contextlib.suppress(OSError):
            for _ in range(40):
                line.sendall(b"x" * 10_000)
        answer = said(line)  # nothing where the line was cut before it could be read
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "around",
    [b"1\r\nx\r\n0\r\n" + b"a: b\r\n" * 30_000, b"1\r\nx\r\n0\r\na: " + b"x" * 200_000, b"1;" + b"x" * 200_000],
    ids=["trailers", "one trailer", "extension of a chunk"],
)
def test_what_comes_around_a_body_is_bounded(around: bytes) -> None:
    head = b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with site(LimitedHttp) as (_, to), connected(to, head) as line:
        with contextlib.suppress(OSError):
            line.sendall(around)
        answer = said(line)  # nothing where the line was cut before it could be read
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


def test_a_body_in_small_chunks_comes_whole() -> None:
    with site() as (_, to), httpx.Client(base_url=f"http://{to[0]}:{to[1]}", timeout=PATIENCE) as client:
        assert client.post("/body", content=(b"x" for _ in range(40_000))).text == "done"


def test_an_answer_that_is_not_read_is_cut_off() -> None:
    with site() as (application, to), connected(to, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"):
        assert application.cut.wait(PATIENCE)


def test_thinking_takes_as_long_as_it_takes() -> None:
    with site() as (_, to):
        assert httpx.get(f"http://{to[0]}:{to[1]}/slow", timeout=PATIENCE).text == "done"


def test_several_requests_take_one_connection() -> None:
    with site() as (_, to), httpx.Client(base_url=f"http://{to[0]}:{to[1]}", timeout=PATIENCE) as client:
        for _ in range(3):
            assert client.post("/body", content=b"x" * 300_000).text == "done"
            assert client.get("/").text == "done"


def test_half_sent_requests_make_room_for_whole_ones() -> None:
    with site(LimitedHttp, connections=20) as (_, to), contextlib.ExitStack() as lines:
        kept = lines.enter_context(httpx.Client(base_url=f"http://{to[0]}:{to[1]}", timeout=PATIENCE))
        assert kept.get("/").text == "done"
        port = kept_port(kept)
        for _ in range(60):
            lines.enter_context(connected(to, HALF))
        assert httpx.get(f"http://{to[0]}:{to[1]}/", timeout=PATIENCE).text == "done"
        assert kept.get("/").text == "done" and kept_port(kept) == port, "who sent whole requests stays longest"


def kept_port(client: httpx.Client) -> int:
    [connection] = client._transport._pool.connections  # type: ignore[attr-defined]
    return int(connection._connection._network_stream.get_extra_info("client_addr")[1])


def test_who_finds_everybody_busy_is_told_when_to_come_back() -> None:
    with site(LimitedHttp, connections=6) as (application, to), contextlib.ExitStack() as lines:
        for _ in range(5):
            lines.enter_context(connected(to, b"GET /busy HTTP/1.1\r\nHost: x\r\n\r\n"))
        for _ in range(5):
            assert application.busy.acquire(timeout=PATIENCE)
        answer = httpx.get(f"http://{to[0]}:{to[1]}/", timeout=PATIENCE)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "too many open connections" in answer.json()["detail"]
        application.go_on.set()


def test_the_program_is_served_with_these_limits() -> None:
    options = server_options(Settings(_env_file=None))
    assert (options["http"], options["limit_concurrency"]) == (PROTOCOL, 1000)
    assert f"{LimitedHttp.__module__}:{LimitedHttp.__qualname__}" == PROTOCOL
