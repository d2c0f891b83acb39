"""What the tests of the tabs share: opening a tab, however narrow the window, and counting what the page asks for."""

from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.bench import Bench

OWN = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}
OF_GRADIO = ("Documents", "Questions", "Training", "Quality", "Export")
TABS = (*OF_GRADIO[:3], "Jobs", *OF_GRADIO[3:4], "Table", *OF_GRADIO[4:], "People")

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def tab(page: Page, name: str) -> Locator:
    """Open a tab, and return its panel once its content is there."""
    page.evaluate(DRAWN)  # after a change of width the row is laid out anew
    row = page.get_by_role("tab", name=name, exact=True)
    more = page.locator(".overflow-menu > button")
    expect(row.or_(more).locator("visible=true").first).to_be_visible()  # Gradio comes after the workspace
    if row.is_visible():
        row.click()
    else:  # what does not fit into a narrow row stands behind a button
        more.click()
        page.locator(".overflow-dropdown button", has_text=name).click()
    panel = page.locator(f"#tab-{name.lower()}")
    expect(panel.get_by_role("heading", name=name, exact=True, level=1)).to_be_attached()
    if name in OF_GRADIO:
        expect(panel.get_by_role("combobox", name="Project", exact=True)).not_to_have_value("")
    else:
        expect(panel.locator(".g-card").first).to_be_visible()
    return panel


def made(bench: Bench, name: str) -> str:
    """Make a project, and return its id."""
    answer = bench.page.request.post(f"{bench.server}/api/projects", data={"name": name}, headers=OWN)
    assert answer.ok, answer.text()
    return str(answer.json()["id"])


def send(bench: Bench, method: str, path: str, body: object) -> None:
    """Change something as another window would."""
    answer = bench.page.request.fetch(f"{bench.server}/api{path}", method=method, data=body, headers=OWN)
    assert answer.ok, answer.text()


class Asked:
    """What a page asks the server for, from now on: paths, without the stream of changes and Gradio's heartbeat."""

    def __init__(self, bench: Bench) -> None:
        self.paths: list[str] = []
        bench.listen("request", self._add)

    def _add(self, request: Request) -> None:
        path = "/" + request.url.split("/", 3)[3].split("?")[0]
        if not path.startswith(("/api/changes", "/app/gradio_api/heartbeat", "/static", "/app/assets")):
            self.paths.append(path)

    @property
    def events(self) -> int:
        """Number of Gradio's events."""
        return sum(path.endswith("/queue/join") for path in self.paths)
