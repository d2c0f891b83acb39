"""Checks before Gradio's own routes: small bodies, no file references, results for the owner only.

Gradio trusts the body of an event: a value that looks like one of its files is opened, hashed and copied by path, or
fetched by URL, before our functions run (gradio.processing_utils.async_move_files_to_cache). No tab takes a file, so
every such value is refused here. Gradio also returns unread results to any request that names a session. Here a session
belongs to the user who used it first, and the number of sessions of one user is bounded.
"""

import json
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

JOIN, DATA, HEARTBEAT = (f"/app/gradio_api/{name}" for name in ("queue/join", "queue/data", "heartbeat/"))
PAGES = frozenset({"/app", "/app/", "/app/config"})
LARGEST_BODY = 256 * 1024  # bytes; the largest that a tab sends is a list of standard questions
FILE_KEYS = frozenset({"path", "url", "meta", "_type"})  # any of these makes Gradio treat a value as a file
EVENT_FIELDS = frozenset({"data", "event_data", "fn_index", "trigger_id", "session_hash"})  # fields that the page sends
SESSIONS = 24  # per user: one for each loaded page; the least recently used ones are dropped
UNREAD = 256  # events of one user with unread results; opening the page sends about fifty
STREAMS = 64  # connections of one user that read results: two for each open page, at most a quarter of all connections
_SESSION = re.compile(r"[A-Za-z0-9]{1,64}")

Owner = str
OwnerOf = Callable[[Request], Owner | None]


class Rejected(Exception):
    """A refused request: a status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Sessions:
    """Owners of Gradio's sessions. Used on the event loop only.

    Args:
        page: the Gradio page.
        most_streams: most connections of one user that read results.
    """

    def __init__(self, page: gr.Blocks, most_streams: int = STREAMS) -> None:
        self._page = page
        self._most_streams = most_streams
        self._streams_of: Counter[Owner] = Counter()
        self._owners: dict[str, Owner] = {}
        self._of: dict[Owner, OrderedDict[str, None]] = {}  # oldest first
        self._streams: Counter[str] = Counter()

    def claim(self, session: str, owner: Owner) -> None:
        """Record that a user uses a session.

        Raises:
            Rejected: the session belongs to another user, or too many results are unread.
        """
        self.check(session, owner)
        own = self._of.setdefault(owner, OrderedDict())
        if sum(map(self._unread, own)) >= UNREAD:
            for abandoned in [each for each in own if each not in self._streams]:
                self.forget(abandoned)
            if sum(map(self._unread, own)) >= UNREAD:
                raise Rejected(429, "Too many of your requests are waiting. Wait a moment, then try again.")
        self._owners[session] = owner
        own[session] = None
        own.move_to_end(session)
        while len(own) > SESSIONS:
            self.forget(next(iter(own)))

    def check(self, session: str, owner: Owner) -> None:
        """Check that no other user owns a session.

        Raises:
            Rejected: another user owns it.
        """
        if self._owners.get(session, owner) != owner:
            raise Rejected(404, "This page belongs to another user's session. Reload the page.")

    @contextmanager
    def streaming(self, session: str, owner: Owner) -> Iterator[None]:
        """Count a connection that reads the results of a session.

        Raises:
            Rejected: the user has too many such connections.
        """
        self.check(session, owner)
        if self._streams_of[owner] >= self._most_streams:
            raise Rejected(429, "You have too many pages open. Close some of them.")
        counts: tuple[tuple[Counter[str], str], ...] = ((self._streams, session), (self._streams_of, owner))
        for count, key in counts:
            count[key] += 1
        try:
            yield
        finally:
            for count, key in counts:
                count[key] -= 1
                if not count[key]:
                    del count[key]

    def is_known(self, session: str) -> bool:
        """Return whether a session has sent an event."""
        return session in self._owners

    def forget(self, session: str) -> None:
        """Drop a session and everything that Gradio keeps for it."""
        owner = self._owners.pop(session, None)
        if owner is not None:
            self._of[owner].pop(session, None)
        queue, states = self._page._queue, self._page.state_holder
        for unread in queue.pending_event_ids_session.pop(session, ()):
            event = queue.event_ids_to_events.pop(unread, None)
            if event is not None:
                event.alive = False  # its result goes nowhere
                waiting = queue.event_queue_per_concurrency_id[event.concurrency_id].queue
                if event in waiting:
                    waiting.remove(event)
        queue.pending_messages_per_session.pop(session, None)
        states.session_data.pop(session, None)
        states.time_last_used.pop(session, None)

    def _unread(self, session: str) -> int:
        return len(self._page._queue.pending_event_ids_session.get(session, ()))


class GradioGate:
    """ASGI middleware before Gradio's routes, in local mode too; other requests pass unchanged.

    Args:
        app: the application behind it.
        page: the Gradio page.
        owner_of: returns the user id of a request, or None.
        connections: most connections of the server.
    """

    def __init__(self, app: ASGIApp, page: gr.Blocks, owner_of: OwnerOf, connections: int) -> None:
        self.app = app
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
                event = _event(await _body(scope, receive))
                if type(event.get("fn_index")) is not int or event["fn_index"] not in self._page.fns:
                    raise Rejected(422, "The request is not an event of this page. Reload the page.")
                self.sessions.claim(event["session_hash"], await self._owner(scope))
                # Pass on the checked event: another JSON parser could read the original body differently.
                await self.app(*_with_body(scope, receive, json.dumps(event).encode()), send)
            elif path == DATA or path.startswith(HEARTBEAT):
                session = _session_of(scope)
                if path == DATA and not self.sessions.is_known(session):
                    raise Rejected(404, "This session has no results. Reload the page.")
                with self.sessions.streaming(session, await self._owner(scope)):
                    await self.app(scope, receive, send)
            else:
                await self.app(scope, receive, send)
        except Rejected as rejected:
            answer: Response = JSONResponse({"detail": str(rejected)}, status_code=rejected.status)
            if rejected.status == 429:
                answer.headers["retry-after"] = "2"
            await answer(scope, receive, send)

    async def _owner(self, scope: Scope) -> Owner:
        owner = await run_in_threadpool(self._owner_of, Request(scope))
        if owner is None:
            raise Rejected(401, "Log in first.")
        return owner


async def _body(scope: Scope, receive: Receive) -> bytes:
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


def _event(body: bytes) -> dict[str, Any]:
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
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if not FILE_KEYS.isdisjoint(one):
                return True
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
    return False


def _session_of(scope: Scope) -> str:
    """Return the session that a request for results names.

    Raises:
        Rejected: it names none, or several.
    """
    if scope["path"] == DATA:
        named = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("session_hash", [])
    else:
        named = [scope["path"].removeprefix(HEARTBEAT)]
    if len(named) != 1 or not _SESSION.fullmatch(named[0]):
        raise Rejected(422, "The request names no session of this page. Reload the page.")
    return str(named[0])


def _with_body(scope: Scope, receive: Receive, body: bytes) -> tuple[Scope, Receive]:
    """Return the request with another body."""
    headers = [
        (name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")
    ]
    headers.append((b"content-length", str(len(body)).encode()))
    told = False

    async def once() -> Message:
        nonlocal told
        if told:
            return await receive()  # the next message is the disconnect
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return {**scope, "headers": headers}, once
