"""A request that one web process passes on to another keeps its peer, client, scheme and id.

The other process sees a connection of this machine: neither that of the proxy, whose headers count, nor that of the
client. So the first process writes down what it saw, and signs it.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator.peers import PEER

REQUEST_ID = "request_id"  # in the state of a request
ANSWERED_ELSEWHERE = "answered_elsewhere"  # in the state of a request: another process answers, counts and logs it
_HEADER = b"x-glossator-passed-on"
_OF_A_CONNECTION = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"trailer", b"upgrade"})


def headers_to_pass(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers that are not of one connection alone."""
    return [(name, value) for name, value in headers if name.lower() not in _OF_A_CONNECTION]


def headers_with_origin(scope: Scope, secret: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request to pass on, with its peer, client, scheme and id."""
    state, client = scope["state"], scope.get("client")
    origin = [state.get(PEER, ""), client and list(client), scope["scheme"], state[REQUEST_ID]]
    written = json.dumps(origin).encode()
    sent = [(name, value) for name, value in headers_to_pass(scope["headers"]) if name.lower() != _HEADER]
    return [*sent, (_HEADER, _signature(written, secret) + b" " + written)]


class PassedOn:
    """ASGI middleware around all others that gives a request the origin that another web process has noted.

    Args:
        app: the application behind it.
        secret: of the web processes; see engine.web_process.
    """

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self.app = app
        self._secret = secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        origin = self._origin_of(scope) if scope["type"] == "http" else None
        if origin is not None:
            peer, client, scheme, request_id = origin
            scope["state"] |= {PEER: peer, REQUEST_ID: request_id}  # in place: the connection looks there, too
            scope = {**scope, "client": client and tuple(client), "scheme": scheme}
        await self.app(scope, receive, send)

    def _origin_of(self, scope: Scope) -> list[Any] | None:
        sent = Headers(scope=scope).getlist(_HEADER.decode())
        if len(sent) != 1:
            return None
        signature, _, written = sent[0].encode("latin-1").partition(b" ")
        if not hmac.compare_digest(signature, _signature(written, self._secret)):
            return None
        origin: list[Any] = json.loads(written)
        return origin


def _signature(written: bytes, secret: str) -> bytes:
    return hmac.digest(secret.encode(), written, hashlib.sha256).hex().encode()
