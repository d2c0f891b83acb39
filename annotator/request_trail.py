"""The trail of each request: its id, its metrics, its line in the access log, and that of an unforeseen error.

A request id is taken from the header X-Request-ID of a trusted proxy, or made here. Each response carries it, and each
line that is logged meanwhile (engine.logs).
"""

import logging
import re
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.exception_handlers import UNFORESEEN
from annotator.passed_on import ANSWERED_ELSEWHERE, REQUEST_ID
from annotator.peers import is_from_proxy
from engine.logs import ACCESS, FIELDS, field_of_work, log_fields, new_error_id, shown_path
from engine.metrics.counted import REQUEST_SECONDS, REQUESTS
from engine.settings import Settings

HEADER = "x-request-id"
UNMATCHED = "unmatched"  # route of a request that no route answered
_ROUTE = "route_template"  # in the state of a request
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger(__name__)
_access = logging.getLogger(ACCESS)


class RouteNote:
    """ASGI middleware next to the routes: notes the template of the route that answered, for `RequestTrail`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["state"][_ROUTE] = _template(scope)
            await send(message)

        try:
            await self.app(scope, receive, note)
        except Exception:
            scope["state"][_ROUTE] = _template(scope)
            raise


class RequestTrail:
    """ASGI middleware around all others.

    Args:
        app: the application behind it.
        settings: trusted proxies, and whether requests are logged.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._settings = settings
        self._logs_access = settings.access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        request_id = scope["state"].setdefault(REQUEST_ID, self._id_of(scope))
        began = time.perf_counter()
        status: int | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
                self._count(scope, status, time.perf_counter() - began)
            await send(message)

        with log_fields(request_id=request_id):
            try:
                await self.app(scope, receive, send_with_id)
            except Exception as error:
                scope["state"][UNFORESEEN] = error
                raise
            finally:
                if status is None:  # the client has left
                    self._count(scope, None, time.perf_counter() - began)
                failed = UNFORESEEN in scope["state"] or status == 500
                if failed or (self._logs_access and not scope["state"].get(ANSWERED_ELSEWHERE)):
                    self._write_log(scope, status, time.perf_counter() - began, failed)

    def _count(self, scope: Scope, status: int | None, seconds: float) -> None:
        if scope["state"].get(ANSWERED_ELSEWHERE):
            return
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = scope["state"].get(_ROUTE, UNMATCHED)
        REQUESTS.labels(route, method, f"{status // 100}xx" if status else "left").inc()
        REQUEST_SECONDS.labels(route).observe(seconds)

    def _write_log(self, scope: Scope, status: int | None, seconds: float, failed: bool) -> None:
        """Write the trail of a failure, and the line of the access log where that is wanted."""
        user = scope["state"].get("user")
        fields = {
            "method": scope["method"],
            "route": scope["state"].get(_ROUTE, UNMATCHED),
            "path": shown_path(scope["path"]),
            "person_id": user.id if user is not None else None,
            "status": status,
            "milliseconds": round(seconds * 1000, 1),
        }
        place = f"{fields['method']} {fields['path']}"
        if failed:
            error, request_id = scope["state"].get(UNFORESEEN), field_of_work("request_id")
            _log.error("%s failed (error id %s)", place, request_id, exc_info=error, extra={FIELDS: fields})
        if self._logs_access:
            _access.info("%s %s %s ms", place, status, fields["milliseconds"], extra={FIELDS: fields})

    def _id_of(self, scope: Scope) -> str:
        sent = Headers(scope=scope).getlist(HEADER)
        if len(sent) == 1 and _ID.fullmatch(sent[0]) and is_from_proxy(scope, self._settings):
            return sent[0]
        return new_error_id()


def _template(scope: Scope) -> str:
    """Return the template of the route that answered, as in /api/documents/{document_id}."""
    context = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    below: str = getattr(context, "path_format", None) or ""
    mounted: str = scope.get("root_path", "").removeprefix(scope.get("app_root_path", ""))
    if mounted and not below.startswith(mounted):
        return mounted  # static files, the page of Gradio
    return below or UNMATCHED
