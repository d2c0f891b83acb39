"""A person at work in a browser: tasks are taken, opened, corrected and accepted, with the requests that the page sends.

The order of requests, what is fetched in advance and what is cached follow `annotator/static/tasks/task_queue.js`,
`state/navigation.js`, `state/library.js` and `sync/save_queue.js`.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections import Counter, deque
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.annotators.connections import Answer, Connections, Lost
from tests.benchmarks.annotators.following import Following
from tests.benchmarks.app.edits import some_edit

BEAT = 30.0  # seconds between heartbeats
SETTLED = 0.3  # seconds after which a document that was fetched in advance is fetched again
WAITS = (1, 2, 4, 8, 15, 30)  # seconds between attempts to save
LISTED = 100  # documents
CACHED_WORDS = 24  # pages
EDITS = (4, 12)  # edits of a task, fewest and most


@dataclass
class Record:
    """What a person was told by the server.

    Attributes:
        acknowledged: key of a save -> answer, revision, and number of the save in its sending.
        words: answer -> the page on which it is marked, and the words that the person has marked there.
        saves: seconds since the beginning, and milliseconds from the hand to the answer, of each save.
        times: milliseconds of the other requests, by what they fetch.
        errors: sentence -> how often.
    """

    acknowledged: dict[str, tuple[str, int]] = field(default_factory=dict)
    words: dict[str, tuple[str, set[int]]] = field(default_factory=dict)
    saves: list[tuple[float, float]] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    tasks: int = 0


class Window:
    """A window of a browser, in which one person works through the queue.

    Args:
        connections: of its browser.
        user: id of the person.
        project: id of the project.
        seed: of pauses and edits.
        strokes: of a brush, as edits carry them.
        every: seconds between two edits.
    """

    def __init__(
        self,
        connections: Connections,
        user: str,
        project: str,
        *,
        seed: int,
        strokes: Sequence[dict[str, Any]],
        every: float,
    ) -> None:
        self.connections, self.user, self.project = connections, user, project
        self.rng, self.strokes, self.every = random.Random(seed), strokes, every
        self.record = Record()
        self.saved_at = 0.0
        self.document: str | None = None
        self._opened: dict[str, Any] = {}  # the open document
        self._expected: dict[str, Any] | None = None  # the one fetched in advance
        self._encoded: str | None = None
        self._task: str | None = None
        self._leaving = False
        self._renewed_at = 0.0
        self._last_listed = ""  # the document that stands last in the list, where there are more
        self._words: deque[str] = deque(maxlen=CACHED_WORDS)
        self._images: set[tuple[str, str]] = set()  # a browser keeps the file for ever
        self._tasks: set[asyncio.Task[None]] = set()
        self._begun = 0.0

    async def work(self, begun: float, until: float) -> None:
        """Work until a moment of the monotonic clock; `begun`: the moment from which saves are dated."""
        self._begun = begun
        following = Following(self, self._begin)
        try:
            await self._load()
            self._begin(self._listen(following))
            self._begin(self._beat())
            task = await self._next(None)
            while task is not None and time.monotonic() < until:
                task = await self._answer(task, until)
        except (Lost, Refused) as error:
            self._note(error)
        finally:
            following.stop()
            for running in list(self._tasks):
                running.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.connections.close()

    def _begin(self, step: Coroutine[Any, Any, None]) -> None:
        """Do something beside the work; its failure is noted, as the page keeps silent about it."""

        async def guarded() -> None:
            try:
                await step
            except (Lost, Refused) as error:
                self._note(error)

        running = asyncio.create_task(guarded())
        self._tasks.add(running)
        running.add_done_callback(self._tasks.discard)

    def _note(self, error: Exception) -> None:
        self.record.errors[str(error)[:160]] += 1

    # --- the page, and what it follows

    async def _load(self) -> None:
        await self._get("me", "/me")
        await self._get("projects", "/projects")
        await self.refresh_list()
        await self._get("queue", f"/projects/{self.project}/queue")

    async def _listen(self, following: Following) -> None:
        since: int | None = None
        while True:
            address = "/api/changes" if since is None else f"/api/changes?since={since}"
            try:
                async for view in self.connections.events(address):
                    since = view["next"]
                    following.hear(view)
            except Lost as error:
                self._note(error)
            await asyncio.sleep(1)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            if time.monotonic() - self._renewed_at > BEAT / 2:
                await self._renew()

    async def _renew(self) -> None:
        if self._task is not None and not self._leaving:
            task, self._renewed_at = self._task, time.monotonic()
            await self._send("heartbeat", "POST", f"/tasks/{task}/heartbeat", harmless=(403, 404, 409))

    def shows(self, document: str) -> bool:
        return document >= self._last_listed or document == self.document

    async def refresh_list(self) -> None:
        lines = await self._get("list of documents", f"/projects/{self.project}/documents?limit={LISTED}")
        self._last_listed = lines[-1]["id"] if len(lines) == LISTED else ""

    async def refresh_lines(self, documents: list[str]) -> None:
        if len(documents) > 50:
            return await self.refresh_list()
        named = "&".join(f"id={document}" for document in documents)
        await self._get("lines of documents", f"/projects/{self.project}/documents?{named}")
        return None

    async def refresh_document(self) -> None:
        if self.document is not None:
            await self._get("document", f"/documents/{self.document}")

    async def refresh_tasks(self) -> None:
        await asyncio.gather(self._get("queue", f"/projects/{self.project}/queue"), self._renew())

    async def refresh_projects(self) -> None:
        await self._get("projects", "/projects")

    async def refresh_questions(self) -> None:
        await self._get("questions", f"/projects/{self.project}/questions?document_id={self.document}")

    # --- a task

    async def _next(self, after: str | None) -> dict[str, Any] | None:
        self._leaving = True
        answer = await self._send(
            "next task", "POST", f"/projects/{self.project}/queue/next", {"after": after}, seconds=180
        )
        handed = answer.json()
        self._task, self._leaving = handed["task"] and handed["task"]["id"], False
        if handed["task"] is None:
            self._note(Refused(f"no task: {handed['reason']}"))
            return None
        return dict(handed)

    async def _answer(self, handed: dict[str, Any], until: float) -> dict[str, Any] | None:
        """Open a task, edit its answer at the pace of the person, accept it, and ask for the next one."""
        task = handed["task"]
        opening = time.monotonic()
        answer = await self._open(task, handed["annotation_id"], handed["page_id"])
        self.record.times.setdefault("task opened", []).append(1000 * (time.monotonic() - opening))
        self._begin(self._prepare_next(task["id"]))
        page = self._page_of(answer)
        numbers = (await self._get("words", f"/pages/{page['id']}/words"))["numbers"]
        marked = set(answer["state"]["pages"].get(page["id"], {}).get("words", []))
        head, prediction = answer["head"], (answer["proposal"] or {}).get("prediction_id")
        self.record.words[answer["id"]] = (page["id"], marked)
        due = time.monotonic() + self.every * self.rng.uniform(0.5, 1)
        for _ in range(self.rng.randint(*EDITS)):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if time.monotonic() > until:
                return None
            edit = some_edit(self.rng, page["id"], numbers, marked, self.strokes)
            more = {"edits": [edit], "images": {page["id"]: page["image"]}, "prediction_id": prediction}
            head = await self._save(answer["id"], head, due, {"interactions": {"word": 1}, **more})
            due = max(due + self.every, time.monotonic())
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        if time.monotonic() > until:
            return None
        await self._save(answer["id"], head, due, {"action": "accept", "edits": [], "prediction_id": prediction})
        self.record.tasks += 1
        return await self._next(task["id"])

    async def _open(self, task: dict[str, Any], annotation: str | None, page: str | None) -> dict[str, Any]:
        """Show a task as the page does; return its answer, asked where there is none."""
        if task["document_id"] != self.document:
            await self._open_document(task["document_id"])
        if annotation is not None:
            answer = dict(await self._get("answer", f"/annotations/{annotation}"))
        else:
            await self._show(self._opened["pages"][0])
            question = {
                "question": task["question"]["text"],
                "page_id": None if len(self._opened["pages"]) > 1 else self._opened["pages"][0]["id"],
            }
            asked = await self._send("ask", "POST", f"/documents/{self.document}/ask", question, seconds=180)
            answer = asked.json()
        shown = next((each for each in self._opened["pages"] if each["id"] == page), None)
        await self._show(shown or self._page_of(answer))
        return answer

    def _page_of(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the page of the open document that an answer is shown on."""
        pages = {page["id"]: page for page in self._opened["pages"]}
        marked = [page for page, mark in answer["state"]["pages"].items() if mark["words"]]
        proposed = (answer["proposal"] or {}).get("page_id")
        place = next((page for page in [*marked, proposed] if page in pages), None)
        return dict(pages[place] if place else self._opened["pages"][0])

    async def _open_document(self, document: str) -> None:
        ahead, self._expected = self._expected, None
        if ahead is not None and ahead["id"] == document:
            self._opened = ahead
            self._begin(self._refresh_settled(document))
        else:
            self._opened = await self._get("document", f"/documents/{document}")
        self.document = document
        if document < self._last_listed:
            self._begin(self.refresh_lines([document]))

    async def _refresh_settled(self, document: str) -> None:
        await asyncio.sleep(SETTLED)
        if self.document == document:
            await self.refresh_document()

    async def _show(self, page: dict[str, Any]) -> None:
        await self._fetch(page)
        if self._encoded != page["id"]:
            self._encoded = page["id"]
            self._begin(self._encode(page["id"]))

    async def _encode(self, page: str) -> None:
        await self._send("encode", "POST", f"/pages/{page}/encode", seconds=180)

    async def _fetch(self, page: dict[str, Any]) -> None:
        """Fetch words and image of a page, as far as the browser has not kept them."""
        parts = []
        if page["id"] not in self._words:
            self._words.append(page["id"])
            parts.append(self._get("words", f"/pages/{page['id']}/words"))
        if (page["id"], page["image"]) not in self._images:
            self._images.add((page["id"], page["image"]))
            parts.append(self._send("image", "GET", f"/pages/{page['id']}/image?version={page['image']}"))
        await asyncio.gather(*parts)

    async def _prepare_next(self, task: str) -> None:
        address = f"/projects/{self.project}/queue/upcoming"
        upcoming = (await self._send("upcoming", "POST", address, {"after": task}, seconds=180)).json()
        if upcoming is None or self._task != task:
            return
        document, self._encoded = upcoming["document_id"], upcoming["page_id"]
        coming = self._opened if document == self.document else await self._get("document", f"/documents/{document}")
        self._expected = coming
        pages = coming["pages"]
        await self._fetch(next((page for page in pages if page["id"] == upcoming["page_id"]), pages[0]))

    async def _save(self, answer: str, head: int, due: float, change: dict[str, Any]) -> int:
        """Save a change until the server has it; return its revision. It is late from the moment it was made."""
        key = str(uuid.uuid4())
        body = {"idempotency_key": key, "base": head, "action": "edit", "seconds": self.every, "interactions": {}}
        body |= {"images": {}} | change
        failures = 0
        while True:
            try:
                saved = await self._send(
                    "save",
                    "PUT",
                    f"/annotations/{answer}/revisions",
                    body,
                    seconds=30,
                    headers=f"X-Glossator-User: {self.user}\r\n",
                )
                break
            except (Lost, Refused) as error:
                if isinstance(error, Refused) and 400 <= error.status < 500 and error.status not in (401, 408, 429):
                    raise
                self._note(error)
                await asyncio.sleep(WAITS[min(failures, len(WAITS) - 1)])
                failures += 1
        self.saved_at = time.monotonic()
        self.record.saves.append((due - self._begun, 1000 * (self.saved_at - due)))
        revision = int(saved.json()["revision"])
        self.record.acknowledged[key] = (answer, revision)
        return revision

    # --- requests

    async def _get(self, what: str, path: str) -> Any:
        return (await self._send(what, "GET", path)).json()

    async def _send(
        self,
        what: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        seconds: float = 60,
        headers: str = "",
        harmless: tuple[int, ...] = (),
    ) -> Answer:
        begun = time.monotonic()
        answer = await self.connections.exchange(method, f"/api{path}", body, seconds=seconds, headers=headers)
        self.record.times.setdefault(what, []).append(1000 * (time.monotonic() - begun))
        if answer.status >= 400 and answer.status not in harmless:
            raise Refused(f"{what}: {answer.status} {answer.body[:120]!r}", answer.status)
        return answer


class Refused(Exception):
    """The server answered with a status of failure."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status
