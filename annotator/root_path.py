"""Serving below a path of a host that serves other things too, as in https://example.org/gloss/.

Nothing behind this middleware knows of the path: it is taken off requests here, whether a proxy has taken it off
already or not, and put before the addresses that answers name in their headers. Pages and the front end put it before
the addresses in their text: `Settings.root_path`, and annotator/static/core/root.js.
"""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ELSEWHERE = "elsewhere"  # in the state of a request: its answer leads to another program, maybe of this host
_LINKED = re.compile(r"<(/[^>]*)>")


class RootPath:
    """ASGI middleware around the whole application.

    Args:
        app: the application behind it.
        root: path under which the application is served, as in "/gloss".
    """

    def __init__(self, app: ASGIApp, root: str) -> None:
        self.app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        inner = self._without_root(scope)

        async def send_below(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if (where := headers.get("location")) and not inner["state"].get(ELSEWHERE):
                    headers["location"] = self._below(where, host)
                if links := headers.get("link"):
                    headers["link"] = _LINKED.sub(lambda match: f"<{self._below(match[1], host)}>", links)
            await send(message)

        await self.app(inner, receive, send_below)

    def _without_root(self, scope: Scope) -> Scope:
        """Return the request as if the application were served at "/"; its base URL keeps the path."""
        inner = dict(scope)
        inner.setdefault("state", {})
        if self._names_root(scope["path"]):
            inner["path"] = scope["path"].removeprefix(self._root) or "/"
            if scope.get("raw_path"):
                inner["raw_path"] = scope["raw_path"].removeprefix(self._root.encode()) or b"/"
        inner["app_root_path"] = self._root  # what starlette builds `base_url` and `url_for` from
        return inner

    def _below(self, address: str, host: str) -> str:
        """Return an address of this server with the path before it; other addresses unchanged."""
        parts = urlsplit(address)
        if parts.netloc not in ("", host) or not parts.path.startswith("/") or self._names_root(parts.path):
            return address
        return parts._replace(path=self._root + parts.path).geturl()

    def _names_root(self, path: str) -> bool:
        return path == self._root or path.startswith(f"{self._root}/")
