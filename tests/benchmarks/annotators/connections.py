"""HTTP/1.1 over asyncio, cheap enough that two hundred windows of a browser fit beside the server that they load.

A client such as httpx takes a millisecond of a core for each request; on the cores of the server, this would be
measured instead of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

_CONNECTIONS = 6  # that a browser opens to one server


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the server.

    Attributes:
        status: of HTTP.
        body: as it was sent.
    """

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Lost(Exception):
    """The server closed a connection, or did not answer in time."""


class Connections:
    """The connections of one browser, with its cookie.

    Args:
        port: of the server, on this machine.
        cookie: of the login.
    """

    def __init__(self, port: int, cookie: str) -> None:
        self.port, self.cookie = port, cookie
        self._head = f"Host: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n"
        self._idle: list[_Connection] = []
        self._places = asyncio.Semaphore(_CONNECTIONS)

    async def exchange(
        self, method: str, path: str, body: Any = None, *, seconds: float = 60, headers: str = ""
    ) -> Answer:
        """Send a request; return the answer, whatever its status.

        Raises:
            Lost: none came within the time.
        """
        content = b"" if body is None else json.dumps(body).encode()
        lines = f"{method} {path} HTTP/1.1\r\n{self._head}{headers}"
        if method != "GET":
            lines += f"X-Glossator: 1\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        request = f"{lines}\r\n".encode() + content
        try:
            async with self._places, asyncio.timeout(seconds):
                return await self._send(request)
        except (OSError, EOFError, TimeoutError) as error:
            raise Lost(f"{method} {path.partition('?')[0]}: {error!r}") from None

    async def _send(self, request: bytes) -> Answer:
        while self._idle:
            connection = self._idle.pop()
            if connection.closed:
                continue
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):  # closed as it was used: a new one
                return await self._answer(connection, request)
        return await self._answer(await _Connection.open(self.port), request)

    async def _answer(self, connection: _Connection, request: bytes) -> Answer:
        try:
            connection.writer.write(request)
            status, headers = await connection.head()
            body = await connection.body(headers)
        except BaseException:
            connection.writer.close()
            raise
        if headers.get("connection") == "close":
            connection.writer.close()
        else:
            self._idle.append(connection)
        return Answer(status, body)

    async def events(self, path: str) -> AsyncIterator[Any]:
        """Yield the data of a stream's events, until it ends.

        Raises:
            Lost: the server refused it, or the line was cut.
        """
        connection = await _Connection.open(self.port)
        try:
            connection.writer.write(f"GET {path} HTTP/1.1\r\n{self._head}Accept: text/event-stream\r\n\r\n".encode())
            status, headers = await connection.head()
            if status != 200:
                raise Lost(f"GET {path}: {status} {(await connection.body(headers))[:200]!r}")
            event = b""
            while block := await connection.block():
                event += block
                while (end := event.find(b"\n\n")) >= 0:
                    lines, event = event[:end].split(b"\n"), event[end + 2 :]
                    for line in lines:
                        if line.startswith(b"data: {"):
                            yield json.loads(line[6:])
        except (OSError, EOFError) as error:
            raise Lost(f"GET {path}: {error!r}") from None
        finally:
            connection.writer.close()

    def close(self) -> None:
        """Close the connections that rest."""
        for connection in self._idle:
            connection.writer.close()


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> _Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    @property
    def closed(self) -> bool:
        return self.reader.at_eof() or self.writer.is_closing()

    async def head(self) -> tuple[int, dict[str, str]]:
        """Read status and headers of an answer."""
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split(" ", 2)[1]), headers

    async def body(self, headers: dict[str, str]) -> bytes:
        """Read the body of an answer."""
        if "content-length" in headers:
            return await self.reader.readexactly(int(headers["content-length"]))
        blocks = []
        if headers.get("transfer-encoding") == "chunked":
            while block := await self.block():
                blocks.append(block)
        return b"".join(blocks)

    async def block(self) -> bytes:
        """Read a chunk of a chunked body; empty at its end."""
        length = int((await self.reader.readline()).partition(b";")[0] or b"0", 16)
        return (await self.reader.readexactly(length + 2))[:-2]
