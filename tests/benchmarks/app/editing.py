"""From the hand to the frame: words, brush, undo, on pages of few and of many words, and beside 300 regions."""

from __future__ import annotations

import uuid

from tests.benchmarks.app.chromium import frames, opening, workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import document
from tests.benchmarks.app.server import Client, serving
from tests.browser.bench import Bench

BAR = 50.0
REGIONS = 300


def measure(rounds: int, edits: int, words: tuple[int, ...] = (600, 5000)) -> list[Row]:
    """Time from events to frames; `edits` of each kind a round."""
    found: list[Row] = []
    with serving() as served:
        client = Client(served.address)
        for count in words:
            made = client.upload(document(1, count, seed=count), f"{count} words.pdf")
            client.ask(made["id"], made["pages"][0]["id"], "What is the amount?")
            with workspace(served.address) as bench:
                _open(bench, made["id"])
                found += _edits(bench, client, made["pages"][0]["id"], rounds, edits, f"page of {count} words", BAR)
        made = client.upload(document(1, 2 * REGIONS, seed=1), "regions.pdf")
        page = made["pages"][0]["id"]
        asked = client.ask(made["id"], page, "Which are all of them?")
        every_other = client.get(f"/pages/{page}/words")["numbers"][::2][:REGIONS]
        edit = {"op": "mask", "page": page, "words": [], "mask": {"box": [0, 0, 0, 0], "counts": []}}
        body = {
            "idempotency_key": uuid.uuid4().hex,
            "base": 0,
            "edits": [edit, {"op": "words", "page": page, "add": every_other}],
        }
        client.send("PUT", f"/annotations/{asked['id']}/revisions", body)
        cold, warm = [], []
        for _ in range(rounds):
            with workspace(served.address) as bench:
                target = f"{served.address}/app/#document={made['id']}&annotation={asked['id']}"
                bench.page.goto("about:blank")
                bench.page.goto(target)
                bench.page.wait_for_function("() => document.querySelector('.glossator')?.dataset.ready")
                cold.append([float(bench.page.evaluate("() => performance.now()"))])
                _open(bench, client.upload(document(1, 50, seed=2), "another.pdf")["id"])
                warm.append([_go(bench, made["id"], asked["id"], page)])
        found.append(row(f"opening a page with {REGIONS} regions", warm))
        found.append(row("... with the whole application, nothing cached", cold))
        with workspace(served.address) as bench:
            _go(bench, made["id"], asked["id"], page)
            bench.page.evaluate("() => window.took.splice(0)")
            found += _edits(bench, client, page, rounds, edits, f"page with {REGIONS} regions", BAR, only=("brush",))
    return found


def _open(bench: Bench, identifier: str) -> None:
    bench.settled()
    bench.page.evaluate("(id) => document.querySelector('.glossator').workspace.navigation.document(id)", identifier)
    bench.page.wait_for_function(
        "(id) => { const { library } = document.querySelector('.glossator').workspace; return library.document?.id === id && library.image; }",
        arg=identifier,
    )
    bench.settled()


def _go(bench: Bench, identifier: str, annotation: str, page: str) -> float:
    bench.settled()
    act = f"workspace.navigation.document('{identifier}', null).then(() => workspace.navigation.annotation('{annotation}'))"
    return opening(bench, act, page, marked=True)


def _edits(
    bench: Bench,
    client: Client,
    page: str,
    rounds: int,
    edits: int,
    where: str,
    bar: float,
    only: tuple[str, ...] = ("word", "brush", "undo"),
) -> list[Row]:
    boxes = client.get(f"/pages/{page}/words")["boxes"]
    step = max(1, len(boxes) // edits)
    places = [bench.at((x0 + x1) / 2, (y0 + y1) / 2) for x0, y0, x1, y1 in boxes[::step][:edits]]
    took: dict[str, list[list[float]]] = {}

    def heard(what: str, *kinds: str) -> None:
        found = frames(bench)
        took.setdefault(what, []).append([each for kind in kinds for each in found.get(kind, [])])

    bench.page.locator(".g-canvas").focus()
    frames(bench)
    for _ in range(rounds):
        if "word" in only:
            bench.keys.press("w")
            frames(bench)
            for place in places:
                bench.page.mouse.click(*place)
                bench.page.wait_for_timeout(40)
            heard("word: press and release", "pointerdown", "pointerup")
        if "brush" in only:
            bench.keys.press("b")
            frames(bench)
            for x, y in places[: max(3, edits // 4)]:
                bench.page.mouse.move(x, y)
                bench.page.mouse.down()
                bench.page.mouse.move(x + 80, y + 12, steps=12)
                bench.page.mouse.up()
                bench.page.wait_for_timeout(40)
            heard("brush: press, move, release", "pointerdown", "pointermove", "pointerup")
        if "undo" in only:
            for _ in range(edits):
                bench.keys.press("Control+z")
                bench.page.wait_for_timeout(40)
            heard("undo", "keydown")
        bench.settled()
    return [row(f"{what}, {where}", times, bar) for what, times in took.items()]
