"""Checks before Gradio's own routes: small bodies, no file references, results for the owner only.

Gradio trusts the body of an event: a value that looks like one of its files is opened, hashed and copied by path, or
fetched by URL, before our functions run (gradio.processing_utils.async_move_files_to_cache). No tab takes a file, so
every such value is refused here. Whose results a request may read is decided in annotator.gradio.sessions.
"""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.gradio.sessions import STREAMS, Owner, Rejected, Sessions

JOIN, DATA, HEARTBEAT = (f"/app/gradio_api/{name}" for name in ("queue/join", "queue/data", "heartbeat/"))
PAGES = frozenset({"/app", "/app/", "/app/config"})
LARGEST_BODY = 256 * 1024  # bytes; the largest that a tab sends is a list of standard questions
FILE_KEYS = frozenset({"path", "url", "meta", "_type"})  # any of these makes Gradio treat a value as a file
EVENT_FIELDS = frozenset({"data", "event_data", "fn_index", "trigger_id", "session_hash"})  # fields that the page sends
_SESSION = re.compile(r"[A-Za-z0-9]{1,64}")

OwnerOf = Callable[[Request], Owner | None]


class GradioGate:
    """ASGI middleware before Gradio's routes, in local mode too; other requests pass unchanged.

    Args:
        app: the application behind it.
        page: the Gradio page.
        owner_of: returns the user id of a request, or None.
        connections: most connections of the server.
        root: path under which the application is served; Gradio reads its own address off its requests.
    """

    def __init__(self, app: ASGIApp, page: gr.Blocks, owner_of: OwnerOf, connections: int, root: str = "") -> None:
        self.app = _below(app, root) if root else app
        self._page = page
        self.sessions = Sessions(page, min(STREAMS, connections // 4))
        self._owner_of = owner_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith("/app"):
            await self.app(scope, receive, send)
            return
        try:
            if path in PAGES:
                # Drop the query: Gradio would look up files and pages by it.
                await self.app({**scope, "query_string": b""}, receive, send)
            elif path == JOIN and scope["method"] == "POST":
                event = _read_event(await read_body(scope, receive))
                if not _has_backend(self._page, event.get("fn_index")):
                    raise Rejected(422, "The request is not an event of this page. Reload the page.")
                await self.sessions.claim(event["session_hash"], await self._find_owner(scope))
                # Pass on the checked event: another JSON parser could read the original body differently.
                await self.app(*with_body(scope, receive, json.dumps(event).encode()), send)
            elif path == DATA or path.startswith(HEARTBEAT):
                session = session_of(scope)
                if path == DATA and not self.sessions.is_known(session):
                    raise Rejected(404, "This session has no results. Reload the page.")
                with self.sessions.streaming(session, await self._find_owner(scope)):
                    await self.app(scope, receive, send)
            else:
                await self.app(scope, receive, send)
        except Rejected as rejected:
            answer: Response = JSONResponse({"detail": str(rejected)}, status_code=rejected.status)
            if rejected.status == 429:
                answer.headers["retry-after"] = "2"
            await answer(scope, receive, send)

    async def _find_owner(self, scope: Scope) -> Owner:
        owner = await run_in_threadpool(self._owner_of, Request(scope))
        if owner is None:
            raise Rejected(401, "Log in first.")
        return owner


def _below(app: ASGIApp, root: str) -> ASGIApp:
    """Return an application that gets requests under their outer path."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        if not scope.get("path", "").startswith("/app"):
            await app(scope, receive, send)
            return
        outer = {"root_path": root, "path": root + scope["path"]}
        if scope.get("raw_path"):
            outer["raw_path"] = root.encode() + scope["raw_path"]
        await app({**scope, **outer}, receive, send)

    return call


def _has_backend(page: gr.Blocks, number: Any) -> bool:
    """Return whether an event of the page runs a function of the server; others run in the browser alone."""
    event = page.fns.get(number) if type(number) is int else None
    return event is not None and event.fn is not None


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Return the body of a request.

    Raises:
        Rejected: the body is too large or incomplete.
    """
    declared = Request(scope).headers.get("content-length", "")
    if declared.isdigit() and int(declared) > LARGEST_BODY:
        raise Rejected(413, f"The request is larger than the {LARGEST_BODY // 1024} KB allowed. Send less.")
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Rejected(400, "The request was incomplete. Send it again.")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise Rejected(413, f"The request is larger than the {LARGEST_BODY // 1024} KB allowed. Send less.")
        if not message.get("more_body", False):
            return bytes(body)


def _read_event(body: bytes) -> dict[str, Any]:
    """Return an event as the page sends it.

    Raises:
        Rejected: the body is anything else, or contains a value that Gradio would treat as a file.
    """
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise Rejected(400, "The request body is not valid JSON. Check its syntax.") from None
    if not isinstance(event, dict) or not isinstance(event.get("data"), list):
        raise Rejected(422, "The request is not an event of this page. Reload the page.")
    if any(value is not None for name, value in event.items() if name not in EVENT_FIELDS):
        raise Rejected(422, "The request is not an event of this page. Reload the page.")
    session = event.get("session_hash")
    if not isinstance(session, str) or not _SESSION.fullmatch(session):
        raise Rejected(422, "The request names no session of this page. Reload the page.")
    if type(event.get("trigger_id")) not in (int, type(None)):
        raise Rejected(422, "The request is not an event of this page. Reload the page.")
    if _names_a_file(event["data"]) or _names_a_file(event.get("event_data")):
        raise Rejected(422, "The request contains a file or URL. This page accepts none; remove it.")
    return {name: event[name] for name in EVENT_FIELDS if name in event}


def _names_a_file(value: Any) -> bool:
    """Return whether a JSON value contains, at any depth, an object that Gradio would treat as a file."""
    unchecked = [value]
    while unchecked:
        item = unchecked.pop()
        if isinstance(item, dict):
            if not FILE_KEYS.isdisjoint(item):
                return True
            unchecked.extend(item.values())
        elif isinstance(item, list):
            unchecked.extend(item)
    return False


def session_of(scope: Scope) -> str:
    """Return the session that a request for results names.

    Raises:
        Rejected: it names none, or several.
    """
    if scope["path"] == DATA:
        names = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("session_hash", [])
    else:
        names = [scope["path"].removeprefix(HEARTBEAT)]
    if len(names) != 1 or not _SESSION.fullmatch(names[0]):
        raise Rejected(422, "The request names no session of this page. Reload the page.")
    return str(names[0])


def with_body(scope: Scope, receive: Receive, body: bytes) -> tuple[Scope, Receive]:
    """Return the request with another body."""
    headers = [
        (name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")
    ]
    headers.append((b"content-length", str(len(body)).encode()))
    is_sent = False

    async def receive_once() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()  # the next message is the disconnect
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return {**scope, "headers": headers}, receive_once
