"""A page of the browser that one test after the other uses, each with a new workspace in a project of its own.

Gradio takes seconds of processor time to start in a new page, and the workspace a tenth of one.
"""

import itertools

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from tests.browser.bench import OPENING, Bench, mount

VIEWPORT: ViewportSize = {"width": 1400, "height": 900}
OWN = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
_serial = itertools.count(1)

# Ends the workspace, and empties what the browser stores for it. Back to the first tab; Gradio's messages are closed.
_END = """async () => {
  document.querySelector('.glossator').workspace?.destroy();
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((opened, failed) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => opened(request.result);
      request.onerror = () => failed(request.error);
    });
    for (const store of database.objectStoreNames) {
      await new Promise((done, failed) => {
        const transaction = database.transaction(store, 'readwrite');
        transaction.objectStore(store).clear();
        transaction.oncomplete = done;
        transaction.onabort = () => failed(transaction.error);
      });
    }
    database.close();
  }
  localStorage.clear();
  sessionStorage.clear();
  document.querySelectorAll('[data-testid=toast-close]').forEach((button) => button.click());
  const tab = [...document.querySelectorAll('[role=tab]')].find((each) => each.textContent.trim() === 'Annotate');
  if (tab.ariaSelected !== 'true') tab.click();
}"""


class Window:
    """A page of the browser in a profile of its own, on one server."""

    def __init__(self, browser: Browser, server: str) -> None:
        self.browser = browser
        self.server = server
        self.context: BrowserContext | None = None
        self.page: Page | None = None
        self.thrown: list[str] = []
        self.names: dict[str, str] = {}  # of the projects made here, by their ids
        self.bench: Bench | None = None

    @property
    def profile(self) -> BrowserContext:
        """The browser profile of the page."""
        if self.context is None:
            self.context = self.browser.new_context(viewport=VIEWPORT)
        return self.context

    def make_project(self, name: str) -> str:
        """Make a project, and return its id; a number behind its name makes it the only one of this name."""
        answer = self.profile.request.post(
            f"{self.server}/api/projects", data={"name": f"{name[:80]} {next(_serial)}"}, headers=OWN
        )
        assert answer.ok, answer.text()
        made = answer.json()
        self.names[made["id"]] = made["name"]
        return str(made["id"])

    def open(self, project: str, place: str = "") -> Bench:
        """Open a workspace in a project; in a new page where none stands.

        Args:
            project: id of the project.
            place: what else the address names, such as "&document=...".
        """
        chosen = self.profile.request.put(f"{self.server}/api/me/preferences", data={}, headers=OWN)
        assert chosen.ok, chosen.text()  # a test before may have chosen some
        place = f"#project={project}{place}"
        if self.page is None:
            self.page = self._new_page(place)
        else:
            mount(self.page, place, project)
        self.bench = Bench(self.page, self.server)
        return self.bench

    def end(self) -> None:
        """End the workspace of a test, and take back what the test did to the page."""
        if self.context is None or self.page is None:
            return
        if self.bench:
            self.bench.stop_listening()
        self.bench = None
        self.context.set_offline(False)
        self.context.unroute_all(behavior="ignoreErrors")
        self.page.unroute_all(behavior="ignoreErrors")
        for page in self.context.pages:
            if page != self.page:
                page.close()
        self.page.set_viewport_size(VIEWPORT)
        self.page.mouse.move(0, 0)
        self.page.evaluate(_END)

    def close_page(self) -> None:
        """Close the page and empty the profile; the next test opens a new page in it."""
        if self.context is None:
            return
        self.context.set_offline(False)
        self.context.unroute_all(behavior="ignoreErrors")
        for page in self.context.pages:
            page.close()
        self.page = self.bench = None
        blank = self.context.new_page()
        emptied = {"origin": self.server, "storageTypes": "local_storage,indexeddb"}
        self.context.new_cdp_session(blank).send("Storage.clearDataForOrigin", emptied)
        blank.close()

    def close(self) -> None:
        """Close the page with its profile."""
        if self.context is not None:
            self.context.close()
        self.context = self.page = self.bench = None

    def _new_page(self, place: str) -> Page:
        page = self.profile.new_page()
        page.on("pageerror", lambda error: self.thrown.append(f"{error}\n{error.stack}"))
        page.goto(f"{self.server}/app/{place}")
        page.wait_for_selector(".glossator[data-started]", timeout=OPENING)
        return page
