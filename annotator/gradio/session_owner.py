"""Calls of Gradio go to the process that keeps their session, where several web processes share one port.

Gradio's queue lives in one process. The number of a session's process follows from its name, so that every process
knows it without asking. Each process listens on a port of its own of this machine too, and takes there what another one
passes on. All other requests are answered where they arrive.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass

import httpx
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.gradio.gate import JOIN, read_body, session_of, with_body
from annotator.gradio.sessions import Rejected
from annotator.http_limits import AT_SHUTDOWN

PORTS, NUMBER = "GLOSSATOR_WEB_PORTS", "GLOSSATOR_WEB_NUMBER"  # as engine.commands.servers.web_processes sets them
_BUSY = "The page's server process is starting. Try again in a few seconds."
_OF_A_CONNECTION = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"trailer", b"upgrade"})
_TIMES = httpx.Timeout(30, read=None)  # seconds; results stream for as long as a page is open
_ANSWER_SECONDS = 30  # until an answer begins


@dataclass(frozen=True, slots=True)
class WebProcesses:
    """The web processes of one `glossator serve`: the own ports of all, in order, and which of them this one is."""

    ports: tuple[int, ...]
    number: int

    def owner_of(self, session: str) -> int:
        """Return the number of the process that keeps a session of Gradio."""
        digest = hashlib.sha256(session.encode()).digest()
        return int.from_bytes(digest[:8]) % len(self.ports)


def web_processes_here() -> WebProcesses | None:
    """Return the processes that share this one's port; None when it serves alone."""
    ports = tuple(int(port) for port in os.environ.get(PORTS, "").split(",") if port)
    return WebProcesses(ports, int(os.environ[NUMBER])) if len(ports) > 1 else None


class SessionOwner:
    """ASGI middleware before `GradioGate` that passes calls on to the process that keeps their session.

    Args:
        app: the application behind it.
        processes: the web processes.
    """

    def __init__(self, app: ASGIApp, processes: WebProcesses) -> None:
        self.app = app
        self._processes = processes
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._client = httpx.AsyncClient(timeout=_TIMES, limits=limits, trust_env=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith("/app/gradio_api/"):
            await self.app(scope, receive, send)
            return
        body = b""
        try:
            if path == JOIN:
                body = await read_body(scope, receive)
                scope, receive = with_body(scope, receive, body)
                session = _session_in(body)
            else:
                session = session_of(scope)
        except Rejected as rejected:
            await JSONResponse({"detail": str(rejected)}, status_code=rejected.status)(scope, receive, send)
            return
        owner = self._processes.owner_of(session)
        if owner == self._processes.number:
            await self.app(scope, receive, send)
        else:
            await self._pass_on(self._processes.ports[owner], scope, receive, send, body)

    async def _pass_on(self, port: int, scope: Scope, receive: Receive, send: Send, body: bytes) -> None:
        """Let another process answer, until the browser leaves or this process stops."""
        answering = asyncio.ensure_future(self._answer(port, scope, send, body))
        scope.setdefault("state", {})[AT_SHUTDOWN] = answering.cancel
        leaving = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if answering.done() and not answering.cancelled():
                answering.result()
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _answer(self, port: int, scope: Scope, send: Send, body: bytes) -> None:
        query = scope["query_string"].decode("latin-1")
        address = httpx.URL(f"http://127.0.0.1:{port}{scope['path']}").copy_with(query=query.encode() or None)
        request = httpx.Request(
            scope["method"], address, headers=_headers_to_pass(scope["headers"]), content=body or None
        )
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await self._client.send(request, stream=True)
        except (httpx.TransportError, TimeoutError):
            await JSONResponse({"detail": _BUSY}, 503, {"retry-after": "2"})(scope, _nothing, send)
            return
        try:
            start = {"type": "http.response.start", "status": answer.status_code}
            await send({**start, "headers": _headers_to_pass(answer.headers.raw)})
            async for chunk in answer.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await answer.aclose()


def _session_in(body: bytes) -> str:
    """Return the session that an event names; the gate refuses an event that names none."""
    try:
        session = json.loads(body)["session_hash"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return session if isinstance(session, str) else ""


def _headers_to_pass(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers that are not of one connection alone."""
    return [(name, value) for name, value in headers if name.lower() not in _OF_A_CONNECTION]


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
