"""Random sequences of what a person, the network and the server may do, and whether the database follows.

A sequence is a list of actions (name and numbers between 0 and 1), drawn from a seed; it begins with a new question on
a document of two pages. Afterwards the network is back, the server runs, and the database must hold what the browser
shows; so it must after one more undo and redo. The server's answer must never change what a person sees without a
conflict.
"""

import contextlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, Route, TimeoutError

from tests.browser.bench import Bench, invoice
from tests.browser.database_check import Acknowledged, assert_kept, marks
from tests.support.server_process import Served

REVISIONS = "**/api/annotations/*/revisions"
DOCUMENT_EVERY = 20  # sequences: the list of questions of one document must not grow for ever
DECISIONS = 20  # most that one sequence leaves to a person
Action = tuple[str, tuple[float, ...]]

# Name: how likely.
WEIGHTS = {
    "click": 14, "drag": 6, "line": 4, "brush": 9, "eraser": 6, "box": 3, "plus": 3, "minus": 2, "candidate": 3,
    "no_answer": 4, "undo": 10, "redo": 7, "clear": 3, "page": 6, "question": 4, "accept": 4, "settle": 4,
    "reload": 1.5,
    "offline": 4, "online": 6, "lose": 4, "elsewhere": 0.7,
}  # fmt: skip

# Counts every time that an answer of the server changes what stands in the browser.
_WATCH = """() => {
  const { answer: answers } = document.querySelector('.glossator').workspace;
  if (answers.watched) return;
  answers.watched = [];
  const was = answers.saved.bind(answers);
  answers.saved = (item, answer) => {
    const before = answers.local && JSON.stringify([answers.local.pages, answers.local.no_answer]);
    was(item, answer);
    const after = answers.local && JSON.stringify([answers.local.pages, answers.local.no_answer]);
    if (before !== after) answers.watched.push({ action: item.action, edits: item.edits, before, after });
  };
}"""

_HALTED = "() => document.querySelector('.glossator').workspace.queue.halted.size"


def sequence(seed: int, kills: bool = False) -> list[Action]:
    """The actions of a seed. kills: the server is killed once on the way."""
    rng = random.Random(seed)
    names = rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=rng.randint(5, 14))
    if kills:
        names.insert(rng.randint(1, len(names)), "kill")
    return [(name, tuple(round(rng.random(), 3) for _ in range(5))) for name in names]


@dataclass
class Stage:
    """One browser page on one server, where sequences run one after the other."""

    bench: Bench
    served: Served
    heard: Acknowledged = field(init=False)
    ran: int = 0
    words: dict[str, list[list[int]]] = field(default_factory=dict)
    size: tuple[int, int] = (1, 1)
    away: bool = False

    def __post_init__(self) -> None:
        self.heard = Acknowledged(self.bench)

    @property
    def page(self) -> Page:
        return self.bench.page

    def begin(self, seed: int) -> None:
        """A question that nobody has asked yet."""
        if self.ran % DOCUMENT_EVERY == 0:
            self.bench.upload(invoice(2))
            document = self.bench.get(f"/documents/{self.bench.place()['document']}")
            self.words = {
                page["id"]: self.bench.get(f"/pages/{page['id']}/words")["boxes"] for page in document["pages"]
            }
            self.size = (document["pages"][0]["width"], document["pages"][0]["height"])
            self.bench.keys.press("PageDown")  # both pages are in the browser before the network goes
            self.bench.settled()
            self.bench.keys.press("PageUp")
            self.bench.settled()
            self.bench.ask("What is the invoice date?")
        self.ran += 1
        self.heard.clear()
        self.page.evaluate(_WATCH)
        self.page.evaluate("() => (document.querySelector('.glossator').workspace.answer.watched.length = 0)")
        self.bench.ask(f"What is the total due ({self.ran}, {seed})?")
        self.page.locator(".g-canvas").focus()
        self.bench.keys.press("w")

    def run(self, seed: int, actions: Sequence[Action]) -> None:
        """Run a sequence and compare. AssertionError where the database and the browser part."""
        self.begin(seed)
        elsewhere = any(name == "elsewhere" for name, _ in actions)
        try:
            for name, given in actions:
                ACTIONS[name](self, given)
        finally:
            self.mend(actions)
        here = assert_kept(self.bench, self.served)
        assert elsewhere or not (
            changed := self.page.evaluate("() => document.querySelector('.glossator').workspace.answer.watched")
        ), f"the server disagreed: {changed}"
        self.told()
        if here["no_answer"]:
            return
        self.bench.keys.press("Control+z")
        self.bench.settled()
        undone = assert_kept(self.bench, self.served)
        self.bench.keys.press("Control+Shift+z")
        self.bench.settled()
        redone = assert_kept(self.bench, self.served)
        assert here["id"] == undone["id"] == redone["id"], "another answer was opened after all was settled"
        if undone["head"] != here["head"]:
            assert marks(redone["pages"]) == marks(here["pages"])
            assert redone["no_answer"] == here["no_answer"]

    def told(self) -> None:
        """Every save that the browser was told of is in the database, once."""
        for key, revision in self.heard.items():
            found = self.served.rows("select number from revisions where idempotency_key = ?", key)
            assert found == [(revision,)], f"{key} was acknowledged as revision {revision}; the database has {found}"

    def mend(self, actions: Sequence[Action]) -> None:
        """Everything works again, and what waits for a person is decided."""
        self.page.mouse.up()
        self.page.unroute_all(behavior="wait")
        self.online(())
        if not self.served.running:
            self.served.start()
        self.hurry()
        choice = "Save my version" if len(actions) % 2 else "Use saved version"
        for _ in range(DECISIONS):
            if self.quiet() and not self.page.evaluate(_HALTED):
                break
            dialog = self.page.get_by_role("dialog")
            if dialog.count():
                dialog.get_by_role("button", name=choice).click()
            elif self.page.evaluate(_HALTED):
                # The dialog comes by itself once the page to show is there, and then lies over the button.
                with contextlib.suppress(TimeoutError):
                    self.page.get_by_role("button", name="Compare").click(timeout=5000)
            else:
                break
        assert not self.page.evaluate(_HALTED), f"what waits for a decision still waits after {DECISIONS} of them"
        unseen = any(name == "elsewhere" for name, _ in actions)  # what somebody else saved last is no news yet
        if unseen or self.page.evaluate("() => !document.querySelector('.glossator').workspace.library.image"):
            self.bench.reload()  # its page could not be fetched
            self.bench.ready()
            self.page.evaluate(_WATCH)
        self.bench.settled()

    def quiet(self) -> bool:
        """Whether nothing is under way, after a while at most."""
        try:
            self.page.wait_for_function(
                "() => { const { queue, answer: answers } = document.querySelector('.glossator').workspace;"
                " return queue.halted.size || (!queue.items.length && !answers.refining); }",
                timeout=60_000,
            )
        except TimeoutError:
            return False
        return not self.page.evaluate(_HALTED)

    def hurry(self) -> None:
        self.page.evaluate("window.dispatchEvent(new Event('online'))")

    # --- where

    def word(self, share: float) -> tuple[float, float]:
        """A place on a word of the open page, in the window."""
        boxes = self.words.get(self.bench.place().get("page", ""), [[10, 10, 20, 20]])
        x0, y0, x1, y1 = boxes[min(len(boxes) - 1, int(share * len(boxes)))]
        return self.bench.at((x0 + x1) / 2, (y0 + y1) / 2)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A place in the upper part of the page, where the words are, in the window."""
        return self.bench.at(x * 0.8 * self.size[0], (0.05 + 0.3 * y) * self.size[1])

    # --- actions

    def stroke(self, places: Sequence[tuple[float, float]]) -> None:
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=3)
        self.page.mouse.up()

    def tool(self, key: str, places: Sequence[tuple[float, float]]) -> None:
        self.bench.keys.press(key)
        self.stroke(places)
        self.bench.keys.press("w")

    def line(self, given: Sequence[float]) -> None:
        self.bench.keys.down("Shift")
        self.page.mouse.click(*self.word(given[0]))
        self.bench.keys.up("Shift")

    def online(self, _given: Sequence[float]) -> None:
        self.page.context.set_offline(False)
        self.away = False

    def offline(self, _given: Sequence[float]) -> None:
        self.page.context.set_offline(True)
        self.away = True

    def reload(self, _given: Sequence[float]) -> None:
        if self.away or not self.served.running:
            return
        self.bench.reload()
        self.bench.ready()
        self.page.evaluate(_WATCH)

    def lose(self, _given: Sequence[float]) -> None:
        """The server stores the next edit; its answer never arrives."""
        lost: list[bool] = []

        def handle(route: Route) -> None:
            if lost or self.away:
                route.continue_()
                return
            lost.append(True)
            route.fetch()
            route.abort("connectionreset")

        self.page.route(REVISIONS, handle)

    def kill(self, given: Sequence[float]) -> None:
        self.page.unroute_all(behavior="wait")
        self.served.kill()
        if given[0] < 0.5:
            self.served.start()
            self.hurry()

    def settle(self, _given: Sequence[float]) -> None:
        if not self.away:
            self.page.wait_for_timeout(250)

    def elsewhere(self, _given: Sequence[float]) -> None:
        """Somebody else saves."""
        if not self.served.running:
            return
        annotation = self.bench.annotation()
        page = next(iter(self.words))
        self.page.request.put(
            f"{self.bench.server}/api/annotations/{annotation['id']}/revisions",
            data={
                "idempotency_key": f"elsewhere-{annotation['head']}", "base": annotation["head"],
                "edits": [{"op": "words", "page": page, "add": [0], "remove": []}],
            },
            headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
        )  # fmt: skip


ACTIONS: dict[str, Callable[[Stage, Sequence[float]], Any]] = {
    "click": lambda stage, g: stage.page.mouse.click(*stage.word(g[0])),
    "drag": lambda stage, g: stage.stroke([stage.word(g[0]), stage.word(g[1])]),
    "line": Stage.line,
    "brush": lambda stage, g: stage.tool("b", [stage.point(g[0], g[1]), stage.point(g[2], g[3])]),
    "eraser": lambda stage, g: stage.tool("e", [stage.word(g[0]), stage.point(g[1], g[2]), stage.word(g[3])]),
    "box": lambda stage, g: stage.tool("r", [stage.point(g[0], g[1]), stage.point(g[2], g[3])]),
    "plus": lambda stage, g: stage.tool("p", [stage.word(g[0])]),
    "minus": lambda stage, g: stage.tool("m", [stage.word(g[0])]),
    "candidate": lambda stage, g: stage.bench.keys.press(str(1 + int(3 * g[0]))),
    "no_answer": lambda stage, g: stage.bench.keys.press("x"),
    "undo": lambda stage, g: stage.bench.keys.press("Control+z"),
    "redo": lambda stage, g: stage.bench.keys.press("Control+Shift+z"),
    "clear": lambda stage, g: stage.bench.keys.press("Delete"),
    "page": lambda stage, g: stage.bench.keys.press("PageDown" if g[0] < 0.5 else "PageUp"),
    "question": lambda stage, g: stage.bench.keys.press("k" if g[0] < 0.6 else "j"),
    "accept": lambda stage, g: stage.bench.keys.press("Enter"),
    "settle": Stage.settle,
    "reload": Stage.reload,
    "offline": Stage.offline,
    "online": Stage.online,
    "lose": Stage.lose,
    "elsewhere": Stage.elsewhere,
    "kill": Stage.kill,
}


def check(stage: Stage, seed: int, kills: bool = False) -> None:
    """Run the sequence of a seed; where it fails, say the shortest one found that fails too."""
    actions = sequence(seed, kills)
    try:
        stage.run(seed, actions)
    except (AssertionError, TimeoutError) as error:
        shortest = shrink(stage, seed, actions)
        raise AssertionError(f"Seed {seed}: {error}\nThe sequence: {actions}\nThis fails too: {shortest}") from error


def shrink(stage: Stage, seed: int, actions: Sequence[Action], most: int = 30) -> list[Action]:
    """A shorter sequence that still fails, one action left out at a time; after `most` tries what was found so far."""
    found = list(actions)
    at = 0
    while at < len(found) and most > 0:
        shorter = found[:at] + found[at + 1 :]
        most -= 1
        try:
            stage.bench.reload()  # what went wrong before is over
            stage.bench.ready()
            stage.run(seed, shorter)
        except (AssertionError, TimeoutError):
            found = shorter
        else:
            at += 1
    return found
