"""How long people wait over HTTP: python -m tests.benchmarks.ask_latency ADDRESS [--asks 60].

Asks the first document of a running server's default project many questions, refines answers with a point, and saves edits. Prints
medians and 95 % of each. It leaves its questions and answers there: point it at a server that may be written to.
"""

import argparse
import statistics
import time
import uuid
from collections import defaultdict

import httpx


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--asks", type=int, default=60)
    chosen = parser.parse_args()
    took: dict[str, list[float]] = defaultdict(list)
    with httpx.Client(base_url=f"{chosen.address}/api", timeout=60) as client:

        def timed(what: str, method: str, path: str, body: dict[str, object]) -> dict:  # type: ignore[type-arg]
            began = time.perf_counter()
            answer = client.request(method, path, json=body)
            took[what].append(1000 * (time.perf_counter() - began))
            answer.raise_for_status()
            return answer.json()

        project = client.get("/projects").json()[0]["id"]
        document = client.get(f"/projects/{project}/documents").json()[0]["id"]
        page = client.get(f"/documents/{document}").json()["pages"][0]
        timed("first ask (page is encoded)", "POST", f"/documents/{document}/ask", _question(page["id"]))
        for _ in range(chosen.asks):
            asked = timed("warm ask", "POST", f"/documents/{document}/ask", _question(page["id"]))
            point = {"page_id": page["id"], "points": [[page["width"] / 2, page["height"] / 3, True]]}
            timed("refine with a point", "POST", f"/annotations/{asked['id']}/refine", point)
            edit = {
                "idempotency_key": uuid.uuid4().hex,
                "base": 0,
                "edits": [{"op": "words", "page": page["id"], "add": [0]}],
            }
            timed("save an edit", "PUT", f"/annotations/{asked['id']}/revisions", edit)
    print(f"{'':30} {'median ms':>10} {'95 % ms':>10} {'times':>6}")
    for what, times in took.items():
        ordered = sorted(times)
        high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        print(f"{what:30} {statistics.median(times):10.0f} {high:10.0f} {len(times):6}")


def _question(page_id: str) -> dict[str, object]:
    return {"question": f"What is the total due? ({uuid.uuid4().hex[:8]})", "page_id": page_id}


if __name__ == "__main__":
    main()
