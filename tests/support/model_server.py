"""A server of another model, over a real socket: it speaks both protocols, and misbehaves when it is told to."""

import base64
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image


@dataclass(slots=True)
class ModelServer:
    """What arrived, what it answers, and how it misbehaves at the next requests.

    Attributes:
        url: Its address, without a path.
        values: Printed texts by name of the field; of the small protocol, the parts of a prediction.
        faults: Of the next requests, in order: a status, or a name of a way to misbehave.
        requests: JSON bodies, with their paths and keys.
        gone_on: Set it to let requests that hang end.
    """

    url: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    faults: list[int | str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    version: str = ""
    gone_on: threading.Event = field(default_factory=threading.Event)

    def pictures(self, at: int = -1) -> list[Image.Image]:
        """Return the pictures of a request, decoded."""
        body = self.requests[at]
        if "pages" in body:
            urls = [page["image"] for page in body["pages"]]
        else:
            urls = [part["image_url"]["url"] for part in body["messages"][1]["content"] if part["type"] == "image_url"]
        heads = {url.split(",")[0] for url in urls}
        assert heads == {"data:image/jpeg;base64"}, heads
        return [Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))) for url in urls]

    def reply(self, path: str, body: dict[str, Any]) -> bytes:
        """Return the content of a right answer."""
        if path.endswith("/chat/completions"):
            schema = body["response_format"]["json_schema"]["schema"]
            said = {name: self.values.get(name) for name in schema["required"]}
            message = {"role": "assistant", "content": json.dumps(said)}
            return json.dumps(
                {
                    "choices": [{"message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1000, "completion_tokens": 25},
                }
            ).encode()
        asked = [part["name"] for part in body["fields"] if self.values.get(part["name"])]
        predictions = [{"field": name, **self.values[name]} for name in asked]
        return json.dumps(
            {"predictions": predictions, "version": self.version, "tokens": {"in": 300, "out": 7}}
        ).encode()


def _cut_off(reply: bytes) -> bytes:
    return reply.replace(b'"finish_reason": "stop"', b'"finish_reason": "length"')


_WRONG = {
    "no json": b"<html>busy</html>",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "no choice": b'{"choices": []}',
    "prose": json.dumps({"choices": [{"message": {"content": "The total is 11.50."}}]}).encode(),
    "refusal": json.dumps({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}).encode(),
    "other field": json.dumps({"predictions": [{"field": "owner", "text": "Nr1"}]}).encode(),
    "other page": json.dumps({"predictions": [{"field": "total", "text": "11.50", "page": 9}]}).encode(),
    "no marks": json.dumps({"predictions": [{"field": "total", "marks": [{"box": [900, 900, 950, 950]}], "page": 1}]})
    .encode(),
    "nothing": b"{}",
}  # fmt: skip


@contextmanager
def model_server(port: int = 0) -> Iterator[ModelServer]:
    """Run such a server on a port of this machine; 0: a free one."""
    serving = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            serving.requests.append(body)
            serving.paths.append(self.path)
            serving.keys.append(self.headers["authorization"])
            self.answer(serving.faults.pop(0) if serving.faults else "", body)

        def answer(self, fault: int | str, body: dict[str, Any]) -> None:
            if isinstance(fault, int):
                self.send_response(fault)
                if 300 <= fault < 400:
                    self.send_header("location", f"{serving.url}/elsewhere/chat/completions")
                self.send_header("content-length", "0")
                self.end_headers()
                return
            if fault == "hang":
                serving.gone_on.wait(60)
                return
            if fault == "hang up":
                return
            content = _WRONG.get(fault) or serving.reply(self.path, body)
            if fault == "cut off":
                content = _cut_off(content)
            self.send_response(200)
            if fault != "large":
                self.send_header("content-length", str(len(content)))
            self.end_headers()
            if fault == "large":
                while not serving.gone_on.is_set():  # for ever: the reader has to end it
                    try:
                        self.wfile.write(b" " * 100_000)
                    except OSError:
                        return
            elif fault == "drip":
                for byte in content:
                    if serving.gone_on.wait(0.1):
                        return
                    self.wfile.write(bytes([byte]))
            else:
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    serving.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield serving
    finally:
        serving.gone_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
