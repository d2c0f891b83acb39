"""The address: its port, what a proxy before it must let through, and what it does let through."""

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

from engine.lifecycle.doctor.finding import Finding, broken, ok, warning
from engine.settings import MEGABYTE, Settings, is_loopback

_SECONDS = 5.0  # for an answer
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_STATUS_BYTES = 64
_TOO_LARGE = 413
_TAKEN = {100, 401, 403, 404}  # Glossator, which reads the body or refuses for another reason, was asked


def check_port(settings: Settings) -> Iterator[Finding]:
    """Yield whether the port is free, or Glossator's."""
    host, port = settings.host, settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family)) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            reason = error.strerror
        else:
            yield ok("port", f"{host}:{port} is free.")
            return
    here = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    try:
        answer = _get(http.client.HTTPConnection(here, port, timeout=_SECONDS), "/api/health")
    except OSError:
        answer = None
    if answer is not None and "licence" in answer:
        yield ok("port", f"Glossator {answer['version']} serves on {host}:{port}.")
    else:
        sentence = f"{host}:{port} cannot be served on: {reason}."
        yield broken("port", sentence, "Set GLOSSATOR_PORT or GLOSSATOR_HOST, or stop the other program.")


def check_proxy(settings: Settings, address: str | None) -> Iterator[Finding]:
    """Yield what a proxy must let through; with its address, whether it does.

    Args:
        settings: settings of the server.
        address: address that people open, such as https://glossator.example.org/gloss; None: not known.
    """
    behind = bool(settings.root_path or settings.allowed_hosts or settings.auth == "login")
    if behind and is_loopback(settings.host) and not settings.secure_cookies and settings.auth == "login":
        sentence = "The login cookie may be sent over plain HTTP."
        yield warning("proxy", sentence, "Behind a TLS proxy, set GLOSSATOR_SECURE_COOKIES=true.")
    if address is None:
        if behind:
            sentence = f"A proxy must take bodies of {settings.max_upload_mb:,.0f} MB and not buffer answers."
            yield ok("proxy", f"{sentence} Try it: glossator doctor --address https://HOST{settings.root_path}")
        return
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield broken("proxy", f"{address!r} is no address.", "Write for example https://glossator.example.org")
        return
    root = parts.path.rstrip("/")
    try:
        answer = _get(kind(parts.hostname, parts.port, timeout=_SECONDS), f"{root}/api/health")
        status = _status_of_a_large_body(
            kind(parts.hostname, parts.port, timeout=_SECONDS),
            f"{root}/api/projects/none/documents",
            int(settings.max_upload_mb * MEGABYTE),
        )
    except OSError as error:
        yield broken("proxy", f"{address} does not answer ({error}).", "Check the name, the proxy and the firewall.")
        return
    if answer is None or "licence" not in answer:
        mend = "Check the proxy's target, GLOSSATOR_ROOT_PATH and GLOSSATOR_ALLOWED_HOSTS."
        yield broken("proxy", f"Glossator does not answer at {address}.", mend)
    elif status == _TOO_LARGE:
        sentence = f"The proxy at {address} refuses bodies of {settings.max_upload_mb:,.0f} MB (status 413)."
        yield broken("proxy", sentence, "Raise its limit above GLOSSATOR_MAX_UPLOAD_MB (nginx: client_max_body_size).")
    elif status in _TAKEN:
        yield ok("proxy", f"{address} leads to Glossator, and takes bodies of {settings.max_upload_mb:,.0f} MB.")
    else:
        outcome = f"status {status}" if status else "no answer"
        sentence = f"{address} leads to Glossator; a body of {settings.max_upload_mb:,.0f} MB could not be tried"
        mend = "Upload a large file by hand, and read the log of the proxy."
        yield warning("proxy", f"{sentence} ({outcome}).", mend)


def _get(connection: http.client.HTTPConnection, path: str) -> dict[str, str] | None:
    """Return the JSON object at a path; None for another answer. OSError where nobody answers."""
    with closing(connection):
        try:
            connection.request("GET", path)
            answer = json.loads(connection.getresponse().read())
        except (http.client.HTTPException, ValueError):
            return None
    return answer if isinstance(answer, dict) else None


def _status_of_a_large_body(connection: http.client.HTTPConnection, path: str, size: int) -> int | None:
    """Announce a body and ask whether to send it; return the status of the answer, None where there is none in time."""
    with closing(connection):
        connection.putrequest("POST", path)
        connection.putheader("Content-Length", str(size))
        connection.putheader("Content-Type", "application/octet-stream")
        connection.putheader("Expect", "100-continue")
        connection.endheaders()
        try:
            line = connection.sock.recv(_STATUS_BYTES)
        except TimeoutError:
            return None
    status = _STATUS.match(line)
    return int(status[1]) if status else None
