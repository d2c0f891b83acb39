"""Limit on the number of values in a JSON body, checked before parsing.

Parsing JSON and reporting each wrong field blocks all requests: two megabytes of empty strings, or of unknown keys,
stopped the server for six seconds. Numbers are cheap, and masks contain many. So strings and brackets are counted, of
which normal requests have few.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_TEXTS = 20_000  # a thousand fixed words have about ten strings each, including field names
MOST_BRACKETS = 50_000  # a thousand edits have four each, their points and boxes one each
SAVES = ("/revisions", "/reviews")  # ends of paths under /api/ that take the cells of whole tables
MOST_SAVED_TEXTS = 100_000  # four thousand cells have some 16 strings each when they are made, 5 more when corrected
_METHODS = ("POST", "PUT", "PATCH", "DELETE")
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


class JsonGate:
    """ASGI middleware before the routes under /api/.

    Annotator.request_guard limits the size of bodies before it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http" or scope["method"] not in _METHODS or not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return
        if Request(scope).headers.get("content-type", "").lower().startswith(_FORMS):
            await self.app(scope, receive, send)
            return
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has disconnected
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        most = MOST_SAVED_TEXTS if scope["path"].endswith(SAVES) else MOST_TEXTS
        if body.count(b'"') > 2 * most or body.count(b"[") + body.count(b"{") > MOST_BRACKETS:
            sentence = {"detail": "The request contains too many values. Send it in parts."}
            await JSONResponse(sentence, status_code=413)(scope, receive, send)
            return
        sent_body = False

        async def once() -> Message:
            nonlocal sent_body
            if sent_body:
                return await receive()
            sent_body = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self.app(scope, once, send)
