"""Reading processes that are forked: they read as those that are started do, and end with their guard."""

import os
import signal
from pathlib import Path

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.reading.forked_readers import FORKS
from engine.documents.reading.open import environment, read_document
from tests.support.made_papers import bill_pdf


def words_of(folder: Path, name: str) -> list[str]:
    source = folder / "bill.pdf"
    source.write_bytes(bill_pdf(7))
    read = read_document(source, name="bill.pdf", limits=ReadLimits(), out_dir=folder / name)
    return [word.text for page in read.pages for word in page.words]


def test_a_forked_reader_reads_what_one_that_was_started_reads(tmp_path: Path) -> None:
    assert FORKS.enabled
    forked = words_of(tmp_path, "forked")
    FORKS.enabled = False
    assert words_of(tmp_path, "started") == forked and "B7" in forked


def test_after_the_process_that_forks_was_killed_the_next_file_is_read(tmp_path: Path) -> None:
    words_of(tmp_path, "before")
    process = FORKS._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert "B7" in words_of(tmp_path, "after")
    assert FORKS._process is not process


def test_a_forked_reader_has_a_group_of_its_own_and_only_the_variables_it_is_given(tmp_path: Path) -> None:
    request = {"source": "/proc/self/environ", "out_dir": str(tmp_path), "limits": {}}
    reader = FORKS.start(request, {**environment(), "ONLY": "this"})
    assert reader is not None and os.getpgid(reader.pid) == reader.pid != os.getpgrp()
    assert reader.wait(60) == 1, "a request without limits is an error of the reader alone"
    assert reader.stderr is not None and b"KeyError" in reader.stderr.read()


@pytest.mark.own_readers
def test_nothing_is_forked_where_nobody_asked_for_it() -> None:
    assert FORKS.start({}, environment()) is None
