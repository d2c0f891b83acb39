"""Answers of the server that are held on their way, so that what a test does meanwhile comes before them."""

from functools import partial

from playwright.sync_api import APIResponse, Page, Request, Response, Route

PATIENCE, PAUSE = 30_000, 20  # milliseconds


class Held:
    """Requests that are held until `release`: before the server sees them, or after it `answered`."""

    def __init__(self, page: Page, pattern: str, *, method: str = "GET", answered: bool = False) -> None:
        self.page = page
        self.pattern = pattern
        self.over = False
        self.method = method
        self.answered = answered
        self.held: list[tuple[Route, APIResponse | None]] = []
        page.route(pattern, self._hold)

    def _hold(self, route: Route) -> None:
        if self.over or route.request.method != self.method:
            route.fallback()
            return
        self.held.append((route, route.fetch() if self.answered else None))

    def wait(self, number: int = 1) -> list[Request]:
        """Wait until so many requests are held; return them."""
        for _ in range(PATIENCE // PAUSE):
            if len(self.held) >= number:
                break
            self.page.wait_for_timeout(PAUSE)
        assert len(self.held) >= number, f"nobody asks for {self.pattern}"
        return [route.request for route, _ in self.held]

    def release(self) -> None:
        """Let them go on, wait until the page has heard all of them, and hold nothing more."""
        self.over = True
        for route, answer in self.held:
            self._let_go(route, answer)
        self.held = []

    def release_one(self, at: int) -> None:
        """Let one of them go on, and wait until the page has heard it."""
        route, answer = self.held.pop(at)
        self._let_go(route, answer)

    def fail(self) -> None:
        """The line is cut: none of them gets an answer."""
        self.over = True
        for route, _ in self.held:
            route.abort("connectionreset")
        self.held = []

    def _let_go(self, route: Route, answer: APIResponse | None) -> None:
        with self.page.expect_response(partial(_answers, route.request)):
            if answer is None:
                route.continue_()
            else:
                route.fulfill(response=answer)


def _answers(request: Request, response: Response) -> bool:
    return response.request == request
