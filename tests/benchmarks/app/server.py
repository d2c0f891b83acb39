"""The server that is measured, and how the benchmark talks to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.server_process import Served

HEADERS = {"X-Glossator": "1"}


@contextmanager
def serving(environment: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`glossator serve` on an empty folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as folder:
        served = Served(Path(folder), environment)
        served.start()
        try:
            yield served
        finally:
            served.stop()


class Client:
    """REST as the benchmark needs it."""

    def __init__(self, address: str, cookies: Mapping[str, str] | None = None) -> None:
        self.http = httpx.Client(base_url=f"{address}/api", headers=HEADERS, cookies=dict(cookies or {}), timeout=120)

    def get(self, path: str) -> Any:
        answer = self.http.get(path)
        answer.raise_for_status()
        return answer.json()

    def send(self, method: str, path: str, body: Any) -> Any:
        answer = self.http.request(method, path, json=body)
        answer.raise_for_status()
        return answer.json()

    def project(self) -> str:
        return str(self.get("/projects")[0]["id"])

    def upload(self, content: bytes, name: str, kind: str = "application/pdf") -> dict[str, Any]:
        """Upload a file; return the document with its pages."""
        answer = self.http.post(f"/projects/{self.project()}/documents", files=[("files", (name, content, kind))])
        answer.raise_for_status()
        return dict(self.get(f"/documents/{answer.json()['documents'][0]['document_id']}"))

    def ask(self, document: str, page: str, question: str) -> dict[str, Any]:
        return dict(self.send("POST", f"/documents/{document}/ask", {"question": question, "page_id": page}))
