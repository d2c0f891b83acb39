"""A line to the server on which one message takes its time."""

from playwright.sync_api import Page, Route


class Line:
    """A busy line: it keeps back the first message to the server that holds a text, until it is free."""

    def __init__(self, page: Page, text: str) -> None:
        self._page, self._text, self._held = page, text, list[Route]()
        page.route("**/queue/join*", self._hold)

    def _hold(self, route: Route) -> None:
        (Route.continue_ if self._held or self._text not in (route.request.post_data or "") else self._held.append)(
            route
        )

    def wait(self) -> None:
        """Until the message has come."""
        for _ in range(300):
            self._page.wait_for_timeout(100)
            if self._held:
                return
        raise AssertionError(f"No message held {self._text!r}.")

    def free(self) -> None:
        """Let it through."""
        self._held[0].continue_()
