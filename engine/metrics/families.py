"""Metric families on their way from one process to another, and as the text that Prometheus reads."""

import json
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample


def collect(collectors: Iterable[Collector], process: str | None) -> list[Metric]:
    """Return what collectors say, with the name of a process as a label where there is one."""
    label = {"process": process} if process else {}
    collected = []
    for collector in collectors:
        for family in collector.collect():
            renewed = Metric(family.name, family.documentation, family.type)
            renewed.samples = [Sample(name, {**labels, **label}, value) for name, labels, value, *_ in family.samples]
            collected.append(renewed)
    return collected


def to_wire(families: Sequence[Metric]) -> bytes:
    """Encode families for another process."""
    return json.dumps(
        [
            [
                family.name,
                family.documentation,
                family.type,
                [[name, labels, value] for name, labels, value, *_ in family.samples],
            ]
            for family in families
        ]
    ).encode()


def from_wire(message: bytes) -> list[Metric]:
    """Decode what `to_wire` encoded. Raises ValueError or TypeError for anything else."""
    decoded = []
    for name, documentation, kind, samples in json.loads(message):
        family = Metric(str(name), str(documentation), str(kind))
        family.samples = [Sample(str(sample), dict(labels), float(value)) for sample, labels, value in samples]
        decoded.append(family)
    return decoded


def to_text(families: Iterable[Metric]) -> bytes:
    """Return families as text; those of several processes under one heading."""
    joined: dict[str, Metric] = {}
    for family in families:
        metric = joined.setdefault(family.name, Metric(family.name, family.documentation, family.type))
        metric.samples.extend(family.samples)
    return generate_latest(_Joined(joined.values()))


class _Joined(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families
