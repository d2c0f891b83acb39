"""Parts of a job: run in this process in their order, and stopped together."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from engine.errors import Refused
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.jobs.cancellation import ShouldStop, Stopped, check
from engine.settings import Settings
from engine.workspace import Workspace


def square(workspace: Workspace, number: int, *, report: Report, should_stop: ShouldStop) -> int:
    check(should_stop)
    report(f"squaring {number}")
    if number < 0:
        raise Refused("This number is negative.")
    return number * number


def test_results_come_in_the_order_of_the_parts_and_parts_are_taken_as_there_is_room(
    sqlite_workspace: Workspace,
) -> None:
    said: list[Any] = []

    def parts() -> Iterator[Part]:
        for number in (2, 3):
            said.append(f"taking {number}")
            yield Part(square, (number,))

    executor = executor_of(sqlite_workspace, lambda: None)
    results = run_parts(
        executor, parts(), on_report=lambda *report: said.append(report), on_result=lambda *result: said.append(result)
    )
    assert results == [4, 9]
    assert said == ["taking 2", (0, "squaring 2"), (0, 4), "taking 3", (1, "squaring 3"), (1, 9)]


def test_what_a_part_raises_ends_the_job(sqlite_workspace: Workspace) -> None:
    done: list[int] = []
    with pytest.raises(Refused, match="negative"):
        run_parts(
            executor_of(sqlite_workspace, lambda: None),
            [Part(square, (number,)) for number in (1, -1, 2)],
            on_result=lambda number, _: done.append(number),
        )
    assert done == [0]


def test_a_job_that_should_stop_takes_no_further_part(sqlite_workspace: Workspace) -> None:
    done: list[int] = []

    def stops() -> Any:
        return "cancel" if len(done) == 2 else None

    with pytest.raises(Stopped) as stopped:
        run_parts(
            executor_of(sqlite_workspace, stops),
            (Part(square, (number,)) for number in range(1_000_000)),
            on_result=lambda number, _: done.append(number),
            should_stop=stops,
        )
    assert stopped.value.reason == "cancel" and done == [0, 1]


def test_a_cluster_is_named_as_its_client_reaches_it() -> None:
    assert Settings(_env_file=None, engine="ray", ray_address="ray://head:10001").ray_address == "ray://head:10001"
    with pytest.raises(ValidationError, match="ray_address"):
        Settings(_env_file=None, ray_address="head:6379")
