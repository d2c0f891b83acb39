"""Calls of Gradio go to the process that keeps their session, where several web processes share one port.

Gradio's queue lives in one process. The number of a session's process follows from its name, so that every process
knows it without asking. Each process listens on a port of its own of this machine too, and takes there what another one
passes on. All other requests are answered where they arrive.
"""

import asyncio
import json

import httpx
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.gradio.gate import JOIN, read_body, session_of, with_body
from annotator.gradio.sessions import Rejected
from annotator.http_limits import AT_SHUTDOWN
from annotator.passed_on import ANSWERED_ELSEWHERE, headers_to_pass, headers_with_origin
from engine.web_process import WebProcess

_BUSY = "The page's server process is starting. Try again in a few seconds."
_TIMES = httpx.Timeout(30, read=None)  # seconds; results stream for as long as a page is open
_ANSWER_SECONDS = 30  # until an answer begins


class SessionOwner:
    """ASGI middleware before `GradioGate` that passes calls on to the process that keeps their session.

    Args:
        app: the application behind it.
        process: which of the web processes this one is.
    """

    def __init__(self, app: ASGIApp, process: WebProcess) -> None:
        self.app = app
        self._process = process
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
        owner = self._process.owner_of(session)
        if owner == self._process.number:
            await self.app(scope, receive, send)
        else:
            await self._pass_on(self._process.ports[owner], scope, receive, send, body)

    async def _pass_on(self, port: int, scope: Scope, receive: Receive, send: Send, body: bytes) -> None:
        """Let another process answer, until the browser leaves or this process stops."""
        answering = asyncio.ensure_future(self._answer(port, scope, send, body))
        scope["state"] |= {AT_SHUTDOWN: answering.cancel, ANSWERED_ELSEWHERE: True}
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
        headers = headers_with_origin(scope, self._process.secret)
        request = httpx.Request(scope["method"], address, headers=headers, content=body or None)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await self._client.send(request, stream=True)
        except (httpx.TransportError, TimeoutError):
            scope["state"][ANSWERED_ELSEWHERE] = False
            await JSONResponse({"detail": _BUSY}, 503, {"retry-after": "2"})(scope, _nothing, send)
            return
        try:
            start = {"type": "http.response.start", "status": answer.status_code}
            await send({**start, "headers": headers_to_pass(answer.headers.raw)})
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


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
