"""Traces by OpenTelemetry, off unless its standard variables name a receiver.

Spans tell names of routes and kinds of work, ids and outcomes: no text of documents or questions, no query strings, no
tokens, and of an exception only its type.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine.errors import Refused
from engine.logs import shown_path

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, Span, TracerProvider

_EXPORTER, _PROTOCOLS = "OTEL_TRACES_EXPORTER", ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_provider: "TracerProvider | None" = None  # of this process


def is_wanted() -> bool:
    """Return whether the variables of OpenTelemetry ask for traces."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get(_EXPORTER) == "none":
        return False
    return _EXPORTER in os.environ or any(name in os.environ for name in _ENDPOINTS)


def begin(process: str) -> None:
    """Send traces from now on, where the variables ask for it.

    Args:
        process: Name of this process, in each span.

    Raises:
        Refused: The variables name what is not there, or the extra `telemetry` is not installed.
    """
    global _provider
    if not is_wanted():
        return
    exporter = os.environ.get(_EXPORTER, "otlp")
    protocol = next((os.environ[name] for name in _PROTOCOLS if name in os.environ), "http/protobuf")
    if exporter != "otlp" or protocol != "http/protobuf":
        raise Refused(
            f"Traces are sent by OTLP over http/protobuf, not by {exporter} over {protocol}. Set {_EXPORTER}=otlp and "
            f"{_PROTOCOLS[1]}=http/protobuf, or {_EXPORTER}=none."
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise Refused(
            "The library that sends traces is missing. Install it: pip install glossator[telemetry]"
        ) from error
    own = Resource({"service.name": "glossator", "service.instance.id": process, "process.pid": os.getpid()})
    _provider = TracerProvider(resource=Resource.create().merge(own).merge(OTELResourceDetector().detect()))
    _provider.add_span_processor(_without_secrets())
    _provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))


def end() -> None:
    """Send what waits, and no traces from then on."""
    global _provider
    provider, _provider = _provider, None
    if provider is not None:
        provider.shutdown()


def provider() -> "TracerProvider | None":
    """Return the provider of this process, for the framework; None while no traces are sent."""
    return _provider


@contextmanager
def span(name: str, **attributes: str) -> Iterator[dict[str, str]]:
    """Trace the work inside; what is put into the yielded dictionary becomes attributes at its end."""
    more: dict[str, str] = {}
    if _provider is None:
        yield more
        return
    from opentelemetry.trace import StatusCode

    tracer = _provider.get_tracer("glossator")
    with tracer.start_as_current_span(
        name, attributes=dict(attributes), record_exception=False, set_status_on_exception=False
    ) as traced:
        try:
            yield more
        except BaseException as error:
            traced.set_attribute("error.type", type(error).__name__)
            traced.set_status(StatusCode.ERROR)
            raise
        finally:
            traced.set_attributes(more)


def current_ids() -> Mapping[str, str]:
    """Return the ids of the span that goes on, for the log; empty while nothing is traced."""
    if _provider is None:
        return {}
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}


def _without_secrets() -> Any:
    from opentelemetry.sdk.trace import SpanProcessor

    class WithoutSecrets(SpanProcessor):
        """Takes query strings and tokens in paths out of spans that the framework begins."""

        def on_start(self, span: "Span", parent_context: Any = None) -> None:
            attributes = span.attributes or {}
            if "url.query" in attributes:
                span.set_attribute("url.query", "REDACTED")
            if "url.path" in attributes:
                span.set_attribute("url.path", shown_path(str(attributes["url.path"])))

        def on_end(self, span: "ReadableSpan") -> None:
            pass

    return WithoutSecrets()
