"""Requests to a server over HTTP: log in, try again, and raise each failure as one sentence."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

_Answer = TypeVar("_Answer")
_BUSY = (429, 502, 503, 504)
PAGE = 1000  # items of a list that the server sends at once
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds between tries


class ServerSaid(Exception):
    """A failure as one sentence: the server refused the request, or cannot be reached.

    status: of the HTTP answer; 0 when no server answered.
    body: the answer as JSON; after a conflict (409), body["current"] is the newest version.
    """

    def __init__(self, sentence: str, status: int, body: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.body = body or {}


class Connection:
    """A server and a login there. Safe for threads as far as httpx.Client is."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None,
        name: str | None,
        password: str | None,
        timeout: float,
        pauses: tuple[float, ...] = PAUSES,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        headers = {"user-agent": "glossator-client", **({"authorization": f"Bearer {token}"} if token else {})}
        self._http = httpx.Client(base_url=address, headers=headers, timeout=timeout)
        self._name, self._password = name, password
        self._pauses, self._sleep = pauses, sleep
        self._address = address
        if name is not None:
            self._log_in()

    def close(self) -> None:
        """Close the connection. The login stays valid until it expires."""
        self._http.close()

    def get(self, kind: type[_Answer], path: str, **query: Any) -> _Answer:
        """Send a GET request, and return the answer as the type `kind`."""
        return _parse_answer(kind, self.send("GET", path, params={k: v for k, v in query.items() if v is not None}))

    def each(self, kind: type[_Answer], path: str, **query: Any) -> Iterator[_Answer]:
        """Yield the items of a list that comes in pages: each names the next in its header Link (RFC 8288)."""
        params = {k: v for k, v in query.items() if v is not None}
        while True:
            answer = self.send("GET", path, params=params)
            yield from _parse_answer(cast(Any, list[kind]), answer)  # type: ignore[valid-type]
            following = answer.links.get("next", {}).get("url")
            if following is None:
                return
            params["cursor"] = httpx.URL(following).params["cursor"]

    def all(
        self, kind: type[_Answer], path: str, limit: int | None = None, *, page: int = PAGE, **query: Any
    ) -> list[_Answer]:
        """Return the items of a list that comes in pages.

        limit: maximum number of items; None: all of them.
        page: items that the server sends at once.
        """
        at_once = page if limit is None else min(limit, page)
        return list(islice(self.each(kind, path, limit=at_once, **query), limit))

    def post(self, kind: type[_Answer], path: str, body: Any = None, *, repeatable: bool = True) -> _Answer:
        """POST JSON, and return the answer as the type `kind`.

        repeatable: sending it twice has the effect of sending it once.
        """
        return _parse_answer(kind, self.send("POST", path, repeatable=repeatable, json={} if body is None else body))

    def put(self, kind: type[_Answer], path: str, body: Any) -> _Answer:
        """PUT JSON, and return the answer as the type `kind`."""
        return _parse_answer(kind, self.send("PUT", path, json=body))

    def patch(self, kind: type[_Answer], path: str, body: Any) -> _Answer:
        """PATCH JSON, and return the answer as the type `kind`."""
        return _parse_answer(kind, self.send("PATCH", path, json=body))

    def send(self, method: str, path: str, *, repeatable: bool = True, **more: Any) -> httpx.Response:
        """Send a request, again where that can help, and return its answer. Raises ServerSaid when it fails."""
        return self._try(lambda: self._http.request(method, f"/api{path}", **more), repeatable)

    def download(self, path: str, out: Path, **query: Any) -> None:
        """Write the answer of a GET to a file, whole or not at all. Tries again as `send` does."""
        part = out.with_name(f"{out.name}.part")

        def once() -> httpx.Response:
            with self._http.stream("GET", f"/api{path}", params=query) as answer:
                if not answer.is_success:
                    answer.read()
                    return answer
                with part.open("wb") as file:
                    for chunk in answer.iter_bytes():
                        file.write(chunk)
                return answer

        try:
            self._try(once, repeatable=True)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)

    def _try(self, once: Callable[[], httpx.Response], repeatable: bool) -> httpx.Response:
        for pause in (*self._pauses, None):
            try:
                answer = once()
                if answer.status_code == 401 and self._name is not None:  # the login has ended meanwhile
                    self._log_in()
                    answer = once()
            except httpx.ConnectError as error:
                if pause is None:
                    raise self._unreachable() from error
            except httpx.TransportError as error:
                if pause is None or not repeatable:
                    raise self._unreachable() from error
            else:
                if answer.is_success:
                    return answer
                if answer.status_code not in _BUSY or pause is None or not (repeatable or answer.status_code == 429):
                    raise _server_error(answer)
                pause = max(pause, _wanted_pause(answer))
            self._sleep(pause)
        raise self._unreachable()

    def _log_in(self) -> None:
        try:
            answer = self._http.post("/login", data={"name": self._name, "password": self._password or ""})
        except httpx.TransportError as error:
            raise self._unreachable() from error
        if answer.status_code == 401:
            raise ServerSaid("The name or the password is wrong.", 401)
        if answer.headers.get("location", "").partition("?")[0].endswith(("/login/code", "/login/second-factor")):
            raise ServerSaid("This account needs a second factor to log in. Create a token and use it instead.", 401)
        if answer.status_code != 303:
            raise ServerSaid(f"Logging in failed ({answer.status_code}); try again later.", answer.status_code)

    def _unreachable(self) -> ServerSaid:
        return ServerSaid(f"No Glossator answers at {self._address}; is it running, and is the address right?", 0)


def build_request(kind: Any, **fields: Any) -> Any:
    """Return a request of the type `kind` as JSON.

    Raises ServerSaid (422), which names the field, when the request is not valid.
    """
    try:
        return kind(**fields).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors()[0]
        raise ServerSaid(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.", 422) from None


def plain(edits: Iterable[Any]) -> list[Any]:
    """Return edits as dictionaries. Each may be a model with the right fields, or a dictionary."""
    return [each.model_dump() if isinstance(each, BaseModel) else each for each in edits]


def _parse_answer(kind: type[_Answer], answer: httpx.Response) -> _Answer:
    adapter: TypeAdapter[_Answer] = _adapter(cast(Any, kind))
    return adapter.validate_json(answer.content)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _server_error(answer: httpx.Response) -> ServerSaid:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("detail"), str):
        return ServerSaid(body["detail"], answer.status_code, body)
    return ServerSaid(f"The server answered {answer.status_code} {answer.reason_phrase}.", answer.status_code)


def _wanted_pause(answer: httpx.Response) -> float:
    """Return the seconds that the server asks to wait, at most 60."""
    wanted = answer.headers.get("retry-after", "")
    return min(float(wanted), 60.0) if wanted.isdigit() else 0.0
