"""The list of standard questions of the open project, changed behind the page's back."""

import pytest
from playwright.sync_api import Page

from tests.browser.bench import Bench
from tests.browser.tabs import OWN


@pytest.fixture
def listed(bench: Bench) -> "Listed":
    """The list, with one question."""
    made = Listed(bench)
    made.put("What is the total?")
    return made


class Listed:
    """The list as the server has it, changed behind the page's back."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.path = f"/projects/{bench.project}/standard-questions"
        self.settings = f"/projects/{bench.project}/settings"

    def put(self, *questions: str) -> None:
        answer = self.bench.page.request.put(
            f"{self.bench.server}/api{self.path}", data={"questions": list(questions)}, headers=OWN
        )
        assert answer.ok, answer.text()

    def wait(self, *questions: str) -> None:
        """Wait until the server has these questions."""
        for _ in range(600):
            if self.texts() == list(questions):
                return
            self.bench.page.wait_for_timeout(50)
        assert self.texts() == list(questions)

    def texts(self) -> list[str]:
        return [each["text"] for each in self.bench.get(self.path)]


def tab(page: Page, name: str) -> None:
    """Open a tab."""
    page.get_by_role("tab", name=name, exact=True).click()
