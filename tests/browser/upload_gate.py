"""Uploads that wait until a test lets them through."""

from playwright.sync_api import FilePayload, Route

from tests.browser.bench import Bench, invoice

SENT = "**/api/projects/*/documents?early=true"


def pdf(name: str, content: bytes | None = None) -> FilePayload:
    return {"name": name, "mimeType": "application/pdf", "buffer": content or invoice()}


class Gate:
    """Uploads wait here until a test lets them through."""

    def __init__(self, bench: Bench) -> None:
        self.page = bench.page
        self.held: list[Route] = []
        self.open = False
        bench.page.route(SENT, self.take)

    def take(self, route: Route) -> None:
        if self.open:
            route.continue_()
        else:
            self.held.append(route)

    def wait(self, number: int) -> None:
        """Wait until so many are held."""
        while len(self.held) < number:
            self.page.wait_for_timeout(20)

    def free(self, number: int | None = None) -> None:
        """Let some through, or all of them and those that come."""
        self.open = number is None
        for route in self.held[:number]:
            route.continue_()
        del self.held[:number]
