"""Whether the database holds exactly what the browser shows: nothing lost, nothing doubled."""

import json
from typing import Any

import numpy as np

from tests.browser.bench import Bench
from tests.support.server_process import Served

_LOCAL = """() => {
  const { answer: answers, queue } = document.querySelector('.glossator').workspace, { local } = answers;
  const { id, head, status, no_answer, pages } = local;
  return { id, head, status, no_answer, pages, waiting: queue.items.length };
}"""


LOOKS = 50


def local(bench: Bench) -> dict[str, Any]:
    """The open answer as the browser holds it."""
    return dict(bench.page.evaluate(_LOCAL))


def marks(pages: dict[str, Any]) -> dict[str, Any]:
    """What is marked, page by page, in one way of writing; pages without anything are left out."""
    found = {}
    for page, mark in pages.items():
        mark = {
            "words": sorted(mark.get("words", [])),
            "box": list(mark["mask"]["box"]),
            "counts": list(mark["mask"]["counts"]),
            "points": [[float(x), float(y), bool(positive)] for x, y, positive in mark.get("points", [])],
            "boxes": [list(box) for box in mark.get("boxes", [])],
        }
        if mark["words"] or mark["counts"] or mark["points"] or mark["boxes"]:
            found[page] = mark
    return found


def revisions(served: Served, annotation: str) -> list[dict[str, Any]]:
    """The revisions of an answer in the database, oldest first."""
    rows = served.rows(
        "select number, base, idempotency_key, state, status, author_id, created_at from revisions"
        " where annotation_id = ? order by number",
        annotation,
    )
    names = ("number", "base", "key", "state", "status", "author", "created_at")
    return [{**dict(zip(names, row, strict=True)), "state": json.loads(row[3])} for row in rows]


def assert_kept(bench: Bench, served: Served, acknowledged: dict[str, int] | None = None) -> dict[str, Any]:
    """The database's newest state of the open answer is the browser's, and its revisions are a gapless chain without
    doubles. acknowledged: key -> revision that the browser was told. Returns the browser's state."""
    here = local(bench)
    assert here["waiting"] == 0
    chain = revisions(served, here["id"])
    assert [each["number"] for each in chain] == list(range(1, len(chain) + 1))
    assert [each["base"] for each in chain] == list(range(len(chain)))
    keys = [each["key"] for each in chain]
    assert len(set(keys)) == len(keys)
    ((head, status),) = served.rows("select head, status from annotations where id = ?", here["id"])
    assert head == here["head"] == len(chain)
    assert status == here["status"]
    if chain:
        state = chain[-1]["state"]
        assert marks(state["pages"]) == marks(here["pages"])
        assert state["no_answer"] == here["no_answer"]
    for key, revision in (acknowledged or {}).items():
        assert keys.count(key) == 1 and chain[keys.index(key)]["number"] == revision
    if bench.painted().any() or chain:
        # A document that does not answer shows no mark; the mark is kept, for the answer may be taken back.
        wanted = np.zeros_like(bench.stored()) if here["no_answer"] else bench.stored()
        for _ in range(LOOKS):  # on a busy machine a frame may come after the answer that it shows
            if (bench.painted() == wanted).all():
                break
            bench.page.wait_for_timeout(100)
        assert (bench.painted() == wanted).all()
    return here


class Acknowledged(dict[str, int]):
    """Key -> revision of every save that this page was told of. Listens as long as the page lives."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        bench.listen("response", self._heard)

    def _heard(self, response: Any) -> None:
        request = response.request
        if request.method == "PUT" and request.url.endswith("/revisions") and response.status == 200:
            sent = json.loads(request.post_data or "{}")
            self[sent["idempotency_key"]] = sent["base"] + 1
