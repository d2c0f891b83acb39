"""How many pages OCR reads at once: as many as cores and memory allow."""

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.ocr import pages as ocr_pages


@pytest.mark.parametrize(
    ("cores", "memory_mb", "at_once"),
    [(1, 2048, 1), (2, 2048, 2), (4, 2048, 2), (4, 2500, 4), (64, 9000, 4), (4, 256, 1)],
)
def test_pages_read_at_once_follow_cores_and_memory(
    monkeypatch: pytest.MonkeyPatch, cores: int, memory_mb: int, at_once: int
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    assert ocr_pages._workers(ReadLimits(memory_mb=memory_mb)) == at_once
