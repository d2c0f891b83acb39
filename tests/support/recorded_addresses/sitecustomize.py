"""Records every address outside of this machine that Python code looks up or connects to.

Python imports this file at its start when its folder is on PYTHONPATH, in children too. ADDRESSES names the record.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Any

_LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
_SENDING = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_INTERNET = {socket.AF_INET, socket.AF_INET6}


def is_this_machine(host: object) -> bool:
    """Return whether an address or a name is the loopback's; no name at all is this machine too."""
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    return name in {"", "localhost", "::1", "0.0.0.0", "::"} or name.startswith("127.")


def record(event: str, arguments: tuple[Any, ...]) -> None:
    """Append the address of an event to the record, unless it is this machine's."""
    if event in _LOOK_UPS:
        host = arguments[0]
    elif event in _SENDING and arguments[0].family in _INTERNET and arguments[1]:
        host = arguments[1][0]
    else:
        return
    if not is_this_machine(host):
        with Path(os.environ["ADDRESSES"]).open("a", encoding="utf-8") as into:
            into.write(f"{event} {host!r} by {' '.join(sys.orig_argv)}\n")


sys.addaudithook(record)
