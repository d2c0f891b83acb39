"""A value that is computed when it is first needed."""

import threading

import pytest

from model.deferred import Deferred


def test_threads_that_ask_at_once_share_one_computation():
    begun, calls = threading.Barrier(4), []

    def compute():
        calls.append(1)
        return object()

    value = Deferred(compute)
    found = []

    def get():
        begun.wait()
        found.append(value.get())

    threads = [threading.Thread(target=get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1 and len(set(map(id, found))) == 1


def test_a_failure_is_tried_again():
    outcomes = iter([ValueError("not yet"), 3])

    def compute():
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    value = Deferred(compute)
    with pytest.raises(ValueError, match="not yet"):
        value.get()
    assert value.get() == 3 and value.get() == 3
