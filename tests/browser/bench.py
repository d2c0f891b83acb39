"""What a person sees and does in the workspace, in the words of the tests."""

import io
import itertools
import random
from collections.abc import Callable
from string import ascii_lowercase
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import FilePayload, Page, Request, TimeoutError, expect

from model.boxes import Box
from model.masks import decode_patch

Mask = NDArray[np.bool_]
_serial = itertools.count(1)
OPENING = 120_000  # milliseconds: Gradio starts in seconds of a processor, which other programs may have

# What is marked on the open page, as run lengths over the whole page (starting with zeros), and how many pixels of the
# screen show something else. A pixel of the screen has colour where the page under it is painted, and nowhere else.
_PAINTED = """async () => {
  const { stage } = document.querySelector('.glossator').workspace;
  stage.draw();
  await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
  const { layer, marks: { mask } } = stage, { columns, rows } = layer;
  const wanted = new Uint8Array(columns.length * rows.length), counts = [];
  let value = 0, run = 0, wrong = 0;
  for (let at = 0; at < mask.bytes.length; at++) {
    const here = mask.bytes[at];
    if (here) wanted[rows.cell[Math.floor(at / mask.width)] * columns.length + columns.cell[at % mask.width]] = 1;
    if (here !== value) { counts.push(run); run = 0; value = here; }
    run++;
  }
  counts.push(run);
  for (const { area: [x0, y0, x1, y1], canvas, stale } of layer.tiles.values()) {
    if (stale) continue; // out of sight
    const shown = canvas?.getContext('2d').getImageData(0, 0, x1 - x0, y1 - y0).data;
    for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) {
      const colour = shown ? Number(shown[4 * ((y - y0) * (x1 - x0) + x - x0) + 3] > 0) : 0;
      if (colour !== wanted[y * columns.length + x]) wrong++;
    }
  }
  return { counts, wrong, height: mask.height, width: mask.width };
}"""


# What is still under way, each of them null or 0 when it is done.
_STATE = """(({ answer: answers, queue, library, stage }) => ({
  asking: answers.asking, fetching: answers.fetching, refining: answers.refining, unsaved: queue.items.length,
  sending: queue.sending, opening: !library.image || stage.page?.id !== library.page?.id, halted: queue.halted.size,
}))(document.querySelector('.glossator').workspace)"""
_STATE_NOW = f"() => {_STATE}"

# Mounts a workspace in place of the one that stands, as `main.js` does when Gradio builds its element anew: nothing of
# the workspace before is left but what the browser stores.
_MOUNT = """([place, project]) => {
  const before = document.querySelector('.glossator'), root = document.createElement('div');
  for (const name of ['role', 'aria-label']) root.setAttribute(name, before.getAttribute(name));
  root.className = 'glossator';
  history.replaceState(null, '', location.pathname + place);
  before.replaceWith(root);
  window.Glossator.mount(root, { project });
}"""


def mount(page: Page, place: str, project: str | None = None) -> None:
    """Mount a new workspace in a page that stands; it takes a tenth of the time of a reload.

    Args:
        page: page of the browser with a workspace.
        place: fragment of the address, with its #.
        project: project to open; None: the one that the address names.
    """
    page.evaluate(_MOUNT, [place, project])
    page.wait_for_selector(".glossator[data-started]", timeout=OPENING)


def sent_json(request: Request) -> dict[str, Any]:
    """Return the JSON body of a request."""
    body = request.post_data_json
    assert isinstance(body, dict)
    return body


def invoice(pages: int = 1) -> bytes:
    """A PDF that no other test has: a small invoice, its number and its goods different each time.

    A number alone can read as a misreading of another: such invoices are duplicates, and some of them are quarantined.
    """
    document = pymupdf.open()
    for number in range(1, pages + 1):
        serial = next(_serial)
        page = document.new_page()
        page.insert_text((72, 90), f"Invoice number: A-{serial:04d}", fontsize=14)
        goods = " ".join("".join(random.Random(serial * 8 + word).choices(ascii_lowercase, k=8)) for word in range(6))
        page.insert_text((72, 700), goods, fontsize=12)
        page.insert_text((72, 130), "Invoice date: 14 March 2026", fontsize=14)
        page.insert_text((72, 170), "Total due: 2,987.88 EUR", fontsize=14)
        page.insert_text((72, 210), f"Page {number} of {pages}", fontsize=14)
    return document.tobytes()


class Bench:
    """The workspace on a page of Chromium."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server
        self.keys = page.keyboard
        self.saved = page.locator(".g-saved")
        self._listeners: list[tuple[Any, Any]] = []

    @property
    def project(self) -> str:
        """Id of the open project."""
        return str(self.page.evaluate("() => document.querySelector('.glossator').workspace.library.project.id"))

    # --- listening

    def listen(self, event: Any, listener: Callable[[Any], object]) -> None:
        """Call a listener with each event of the page (request, response), until the test ends."""
        page: Any = self.page  # which declares a method for each event
        page.on(event, listener)
        self._listeners.append((event, listener))

    def stop_listening(self) -> None:
        """Take all listeners away: other tests use the page after this one."""
        for event, listener in self._listeners:
            self.page.remove_listener(event, listener)
        self._listeners = []

    # --- doing

    def upload(self, content: bytes | None = None, name: str = "invoice.pdf") -> None:
        """Upload a file and wait until its first page stands and all are there."""
        before = self.place().get("document")
        file: FilePayload = {"name": name, "mimeType": "application/pdf", "buffer": content or invoice()}
        self.page.set_input_files("input[type=file]", [file])
        self.page.wait_for_function(
            "(before) => { const { library } = document.querySelector('.glossator').workspace;"
            " return library.document && library.document.id !== before; }",
            arg=before,
        )
        self.ready()
        self.page.wait_for_function("() => !document.querySelector('.glossator').workspace.library.document.reading")

    def reload(self) -> None:
        """Reload once the disk has what waits for the server: before that, the browser would ask whether to leave."""
        self._kept()
        self.page.reload()
        self.page.wait_for_selector(".glossator[data-started]", timeout=OPENING)

    def reopen(self) -> None:
        """Open what is open anew, from what the server and the browser's disk hold. See reload."""
        self._kept()
        mount(self.page, str(self.page.evaluate("location.hash")))

    def _kept(self) -> None:
        self.page.wait_for_function("() => !document.querySelector('.glossator')?.workspace?.queue?.unkept.size")

    def ready(self) -> None:
        """Wait until the page is drawn."""
        self.page.wait_for_selector(".glossator[data-ready]:not([data-ready=''])")

    def ask(self, question: str) -> None:
        """Ask, and wait for the answer."""
        self.page.get_by_label("Ask this document").fill(question)
        self.keys.press("Enter")
        expect(self.page.locator(".g-asked")).to_have_text(question)
        self.settled()

    def ask_and_clear(self, question: str = "What is the total due?") -> None:
        """Ask, and begin with nothing marked, whatever the model thinks."""
        self.ask(question)
        if self.painted().any():
            self.keys.press("Delete")
        self.settled()
        assert not self.painted().any()

    def settled(self) -> None:
        """Wait until the model has answered, the page shows it, and the server has everything."""
        try:
            self.page.wait_for_function(f"() => Object.values({_STATE}).every((open) => !open)")
        except TimeoutError:
            said = self.page.locator(".g-toast, .g-dialog").all_inner_texts()
            raise AssertionError(f"It does not settle: {self.page.evaluate(_STATE_NOW)}; it says {said}") from None

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the page (pixels of the page) lies in the window."""
        box = self.page.locator(".g-canvas").bounding_box()
        assert box is not None
        shown = self.page.evaluate(
            "([x, y]) => document.querySelector('.glossator').workspace.stage.view.toScreen(x, y)", [x, y]
        )
        return box["x"] + shown[0], box["y"] + shown[1]

    def centre(self, text: str) -> tuple[float, float]:
        """The middle of a word, in pixels of the page."""
        x0, y0, x1, y1 = self.box(text)
        return (x0 + x1) / 2, (y0 + y1) / 2

    def click(self, text: str, modifiers: list[str] | None = None) -> None:
        """Click a word."""
        x, y = self.at(*self.centre(text))
        for key in modifiers or []:
            self.keys.down(key)
        self.page.mouse.click(x, y)
        for key in modifiers or []:
            self.keys.up(key)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag between two points of the page."""
        self.page.mouse.move(*self.at(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.at(*end), steps=12)
        self.page.mouse.up()

    def ask_in(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a frame in which the model answers."""
        self.keys.down("Alt")
        self.drag(start, end)
        self.keys.up("Alt")

    # --- seeing

    def place(self) -> dict[str, Any]:
        """What the address names: document, annotation, page."""
        fragment = self.page.evaluate("() => Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
        return dict(fragment)

    def painted(self) -> Mask:
        """Which pixels of the page carry colour on the screen: bool [height, width]."""
        shown = self.page.evaluate(_PAINTED)
        assert shown["wrong"] == 0, f"{shown['wrong']} pixels of the screen show another mark than the page has"
        values = np.arange(len(shown["counts"])) % 2 == 1
        return np.repeat(values, shown["counts"]).reshape(shown["height"], shown["width"])

    def tint(self, box: Box) -> str:
        """Colour that a photograph of the screen shows in the middle of a box of the page: "blue", "orange", "none"."""
        self.page.mouse.move(5, 5)  # nothing under the pointer
        self.page.wait_for_timeout(120)
        shot = np.asarray(Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")).astype(int)
        (x0, y0), (x1, y1) = self.at(box[0] + 4, box[1] + 4), self.at(box[2] - 4, box[3] - 4)
        part = shot[int(y0) : int(y1) + 1, int(x0) : int(x1) + 1].reshape(-1, 3)
        # Half of the box may be ink; paper under a mark is tinted.
        red, blue = np.percentile(part[:, 0], 80), np.percentile(part[:, 2], 80)
        return "orange" if red - blue > 25 else "blue" if blue - red > 25 else "none"

    # --- what the server holds

    def get(self, path: str) -> Any:
        """GET from the REST interface."""
        answer = self.page.request.get(f"{self.server}/api{path}")
        assert answer.ok, answer.text()
        return answer.json()

    def words(self) -> dict[str, Any]:
        """Words of the open page as the server sends them."""
        return dict(self.get(f"/pages/{self.place()['page']}/words"))

    def number(self, text: str) -> int:
        """Number of a word."""
        words = self.words()
        return int(words["numbers"][words["texts"].index(text)])

    def box(self, text: str) -> Box:
        """Box of a word in pixels of the page."""
        words = self.words()
        x0, y0, x1, y1 = words["boxes"][words["texts"].index(text)]
        return x0, y0, x1, y1

    def annotation(self) -> dict[str, Any]:
        """The open annotation as the server holds it."""
        return dict(self.get(f"/annotations/{self.place()['annotation']}"))

    def save_elsewhere(self, edits: list[dict[str, Any]]) -> None:
        """Somebody else saves a revision of the open annotation."""
        annotation = self.annotation()
        answer = self.page.request.put(
            f"{self.server}/api/annotations/{annotation['id']}/revisions",
            data={"idempotency_key": f"elsewhere-{annotation['head']}", "base": annotation["head"], "edits": edits},
            headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
        )
        assert answer.ok, answer.text()

    def stored(self) -> Mask:
        """The mask that the server holds for the open page: bool [height, width]."""
        place = self.place()
        page = next(
            each for each in self.get(f"/documents/{place['document']}")["pages"] if each["id"] == place["page"]
        )
        mark = self.annotation()["state"]["pages"].get(place["page"])
        size = (page["height"], page["width"])
        return decode_patch(mark["mask"], size) if mark else np.zeros(size, dtype=bool)

    def marked(self) -> set[int]:
        """Numbers of the words that the server holds as marked on the open page."""
        mark = self.annotation()["state"]["pages"].get(self.place()["page"])
        return set(mark["words"]) if mark else set()
