"""Several web processes on one port, for `glossator serve --workers N`.

The command holds the sockets, so that no connection is refused while a process starts again: the shared one, on which
any process takes the next connection, and for each process one of its own, on which it takes what others pass on to it
(annotator.gradio.session_owner).
"""

import secrets
import signal
import socket
import sys
import threading
from types import FrameType
from typing import Any

from engine.commands.common import private_here, set_up_logs
from engine.commands.servers.supervisor import Supervisor
from engine.commands.servers.worker import end_with_parent
from engine.metrics import HERE
from engine.paused_collection import paused_collection
from engine.settings import Settings
from engine.web_process import WebProcess

_BACKLOG = 2048


class WebProcesses:
    """Web processes on one port, each started again when it ends.

    Args:
        settings: host and port.
        number: number of processes.
    """

    def __init__(self, settings: Settings, number: int) -> None:
        self._shared = _listen(settings.host, settings.port)
        self._own = [_listen("127.0.0.1", 0) for _ in range(number)]
        ports = tuple(own.getsockname()[1] for own in self._own)
        secret = secrets.token_urlsafe(32)
        self._supervisors = [
            Supervisor(
                f"web process {place + 1}",
                ["-m", "engine.commands.servers.web_processes", str(self._shared.fileno()), str(own.fileno())],
                WebProcess(ports, place, secret).variables(),
                (self._shared.fileno(), own.fileno()),
                f"web-{place + 1}",
            )
            for place, own in enumerate(self._own)
        ]

    def start(self) -> None:
        """Start the processes."""
        for supervisor in self._supervisors:
            supervisor.start()

    def ask_to_stop(self) -> None:
        """Tell the processes to stop; safe in a signal handler."""
        for supervisor in self._supervisors:
            supervisor.ask_to_stop()

    def stop(self) -> None:
        """Stop the processes, and close the port."""
        self.ask_to_stop()
        for supervisor in self._supervisors:
            supervisor.stop()
        for listening in (self._shared, *self._own):
            listening.close()


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    listening.listen(_BACKLOG)
    listening.setblocking(False)
    return listening


def serve_sockets(sockets: list[socket.socket], options: dict[str, Any], app: str) -> bool:
    """Serve on sockets until SIGTERM, or until the process that started this one is gone.

    Returns:
        Whether the server had started.
    """
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.should_exit = True  # uvicorn would raise the signal again, and temporary files would stay

    server = Server(uvicorn.Config(app, factory=True, **options))
    ended = threading.Event()

    def stop_when_ended() -> None:
        ended.wait()
        server.should_exit = True

    end_with_parent(ended)
    threading.Thread(target=stop_when_ended, name="stop-with-parent", daemon=True).start()
    with paused_collection():
        server.config.load()
    server.run(sockets)
    return server.started


def main() -> None:
    """Be one of the processes; the arguments are the descriptors of its sockets."""
    from engine.commands.servers.serve import FACTORY, server_options

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until the server takes it; temporary files would stay
    settings = Settings()
    HERE.join()
    set_up_logs(HERE.process, settings)
    sockets = [socket.socket(fileno=int(descriptor)) for descriptor in sys.argv[1:]]
    with private_here(settings):
        started = serve_sockets(sockets, server_options(settings), FACTORY)
    sys.exit(0 if started else 3)


if __name__ == "__main__":
    main()
