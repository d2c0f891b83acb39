"""People whose requests a server may never answer: what was not answered is sent again, as the page does it."""

import threading
import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

HEADERS = {"X-Glossator": "1"}
PAUSE = 0.05  # seconds before a request is sent again


@dataclass
class Writer:
    """A person who takes tasks, asks, corrects and accepts.

    Attributes:
        address: Of the server.
        project: Id of the project.
        cookie: Of the login.
        first_pages: Page ids by document.
        over: Set when the work is over.
        outages: Statuses after which a request is sent again, as after no answer.
        shared: Ids of answers that others change, too: somebody may be faster there.
        conflicts: Number of saves to which somebody was faster.
        put_off: Number of answers by status, of those after which a request was sent again.
        sent: Keys of all revisions that were sent.
        acknowledged: Answer and revision by key, of each revision that the server confirmed.
        failures: What a server must not answer.
    """

    address: str
    project: str
    cookie: dict[str, str]
    first_pages: dict[str, str]
    over: threading.Event
    outages: Collection[int] = ()
    shared: Collection[str] = ()
    conflicts: int = 0
    put_off: Counter[int] = field(default_factory=Counter)
    sent: set[str] = field(default_factory=set)
    acknowledged: dict[str, tuple[str, int]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def work(self) -> None:
        """Work until the work is over, or an answer is wrong."""
        with httpx.Client(base_url=f"{self.address}/api", headers=HEADERS, cookies=self.cookie, timeout=60) as http:
            before: str | None = None
            while not self.over.is_set() and not self.failures:
                before = self.act(http, before)

    def act(self, http: httpx.Client, before: str | None) -> str | None:
        """Answer the task after `before`; return it. None when the work is over."""
        given = self.request(http, "POST", f"/projects/{self.project}/queue/next", {"after": before})
        if given is None:
            return None
        task = given["task"]
        if task is None:
            self.failures.append(f"There is no task left: {given['reason']}")
            return None
        page = self.first_pages[task["document_id"]]
        asked = {"question": task["question"]["text"], "page_id": page}
        answer = self.request(http, "POST", f"/documents/{task['document_id']}/ask", asked)
        if answer is None:
            return None
        edits = [{"op": "words", "page": page, "add": [3]}, {"op": "words", "page": page, "add": [4], "remove": [3]}]
        head = answer["head"]
        for edit in edits:
            head = self.save(http, answer["id"], {"base": head, "edits": [edit], "seconds": 1.5}) or head
        self.save(http, answer["id"], {"base": head, "action": "accept"})
        return str(task["id"])

    def save(self, http: httpx.Client, answer: str, revision: dict[str, Any]) -> int | None:
        """Save a revision under a new key; return its number, and None when it was not saved."""
        key = uuid.uuid4().hex
        self.sent.add(key)
        body = {"idempotency_key": key, **revision}
        allowed = (200, 409) if answer in self.shared else (200,)
        saved = self.request(http, "PUT", f"/annotations/{answer}/revisions", body, allowed)
        if saved is None:
            return None
        if "revision" not in saved:
            self.conflicts += 1
            return None
        self.acknowledged[key] = (answer, saved["revision"])
        return int(saved["revision"])

    def request(
        self,
        http: httpx.Client,
        method: str,
        path: str,
        body: Any = None,
        allowed: Collection[int] = (200,),
        **more: Any,
    ) -> Any:
        """Send until the server answers; return what it says, and None when the work is over first."""
        while not self.over.is_set():
            try:
                answer = http.request(method, path, json=body, **more)
            except httpx.TransportError:  # killed, or not up yet
                self.over.wait(PAUSE)
                continue
            if answer.status_code in self.outages:
                self.put_off[answer.status_code] += 1
                self.over.wait(PAUSE)
                continue
            if answer.status_code not in allowed:
                self.failures.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
                self.over.set()
                return None
            return answer.json()
        return None


@dataclass
class Corrector(Writer):
    """A reviewer who corrects the same answers as others do; where somebody was faster, the newest one is corrected."""

    answers: Sequence[tuple[str, str]] = ()  # with the page of each

    def act(self, http: httpx.Client, before: str | None) -> str | None:
        """Correct the answer after `before`; return it. None when the work is over."""
        ids = [answer for answer, _ in self.answers]
        at = (ids.index(before) + 1) % len(ids) if before in ids else 0
        answer, page = self.answers[at]
        shown = self.request(http, "GET", f"/annotations/{answer}")
        if shown is None:
            return None
        edit = {"op": "words", "page": page, "add": [shown["head"] % 5]}
        self.save(http, answer, {"base": shown["head"], "edits": [edit]})
        return answer


def wait_for_more(people: Sequence[Writer], number: int, threads: Sequence[threading.Thread]) -> None:
    """Wait until so many more revisions are acknowledged."""
    wanted = sum(len(person.acknowledged) for person in people) + number
    while sum(len(person.acknowledged) for person in people) < wanted:
        assert any(thread.is_alive() for thread in threads), [person.failures for person in people]
        threads[0].join(0.01)
