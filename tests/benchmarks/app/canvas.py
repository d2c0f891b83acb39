"""From the hand to the frame on a scan of 25 megapixels: words, brush, eraser, undo.

An edit waits for the screen's next frame, up to 17 ms at 60 frames a second, whatever it costs: a row shows that for a key
that does nothing. What the page itself adds stands in the rows "at work"; under 16 ms, an edit is in the very next frame.
"""

from __future__ import annotations

import io
import uuid
from typing import Any

import numpy as np
from PIL import Image

from tests.benchmarks.app.chromium import steps, workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import WORDS
from tests.benchmarks.app.server import Client, serving
from tests.browser.bench import Bench

BAR = 16.0
SIZE = (4204, 5946)  # A4 at 509 dots per inch: 25.0 million pixels
LINES, COLUMNS = 60, 10
REST = 60  # milliseconds between two edits


def scan(seed: int = 0) -> bytes:
    """A scan of A4 without a letter, as PNG: OCR would find other words each time, or none beside other work."""
    noise = np.random.default_rng(seed).integers(244, 255, (SIZE[1] // 8, SIZE[0] // 8), dtype=np.uint8)
    page = Image.fromarray(noise).resize(SIZE, Image.Resampling.NEAREST)
    written = io.BytesIO()
    page.save(written, "PNG", compress_level=1)
    return written.getvalue()


def write_words(client: Client, page: str) -> dict[str, Any]:
    """Add 600 words in lines to a page; return its words."""
    edits = []
    for at in range(LINES * COLUMNS):
        x, y = 260 + at % COLUMNS * 370, 260 + at // COLUMNS * 90
        edits.append({"op": "add", "text": WORDS[at % len(WORDS)], "box": [x, y, x + 300, y + 62]})
    version = client.get(f"/pages/{page}/words")["version"]
    body = {"idempotency_key": uuid.uuid4().hex, "base": version, "edits": edits}
    return dict(client.send("PUT", f"/pages/{page}/words", body))


def measure(rounds: int, edits: int) -> list[Row]:
    """Time from events to frames; `edits` of each kind a round, on an empty answer and beside many regions."""
    found: list[Row] = []
    with serving() as served:
        client = Client(served.address)
        made = client.upload(scan(), "scan.png", "image/png")
        page = made["pages"][0]["id"]
        words = write_words(client, page)
        for regions in (0, len(words["numbers"]) // 2):
            asked = client.ask(made["id"], page, f"Which are the {regions} amounts?")
            _mark(client, asked, page, words["numbers"][: 2 * regions : 2])
            with workspace(served.address) as bench:
                place = f"{served.address}/app/#document={made['id']}&annotation={asked['id']}"
                bench.page.goto("about:blank")
                bench.page.goto(place)
                bench.page.wait_for_function("() => document.querySelector('.glossator')?.dataset.ready")
                bench.settled()
                found += _edits(bench, words["boxes"], rounds, edits, f"{regions} regions")
    return found


def _mark(client: Client, asked: dict[str, Any], page: str, numbers: list[int]) -> None:
    empty = {"op": "mask", "page": page, "words": [], "mask": {"box": [0, 0, 0, 0], "counts": []}}
    edits = [empty, {"op": "words", "page": page, "add": numbers}] if numbers else [{"op": "clear", "page": page}]
    body = {"idempotency_key": uuid.uuid4().hex, "base": asked["head"], "edits": edits}
    client.send("PUT", f"/annotations/{asked['id']}/revisions", body)


def _edits(bench: Bench, boxes: list[list[int]], rounds: int, edits: int, where: str) -> list[Row]:
    step = max(1, len(boxes) // edits) | 1  # odd: marked and unmarked words by turns
    places = [bench.at((x0 + x1) / 2, (y0 + y1) / 2) for x0, y0, x1, y1 in boxes[1::step][:edits]]
    took: dict[str, list[list[tuple[float, float]]]] = {}
    mouse = bench.page.mouse

    def heard(what: str, *kinds: str) -> None:
        took.setdefault(what, []).append([(total, work) for kind, total, work in steps(bench) if kind in kinds])

    bench.page.locator(".g-canvas").focus()
    for _ in range(rounds):
        steps(bench)
        for _ in range(edits):
            bench.keys.press("F8")
            bench.page.wait_for_timeout(REST)
        heard("a key that does nothing", "keydown")
        bench.keys.press("w")
        steps(bench)
        for place in places:
            mouse.click(*place)
            bench.page.wait_for_timeout(REST)
        heard("word: press, release", "pointerdown", "pointerup")
        for key, tool in (("b", "brush"), ("e", "eraser")):
            bench.keys.press(key)
            steps(bench)
            for x, y in places[: max(3, edits // 4)]:
                mouse.move(x, y)
                mouse.down()
                mouse.move(x + 80, y + 12, steps=12)
                mouse.up()
                bench.page.wait_for_timeout(REST)
            heard(f"{tool}: press, move, release", "pointerdown", "pointermove", "pointerup")
        for key, step_back in (("Control+z", "undo"), ("Control+Shift+z", "redo"), ("Control+z", "undo")):
            for _ in range(edits):
                bench.keys.press(key)
                bench.page.wait_for_timeout(REST)
            heard(step_back, "keydown")
        bench.settled()
    return [
        each
        for what, times in took.items()
        for each in (
            row(f"{what}; {where}", [[total for total, _ in run] for run in times]),
            row(f"... of it at work; {where}", [[work for _, work in run] for run in times], BAR),
        )
    ]
