"""Record every response that a test provokes, and report those that the OpenAPI document does not name."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from annotator.request_guard import RequestGuard

_LONGEST = 64 * 1024  # of a failure's body that is looked at


class Named:
    """The statuses and media types of each route, by the shape of its path."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._shared = document["components"]["responses"]
        paths = sorted(
            document["paths"].items(), key=lambda each: each[0].count("{")
        )  # /imports/own before /imports/{id}
        self._paths = [(_shape(path), path, operations) for path, operations in paths]

    def fault(self, method: str, path: str, status: int, media_type: str, body: bytes) -> str | None:
        """Return the fault of an answer; None when it is named, or when the document leaves its address out."""
        found = next(((shape, several) for pattern, shape, several in self._paths if pattern.match(path)), None)
        if found is None or method.lower() not in found[1] or status == 500:  # an error of ours, which none is to know
            return None
        name = f"{method} {found[0]}"
        answers = found[1][method.lower()]["responses"]
        if str(status) not in answers:
            return f"{name} answered {status}, and names only {', '.join(answers)}: {body[:200]!r}"
        named = answers[str(status)]
        if "$ref" in named:
            named = self._shared[named["$ref"].rsplit("/", 1)[1]]
        kinds = named.get("content", {})
        if media_type.split(";")[0] not in (kinds or {"": None}):
            return f"{name} answered {status} as {media_type!r}, and names only {', '.join(kinds)}."
        if status >= 400 and len(body) < _LONGEST and not isinstance(json.loads(body).get("detail"), str):
            return f"{name} answered {status} without a sentence: {body[:200]!r}"
        return None


def _shape(path: str) -> re.Pattern[str]:
    return re.compile("/".join("[^/]+" if part[:1] == "{" else re.escape(part) for part in path.split("/")) + "$")


@contextmanager
def every_answer(faults: list[str]) -> Iterator[None]:
    """While it lasts, note what is wrong with the answers of all applications of this process."""
    plain = RequestGuard.__call__
    known: list[Named] = []  # one description: it does not depend on the settings of an application

    async def recorded(self: RequestGuard, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await plain(self, scope, receive, send)
            return
        begun: dict[str, Any] = {}
        body = bytearray()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
            elif message["type"] == "http.response.body" and len(body) < _LONGEST:
                body.extend(message.get("body", b""))
            await send(message)

        try:
            await plain(self, scope, receive, note)
        finally:
            if begun:
                if not known:
                    known.append(Named(scope["app"].openapi()))
                kind = dict(begun["headers"]).get(b"content-type", b"").decode()
                fault = known[0].fault(scope["method"], scope["path"], begun["status"], kind, bytes(body))
                if fault is not None:
                    faults.append(fault)

    RequestGuard.__call__ = recorded  # type: ignore[method-assign]
    try:
        yield
    finally:
        RequestGuard.__call__ = plain  # type: ignore[method-assign]
