"""A request ends in time, and when its caller wants it, also while its body is on the way."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.webhooks.posting import Interrupted, SendingFailed, post_and_read

BODY = b"x" * 20_000_000  # more than the buffers of both ends hold
HERE = ("127.0.0.1",)


@contextmanager
def taking(portion: int) -> Iterator[str]:
    """Run a receiver that takes some bytes a hundred times a second, and answers nothing; return its address."""
    ends = threading.Event()

    def take() -> None:
        connection, _ = listener.accept()
        with connection:
            while not ends.wait(0.01):
                if portion:
                    connection.recv(portion)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            ends.set()
            thread.join(10)


def test_a_receiver_that_takes_the_body_slowly_does_not_prolong_the_request() -> None:
    began = time.monotonic()
    with taking(20_000) as url, pytest.raises(SendingFailed, match="did not answer in time"):
        post_and_read(url, {}, BODY, HERE, seconds=0.3, most_bytes=1, who="server", stops=lambda: False)
    assert time.monotonic() - began < 5  # all of the body takes ten seconds


@pytest.mark.parametrize("portion", [20_000, 0])
def test_a_request_whose_body_is_on_the_way_can_be_stopped(portion: int) -> None:
    asked_at = time.monotonic()

    def stops() -> bool:
        return time.monotonic() > asked_at + 0.2

    with taking(portion) as url, pytest.raises(Interrupted):
        post_and_read(url, {}, BODY, HERE, seconds=60, most_bytes=1, who="server", stops=stops)
    assert time.monotonic() - asked_at < 5
