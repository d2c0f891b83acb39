"""What a process counts and times. Labels have few values: never a project, a person, a document or a question.

A new metric is one line here; docs/monitoring.md lists it (tests/engine/metrics compares them).
"""

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series beside each counter, which nothing here asks for

REGISTRY = CollectorRegistry(auto_describe=False)
_SHORT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)  # seconds
_READING = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200)
_OCR = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_JOBS = (0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400)


def _counter(name: str, documentation: str, *labels: str) -> Counter:
    return Counter(f"glossator_{name}", documentation, labels, registry=REGISTRY)


def _seconds(name: str, documentation: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
    return Histogram(f"glossator_{name}_seconds", documentation, labels, registry=REGISTRY, buckets=buckets)


REQUESTS = _counter(
    "requests", "Requests answered, by route, method and class of the status.", "route", "method", "status"
)
REQUEST_SECONDS = _seconds(
    "request", "Seconds from a request to the beginning of its response, by route.", _SHORT, "route"
)
SAVES = _counter(
    "saves", "Requests to save edits of an answer, by outcome: saved, repeated, conflict, refused, failed.", "outcome"
)
EDITS = _counter("edits_saved", "Edits that were saved and acknowledged, by action.", "action")
ASK_SECONDS = _seconds(
    "ask", "Seconds of a question to a document, by outcome: answered, known, refused, failed.", _SHORT, "outcome"
)
READ_SECONDS = _seconds("read", "Seconds of reading one file, by outcome: read, refused, failed.", _READING, "outcome")
PAGES_READ = _counter("pages_read", "Pages read, by the source of their words: layer, ocr, layer+ocr, none.", "text")
OCR_SECONDS = _seconds(
    "ocr_page", "Seconds of OCR for a page that it reads, by outcome: read, failed.", _OCR, "outcome"
)
FILES_REFUSED = _counter("files_refused", "Files that were refused, by cause.", "cause")
JOB_SECONDS = _seconds("job", "Seconds of an attempt at a job, by kind and outcome.", _JOBS, "kind", "outcome")
VERDICTS = _counter("verdicts", "Verdicts on retrained models, by verdict: passed, failed.", "verdict")
WEBHOOK_ATTEMPTS = _counter(
    "webhook_attempts", "Attempts to send a message of a webhook, by outcome: sent, refused, failed.", "outcome"
)
EXTRACT_SECONDS = _seconds(
    "extract", "Seconds of an extraction of values, by outcome: answered, refused, failed.", _READING, "outcome"
)
PASS_SECONDS = _seconds("model_pass", "Seconds of the network for one page.", _SHORT)
