"""Every route with what breaks servers: NUL, half characters, numbers that no column holds, NaN, depth; in paths, queries and bodies."""

import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotator.app import create_app
from engine.settings import Settings
from tests.support.accounts import ADDRESS, cookie_of
from tests.support.named_answers import Named
from tests.support.populated_project import World

# As JSON writes them; NaN and Infinity are Python's, which others send too.
NASTY = (
    *('"\\u0000"', '"\\ud800"', '"a\\u0000b\\ud800"', '""', '" "', "NaN", "Infinity", "-Infinity", "-0.0", "1e400", "true", "null"),
    *("1" + "0" * 40, "-" + "9" * 19, "2147483648", "9223372036854775808", "[]", "{}", "[" * 500 + "]" * 500, '{"a":' * 500 + "1" + "}" * 500),
    json.dumps("x" * 100_000),
)  # fmt: skip
WORDS = (
    "%00",
    "%ED%A0%80",
    "%FF",
    "9" * 40,
    "-1",
    "NaN",
    "1e400",
    "x" * 3000,
    "%F0%9F%92%A3",
    "%2E%2E%2F",
    "%0d%0a",
    "",
)
HEADERS = ({"content-type": "text/plain"}, {"content-type": "application/json; charset=utf-16"}, {"content-type": ""})


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a body something can stand: the whole of it first, then each field and entry."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*at, name))


def with_hole(value: Any, at: tuple[Any, ...], hole: str) -> Any:
    """A body with a text that stands for what is put at a place."""
    if not at:
        return hole
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = with_hole(copy[at[0]], at[1:], hole)
    return copy


def requests(
    path: str, method: str, operation: dict[str, Any], ids: dict[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Addresses and what is sent to them."""
    there = path.format(**ids)
    content = operation.get("requestBody", {}).get("content", {})
    example = content.get("application/json", {}).get("example")
    good: dict[str, Any] = {"json": example} if example is not None else {}
    if "multipart/form-data" in content:
        good = {"files": {"files": ("a.pdf", b"nothing"), "file": ("a.zip", b"nothing")}}
    yield there, good
    for name in ids:
        if f"{{{name}}}" in path:
            for word in WORDS[:-1]:
                yield path.format(**{**ids, name: word}), good
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            for word in WORDS:
                yield f"{there}?{parameter['name']}={word}&{parameter['name']}={word}", good
        elif parameter["in"] == "header":
            yield there, {**good, "headers": {parameter["name"]: "x" * 5000}}
    if example is not None:
        for at in places(example):
            written = json.dumps(with_hole(example, at, "HOLE"))
            for nasty in NASTY:
                yield (
                    there,
                    {"content": written.replace('"HOLE"', nasty), "headers": {"content-type": "application/json"}},
                )
        for header in HEADERS:
            yield there, {"content": json.dumps(example), "headers": header}
    if content:
        yield there, {"content": b"\xff\xfe--x", "headers": {"content-type": next(iter(content))}}
        yield there, {"content": b"--x\r\n\r\n", "headers": {"content-type": "multipart/form-data; boundary=x"}}


@pytest.mark.parametrize(
    ("database_url", "who"),
    [
        pytest.param("postgresql", "owner", marks=pytest.mark.postgresql, id="admin"),
        pytest.param("sqlite", "annotator", id="annotator"),
    ],
    indirect=["database_url"],
)
def test_nothing_that_is_sent_breaks_a_route(database_url: str, who: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, auth="login", _env_file=None)
    app = create_app(settings)
    found: list[str] = []
    with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
        workspace = app.state.answer_service.workspace
        app.state.change_streams.stop()  # an answer without an end would be waited for; now it is 429
        world = World(workspace, client)
        person = world.people[who]
        document = app.openapi()
        named = Named(document)
        ids = world.ids_of(person)
        count = 0
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                for address, sent in requests(path, method, operation, ids):
                    answer = person.request(method.upper(), address, **sent)
                    count += 1
                    plain = urllib.parse.unquote(address.split("?")[0], errors="replace")
                    fault = named.fault(
                        method.upper(),
                        plain,
                        answer.status_code,
                        answer.headers.get("content-type", ""),
                        answer.content,
                    )
                    if method != "get" and "get" in operations:  # what was stored can be read
                        answer = max(answer, person.get(address), key=lambda each: each.status_code >= 500)
                    if answer.status_code >= 500 or fault:
                        found.append(f"{method} {address[:120]} {str(sent)[:100]} {answer.status_code} {fault}")
                    if answer.status_code == 401:  # the request ended its own login
                        person.cookie = cookie_of(workspace, person.known)
    assert count > 1000
    assert not found, f"{len(found)} of {count}:\n" + "\n".join(found[:60])
