"""The real application behind a real port, in a thread of the test."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import uvicorn

from engine.commands.servers.serve import server_options
from engine.settings import Settings
from tests.support.server_process import Served, free_port


@contextmanager
def served(app: Any, at: int | None = None, **options: Any) -> Iterator[str]:
    """Serve an ASGI application on this machine, and yield its address.

    Args:
        app: the application.
        at: port; None: a free one, whatever the options say, because tests run side by side.
        options: options of uvicorn.
    """
    options = {"log_level": "warning", **options, "host": "127.0.0.1", "port": at or free_port()}
    server = uvicorn.Server(uvicorn.Config(app, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{options['port']}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


class ServedHere(Served):
    """The real application in a thread of the tests, for tests that never kill it.

    A process of its own takes seconds of processor time to import what the tests have imported.
    """

    running = True

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        from annotator.app import create_app

        models = [f"http://127.0.0.1:{self.model_port}"]
        settings = Settings(
            data_dir=self.data, host="127.0.0.1", port=self.port, proposer_addresses=models, _env_file=None
        )
        self._closing = ExitStack()
        self._closing.enter_context(served(create_app(settings), at=self.port, **server_options(settings)))

    def kill(self) -> None:
        """Refuse: a thread cannot be killed."""
        raise NotImplementedError("Only a server in a process of its own can be killed.")

    def stop(self) -> None:
        """End the server as a person would."""
        self._closing.close()
