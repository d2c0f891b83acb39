"""One of the web processes that share a port, in `glossator serve --workers N`.

The command writes this into the environment of each; the application reads it there.
"""

import hashlib
import os
from dataclasses import dataclass, field

_PORTS, _NUMBER, _SECRET = "GLOSSATOR_WEB_PORTS", "GLOSSATOR_WEB_NUMBER", "GLOSSATOR_WEB_SECRET"


@dataclass(frozen=True, slots=True)
class WebProcess:
    """One of several web processes.

    Attributes:
        ports: own ports of all processes, on 127.0.0.1, in order.
        number: which of them this one is, from 0.
        secret: signs what they pass on to each other; others on this machine reach the same ports.
    """

    ports: tuple[int, ...]
    number: int
    secret: str = field(repr=False)

    def owner_of(self, session: str) -> int:
        """Return the number of the process that keeps a session of Gradio."""
        digest = hashlib.sha256(session.encode()).digest()
        return int.from_bytes(digest[:8]) % len(self.ports)

    def variables(self) -> dict[str, str]:
        """Return the environment variables of this process."""
        return {_PORTS: ",".join(map(str, self.ports)), _NUMBER: str(self.number), _SECRET: self.secret}


def web_process_here() -> WebProcess | None:
    """Return which of several web processes this one is; None when it serves alone."""
    ports = tuple(int(port) for port in os.environ.get(_PORTS, "").split(",") if port)
    return WebProcess(ports, int(os.environ[_NUMBER]), os.environ[_SECRET]) if len(ports) > 1 else None
