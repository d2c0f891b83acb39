"""The metrics on a port of their own, for Prometheus: GET /metrics, without a login."""

import logging
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET6
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from engine.metrics.gathering import Gatherer, NoAnswer

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
_IDLE_SECONDS = 15.0
_log = logging.getLogger(__name__)


class MetricsPort:
    """Serves the metrics from threads of its own, as a context.

    Args:
        gatherer: Whose metrics are served.
        host: Address to serve on.
        port: Port to serve on; 0 takes a free one.

    Raises:
        OSError: The address cannot be served on.
    """

    def __init__(self, gatherer: Gatherer, host: str, port: int) -> None:
        class Handler(_Handler):
            metrics = gatherer

        class Server(ThreadingHTTPServer):
            address_family = AF_INET6 if ":" in host else ThreadingHTTPServer.address_family
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                _log.info("a scrape of the metrics ended early", exc_info=True)

        self._server = Server((host, port), Handler)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics-port", daemon=True)

    def __enter__(self) -> "MetricsPort":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    metrics: Gatherer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Glossator", ""
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        """Send the metrics."""
        if self.path.partition("?")[0] != "/metrics":
            self._send(HTTPStatus.NOT_FOUND, b"Metrics are at /metrics.\n", "text/plain; charset=utf-8")
            return
        try:
            self._send(HTTPStatus.OK, self.metrics.text(), CONTENT_TYPE)
        except NoAnswer:
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, b"The server is ending.\n", "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing of a scrape."""
