"""The line in which passwords wait: bounded, addresses take turns, and people who are known go first."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from annotator import login_queue
from annotator.login_queue import LoginQueue
from engine.errors import TooMany
from tests.support.own_loop import run_on_own_loop


class Counter:
    """Steps that last until they are let go, and say in which order they began."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self._turns = threading.Semaphore(0)

    def step(self, what: str) -> Callable[[], str]:
        def run() -> str:
            self.began.append(what)
            self._turns.acquire(timeout=30)
            return what

        return run

    def let_one_go(self) -> None:
        self._turns.release()

    def let_all_go(self) -> None:
        self._turns.release(1000)


async def until(true: Callable[[], bool]) -> None:
    for _ in range(2000):
        if true():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to that")


async def started(line: LoginQueue, counter: Counter, *asked: str, known: bool = False) -> list["asyncio.Task[str]"]:
    """Ask for steps named ADDRESS/NUMBER, one after the other."""
    tasks = []
    for what in asked:
        tasks.append(asyncio.create_task(line.call_in_turn(what.split("/")[0], counter.step(what), known=known)))
        await asyncio.sleep(0)
    return tasks


def test_an_address_has_one_turn_at_a_time_and_few_places() -> None:
    async def run() -> None:
        line, counter = LoginQueue(), Counter()
        places = login_queue.OF_AN_ADDRESS + 1
        tasks = await started(line, counter, *(f"10.0.0.1/{number}" for number in range(places)))
        await until(lambda: len(counter.began) == 1)
        with pytest.raises(TooMany):
            await line.call_in_turn("10.0.0.1", counter.step("one too many"))
        other = await started(line, counter, "10.0.0.2/0")
        await until(lambda: len(counter.began) == 2)
        counter.let_all_go()
        await asyncio.gather(*tasks, *other)
        assert counter.began[:2] == ["10.0.0.1/0", "10.0.0.2/0"] and len(counter.began) == places + 1

    run_on_own_loop(run)


def test_the_line_is_bounded_and_known_people_go_first() -> None:
    async def run() -> None:
        line, counter = LoginQueue(), Counter()
        most = login_queue.AT_ONCE + login_queue.OF_STRANGERS
        tasks = await started(line, counter, *(f"10.0.{number}.1/0" for number in range(most)))
        await until(lambda: len(counter.began) == login_queue.AT_ONCE)
        assert line.is_long
        with pytest.raises(TooMany):
            await line.call_in_turn("10.1.0.1", counter.step("one too many"))
        tasks += await started(line, counter, "10.2.0.1/known", known=True)
        counter.let_one_go()
        await until(lambda: len(counter.began) == login_queue.AT_ONCE + 1)
        assert counter.began[-1] == "10.2.0.1/known"
        counter.let_all_go()
        await asyncio.gather(*tasks)
        assert await line.call_in_turn("10.1.0.1", lambda: "free again") == "free again"

    run_on_own_loop(run)


def test_whoever_goes_away_gives_the_place_back() -> None:
    async def run() -> None:
        line, counter = LoginQueue(), Counter()
        [first, second, third] = await started(line, counter, "10.0.0.1/0", "10.0.0.1/1", "10.0.0.1/2")
        await until(lambda: len(counter.began) == 1)
        second.cancel()
        counter.let_all_go()
        assert list(await asyncio.gather(first, third)) == ["10.0.0.1/0", "10.0.0.1/2"]
        assert not line.is_long and counter.began == ["10.0.0.1/0", "10.0.0.1/2"]

    run_on_own_loop(run)


def test_a_step_that_fails_gives_its_turn_back() -> None:
    def fails() -> str:
        raise ValueError("no")

    async def run() -> None:
        line = LoginQueue()
        for _ in range(2 * login_queue.AT_ONCE):
            with pytest.raises(ValueError, match="no"):
                await line.call_in_turn("10.0.0.1", fails)

    run_on_own_loop(run)
