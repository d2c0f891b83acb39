"""A question to a page that the server has encoded already, over HTTP."""

from __future__ import annotations

import time
import uuid

from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import document
from tests.benchmarks.app.server import Client, serving

BAR = 150.0


def measure(rounds: int, asks: int, words: int = 600) -> list[Row]:
    """Time of `asks` new questions a round, and of as many refinements with a point."""
    with serving() as served:
        client = Client(served.address)
        made = client.upload(document(1, words), "words.pdf")
        page = made["pages"][0]
        began = time.perf_counter()
        client.ask(made["id"], page["id"], "What is the first amount?")
        first = 1000 * (time.perf_counter() - began)
        asked: list[list[float]] = []
        refined: list[list[float]] = []
        for _ in range(rounds):
            asked.append([])
            refined.append([])
            for _ in range(asks):
                began = time.perf_counter()
                answer = client.ask(made["id"], page["id"], f"What is the balance ({uuid.uuid4().hex[:8]})?")
                asked[-1].append(1000 * (time.perf_counter() - began))
                point = {"page_id": page["id"], "points": [[page["width"] / 2, page["height"] / 3, True]]}
                began = time.perf_counter()
                client.send("POST", f"/annotations/{answer['id']}/refine", point)
                refined[-1].append(1000 * (time.perf_counter() - began))
    return [
        row(f"warm ask over HTTP, page of {words} words", asked, BAR),
        row("the same refined with a point", refined, BAR),
        row("first ask, the page is encoded", [[first]]),
    ]
