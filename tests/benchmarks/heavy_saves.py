"""What a person waits who saves a click while others save large edits: python -m tests.benchmarks.heavy_saves [--quick].

A picture of 25 megapixels. Each kind of large save is sent alone, then eight at once on eight answers; meanwhile somebody
draws a small stroke on an answer of their own, over and over. Prints a table in milliseconds; asserts nothing.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import threading
import time
import uuid
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from PIL import Image, ImageDraw

from model.masks import encode_patch
from tests.benchmarks.app.server import HEADERS, Client, serving
from tests.benchmarks.markdown import table

TOGETHER = 8
PAUSE = 0.02  # seconds between two small saves


@dataclass
class Answer:
    """An answer that a person works on."""

    id: str
    head: int = 0


@dataclass
class Times:
    """Milliseconds of large saves, what was answered to them, and of the clicks beside them."""

    wall: float
    statuses: dict[int, int]
    clicks: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small page: does it run? The figures say nothing.")
    side = 500 if parser.parse_args().quick else 5000
    rows = []
    with serving() as served:
        client = Client(served.address)
        made = client.upload(_picture(side), "large.png")
        page = made["pages"][0]
        asked = [Answer(client.ask(made["id"], page["id"], f"Which one is {at}?")["id"]) for at in range(TOGETHER + 1)]
        mine, theirs = asked[0], asked[1:]
        size = page["height"], page["width"]
        _saves(served.address, page["id"], mine, [], [])  # warms the server
        alone = [_click(client.http, page["id"], mine) for _ in range(50)]
        rows.append(["none", "", "", "", f"{statistics.median(alone):.0f}", f"{max(alone):.0f}"])
        for name, edits in _kinds(page["id"], size).items():
            for people in (theirs[:1], theirs):
                found = _saves(served.address, page["id"], mine, people, edits)
                answers = ", ".join(f"{number} x {status}" for status, number in found.statuses.items())
                clicks = (f"{statistics.median(found.clicks):.0f}", f"{max(found.clicks):.0f}")
                rows.append([name, str(len(people)), answers, f"{found.wall:.0f}", *clicks])
                print(rows[-1], flush=True)
    heads = ["large saves", "at once", "answered", "until all are answered", "a small save: median", "worst"]
    print(table(heads, rows))


def _picture(side: int) -> bytes:
    made = Image.new("L", (side, side), 255)
    ImageDraw.Draw(made).rectangle((100, 100, 300, 200), fill=0)
    content = io.BytesIO()
    made.save(content, "PNG")
    return content.getvalue()


def _kinds(page: str, size: tuple[int, int]) -> dict[str, list[dict[str, Any]]]:
    height, width = size
    whole = {"box": [0, 0, width, height], "counts": [height * width // 2, height * width - height * width // 2]}
    dots = np.zeros(size, dtype=bool)
    dots[::8, ::8] = True
    stroke = {"op": "patch", "page": page, "value": 1, "patch": whole}
    mask = {"op": "mask", "page": page, "words": [], "mask": encode_patch(dots)}
    return {
        "1,000 strokes over the page": [stroke] * 1000,
        "8 strokes over the page": [stroke] * 8,
        f"a mask of {len(mask['mask']['counts']):,} runs": [mask],  # type: ignore[index]
    }


def _saves(address: str, page: str, mine: Answer, people: list[Answer], edits: list[dict[str, Any]]) -> Times:
    """Send the edits for each of the people at once, and click until all are answered."""
    statuses: dict[int, int] = {}
    lock, over = threading.Lock(), threading.Event()
    clicks: list[float] = []

    def save(answer: Answer) -> None:
        body = json.dumps({"idempotency_key": uuid.uuid4().hex, "base": answer.head, "edits": edits})
        with httpx.Client(base_url=f"{address}/api", headers=HEADERS, timeout=300) as http:
            sent = http.put(
                f"/annotations/{answer.id}/revisions", content=body, headers={"content-type": "application/json"}
            )
        with lock:
            statuses[sent.status_code] = statuses.get(sent.status_code, 0) + 1
            if sent.status_code == 200:
                answer.head = sent.json()["revision"]

    def click() -> None:
        with httpx.Client(base_url=f"{address}/api", headers=HEADERS, timeout=300) as http:
            while True:
                clicks.append(_click(http, page, mine))
                if over.wait(PAUSE):
                    return

    person = threading.Thread(target=click)
    person.start()
    began = time.perf_counter()
    threads = [threading.Thread(target=save, args=(each,)) for each in people]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    wall = 1000 * (time.perf_counter() - began)
    over.set()
    person.join()
    return Times(wall, statuses, clicks)


def _click(http: httpx.Client, page: str, answer: Answer) -> float:
    """Draw a small stroke, or rub it out; return how long that took."""
    patch = {"box": [150, 150, 300, 178], "counts": [0, 150 * 28]}
    edit = {"op": "patch", "page": page, "value": 1 - answer.head % 2, "patch": patch}
    body = {"idempotency_key": uuid.uuid4().hex, "base": answer.head, "edits": [edit]}
    began = time.perf_counter()
    saved = http.put(f"/annotations/{answer.id}/revisions", json=body)
    took = 1000 * (time.perf_counter() - began)
    if saved.status_code == 200:  # a server that keeps it waiting for too long says 500
        answer.head = saved.json()["revision"]
    return took


if __name__ == "__main__":
    main()
