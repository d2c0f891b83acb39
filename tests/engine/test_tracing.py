"""Traces, as a real receiver of OTLP decodes them."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.testclient import TestClient

from annotator.app import create_app
from engine import tracing
from engine.errors import Refused
from engine.metrics import measure
from engine.metrics.counted import ASK_SECONDS
from engine.settings import Settings

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
Spans = dict[str, dict[str, Any]]


class Receiver(ThreadingHTTPServer):
    """A receiver of OTLP over http/protobuf, which keeps what it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Take)
        self.requests: list[ExportTraceServiceRequest] = []

    def spans(self) -> Spans:
        """Attributes of each span by its name, with the ids of trace and parent, and the process."""
        found: Spans = {}
        for request in self.requests:
            for of_process in request.resource_spans:
                resource = {each.key: each.value.string_value for each in of_process.resource.attributes}
                for span in (span for scope in of_process.scope_spans for span in scope.spans):
                    attributes = {each.key: each.value.string_value for each in span.attributes}
                    ids = {"trace": span.trace_id.hex(), "parent": span.parent_span_id.hex()}
                    found[span.name] = {**attributes, **ids, "service": resource["service.name"]}
        return found


class Take(BaseHTTPRequestHandler):
    """Takes one export."""

    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        assert self.path == "/v1/traces"
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver that the standard variables name."""
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
        yield server
        tracing.end()
        server.shutdown()


def test_requests_and_their_work_are_spans_without_texts_or_tokens(receiver: Receiver, tmp_path: Path) -> None:
    tracing.begin("web-1")
    app = create_app(Settings(data_dir=tmp_path, _env_file=None), with_page=False)

    @app.get("/api/asks")
    def asks() -> None:
        with measure("ask", ASK_SECONDS, "answered"), pytest.raises(Refused), measure("inner", ASK_SECONDS, "answered"):
            raise Refused("the secret of the page")

    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    with TestClient(app, base_url="http://127.0.0.1:7860") as client:
        client.get("/api/asks", params={"q": "the secret of the page"}, headers=headers)
        client.get("/invite/secret-token")
    tracing.end()
    spans = receiver.spans()
    request = spans["GET /api/asks"]
    assert (request["trace"], request["parent"], request["service"]) == (TRACE, PARENT, "glossator")
    assert (request["http.route"], request["url.query"]) == ("/api/asks", "REDACTED")
    assert (spans["ask"]["trace"], spans["ask"]["outcome"]) == (TRACE, "answered")
    assert (spans["inner"]["outcome"], spans["inner"]["error.type"]) == ("refused", "Refused")
    assert not any("secret" in str(export) for export in receiver.requests)


def test_nothing_is_traced_without_the_standard_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    for variables in ({}, {**named, "OTEL_SDK_DISABLED": "true"}, {**named, "OTEL_TRACES_EXPORTER": "none"}):
        with monkeypatch.context() as setting:
            for name, value in variables.items():
                setting.setenv(name, value)
            tracing.begin("web-1")
        assert tracing.provider() is None
        with tracing.span("work"):
            assert tracing.current_ids() == {}


def test_a_name_of_the_service_and_ids_for_the_log_follow_the_variables(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "glossator-of-the-house")
    tracing.begin("worker")
    with tracing.span("job retrain", job_id="j1") as attributes:
        ids = tracing.current_ids()
        attributes["outcome"] = "done"
    tracing.end()
    job = receiver.spans()["job retrain"]
    assert (job["service"], job["job_id"], job["outcome"]) == ("glossator-of-the-house", "j1", "done")
    assert (ids["trace_id"], len(ids["span_id"])) == (job["trace"], 16)


def test_another_protocol_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(Refused, match="OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"):
        tracing.begin("web-1")
