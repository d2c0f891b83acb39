import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from model.prefetch import BLOCK, Prefetched, WorkerLost, prefetch
from tests.support.drawn_pages import example
from tests.support.repository import ROOT


def source(step):
    """Two pages, one with its image; their questions depend on the step alone."""
    rng = random.Random(step)
    return [replace(example(image), questions=[rng.choice(example().questions)]) for image in (True, False)]


def numbers(step):
    return [step, os.getpid()]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_examples_are_those_of_the_source_in_order(workers):
    with prefetch(source, workers) as ahead:
        for step in range(5, 5 + 2 * BLOCK):
            expected, found = source(step), ahead(step)
            assert [one.questions for one in found] == [one.questions for one in expected]
            assert found[0].image.tobytes() == expected[0].image.tobytes() and found[1].image is None
        assert ahead.given == 4 * BLOCK
    assert not multiprocessing.active_children()


def test_examples_are_made_by_as_many_other_processes_as_asked_for():
    with prefetch(numbers, 2, stride=3) as ahead:
        made = [ahead(step) for step in range(1, 1 + 12 * BLOCK, 3)]
    assert [step for step, _ in made] == list(range(1, 1 + 12 * BLOCK, 3))
    assert len({process for _, process in made}) == 2 and os.getpid() not in {process for _, process in made}


def test_steps_may_be_skipped_repeated_and_asked_for_in_any_order():
    asked = [0, 1, 5, 6, 6, 2, 400, 401, 30]
    with prefetch(numbers, 2) as ahead:
        assert [ahead(step)[0] for step in asked] == asked
    assert not multiprocessing.active_children()


def test_an_error_of_the_source_is_raised_at_its_step_with_its_sentence():
    def failing(step):
        if step == 3:
            raise ValueError("Page 7 cannot be read.")
        return [step]

    with prefetch(failing, 2) as ahead:
        assert [ahead(step) for step in range(3)] == [[0], [1], [2]]
        with pytest.raises(ValueError, match=r"^Page 7 cannot be read\.") as caught:
            ahead(3)
        assert "in failing" in caught.value.__notes__[0]
    assert not multiprocessing.active_children()


class Unpicklable(Exception):
    """An error with other arguments than its message."""

    def __init__(self, page, reason):
        super().__init__(f"{page}: {reason}")


def test_an_error_that_cannot_travel_keeps_its_sentence():
    def failing(step):
        raise Unpicklable("Page 7", "too dark")

    with prefetch(failing, 1) as ahead, pytest.raises(RuntimeError, match="Page 7: too dark"):
        ahead(0)


def test_a_killed_process_is_reported():
    def killed(step):
        if step == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return [step]

    with prefetch(killed, 1) as ahead, pytest.raises(WorkerLost, match="fewer --workers"):
        for step in (0, 1, 2):
            ahead(step)
    assert not multiprocessing.active_children()


def test_a_full_queue_waits_for_its_reader(tmp_path):
    def noted(step):
        (tmp_path / str(step)).touch()
        return [bytes(2**20)]  # more than a pipe holds

    with prefetch(noted, 1) as ahead:
        ahead(0)
        # One result was taken, one is being sent, BLOCK wait, and one more was made and waits for room.
        while len(list(tmp_path.iterdir())) < BLOCK + 3:
            time.sleep(0.01)
        assert len(list(tmp_path.iterdir())) == BLOCK + 3


def test_no_process_outlives_a_killed_run():
    code = (
        "import os, signal, sys\n"
        "from model.prefetch import Prefetched\n"
        "ahead = Prefetched(lambda step: [step, os.getpid()], 1)\n"
        "print(ahead(0)[1], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    # The processes of the run inherit its output: reading it ends when the last of them has ended.
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, timeout=120)
    assert done.returncode == -signal.SIGKILL and int(done.stdout) > 0


def test_without_workers_nothing_is_started():
    ahead = Prefetched(numbers, 0)
    assert ahead(4) == [4, os.getpid()]
