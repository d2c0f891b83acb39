"""First check of every request: Host, Origin and body size; and security headers on every response.

A page on another site can make a browser send requests here. A foreign Host means that another name was pointed at this
machine (DNS rebinding); a foreign Origin means that another site's page is writing (CSRF). Both are refused.
"""

import json
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.exception_handlers import UNFORESEEN, TooLarge, answer_to, failure
from annotator.front_end_files import DIGEST
from engine.settings import MEGABYTE, Settings

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
LARGEST_BODY = MEGABYTE  # of requests that are no uploads
LARGEST_DRAWN = 16 * MEGABYTE  # of requests with masks: one edit of the largest mask stays below a third of it
LARGEST_FORM = 64 * 1024  # of requests without a login: a name and a password
DRAWN = ("/revisions", "/reviews", "/refine", "/words")  # ends of paths under /api/
UPLOADS = ("/documents", "/import")
FORMS = ("/login", "/logout", "/invite/")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
    # Gradio's page needs inline scripts and styles, and compiles templates; nothing is loaded from other machines.
    "content-security-policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    ),
}

EDITION = {"x-glossator-edition": DIGEST}  # a page of another one says that it should be reloaded
HTTPS_ONLY = {"strict-transport-security": "max-age=31536000"}  # with secure_cookies: a year, for this host name only
# Private content: neither caches nor "back" after a logout may show it. Page images set their own header.
UNCACHED = ("/api/", "/login", "/sign-in", "/invite/", "/app/config", "/app/gradio_api/")
PAGES = ("/app", "/app/")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")


class RequestGuard:
    """ASGI middleware around the whole application.

    Args:
        app: the application behind it.
        settings: allowed hosts, upload limit and cookie security.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.hosts = {"127.0.0.1", "localhost", "::1", settings.host.strip("[]"), *settings.allowed_hosts}
        self.largest_upload = int(settings.max_upload_mb * MEGABYTE) + MEGABYTE
        self.max_upload_mb = settings.max_upload_mb
        self.headers = {**HEADERS, **EDITION, **(HTTPS_ONLY if settings.secure_cookies else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await self._answer(send, *refusal)
            return
        upload = scope["type"] == "http" and scope["path"].startswith("/api/") and scope["path"].endswith(UPLOADS)
        form = scope["path"].startswith(FORMS)
        drawn = scope["path"].endswith(DRAWN)
        limit = self.largest_upload if upload else LARGEST_FORM if form else LARGEST_DRAWN if drawn else LARGEST_BODY
        sentence = (
            f"The upload is larger than the {self.max_upload_mb:g} MB allowed. Send smaller files."
            if upload
            else f"The request is larger than the {limit // 1000:,} KB allowed. Send it in parts."
        )
        declared = headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            await self._answer(send, 413, sentence)
            return
        received, started = 0, False

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise TooLarge(sentence)
            return message

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                outgoing = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    outgoing.setdefault(name, value)
                if scope["path"].startswith(UNCACHED) or scope["path"] in PAGES:
                    outgoing.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self.app(self._without_foreign_host(scope, headers), receive_counted, with_headers)
        except Exception as error:  # of the middleware before the routes, too: the login check uses the database
            if started:
                raise  # the connection is closed, so that nobody takes the response for whole
            answer = answer_to(error)
            if answer is None:
                scope.setdefault("state", {})[UNFORESEEN] = error  # for annotator.request_trail, which logs it
                answer = JSONResponse(failure(500), 500)
            await answer(scope, receive, with_headers)

    def _without_foreign_host(self, scope: Scope, headers: Headers) -> Scope:
        """Return the request without a foreign forwarded host: Gradio would write it into the page."""
        forwarded = headers.getlist("x-forwarded-host")
        if not forwarded or (len(forwarded) == 1 and _name_of(forwarded[0].strip()) in self.hosts):
            return scope
        own_headers = [(name, value) for name, value in scope["headers"] if name.lower() != b"x-forwarded-host"]
        return {**scope, "headers": own_headers}

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if len(headers.getlist("host")) > 1:
            return 421, "The request has more than one Host header. Send one."
        if not _HOST.fullmatch(host) or _name_of(host) not in self.hosts:
            return (
                421,
                f"Host {host!r} is not allowed; add it to GLOSSATOR_ALLOWED_HOSTS.",
            )
        writes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        origin = headers.get("origin")
        if writes and origin is not None and (len(headers.getlist("origin")) > 1 or urlsplit(origin).netloc != host):
            return 403, "The request comes from another site and was refused. Open Glossator in its own tab."
        if writes and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "The request comes from another site and was refused. Open Glossator in its own tab."
        # Browsers send the origin with every write. A browser without one hides where the request comes from. Programs
        # need none: no foreign page controls them.
        silent = origin is None and "sec-fetch-site" not in headers
        if writes and silent and headers.get("user-agent", "").startswith(("Mozilla/", "Opera/")):
            return (
                403,
                "The browser sends no Origin header, so the request was refused. Allow it in the browser's settings.",
            )
        return None

    async def _answer(self, send: Send, status: int, sentence: str) -> None:
        body = json.dumps({"detail": sentence}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *((name.encode(), value.encode()) for name, value in self.headers.items()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _name_of(host: str) -> str:
    """Return the name in a Host header without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
