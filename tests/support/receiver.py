"""A receiver of webhooks: a real HTTP server that keeps what it gets and answers as it is told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook as Verifier


@dataclass(frozen=True, slots=True)
class Received:
    """A request: its path, its headers in small letters, and its body."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verified(self, secret: str) -> Any:
        """Return the message, after the library of receivers has checked its signature."""
        return Verifier(secret).verify(self.body, self.headers)


@dataclass(slots=True)
class Receiver:
    """What arrived, and the statuses of the next answers; 200 when none are left."""

    url: str = ""
    requests: list[Received] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Run a receiver on a free port of this machine."""
    receiving = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiving.requests.append(Received(self.path, headers, body))
            status = receiving.answers.pop(0) if receiving.answers else 200
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", f"{receiving.url}/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiving.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield receiving
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
