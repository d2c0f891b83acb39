"""The clock by which OCR is limited: processor time on a busy machine, a part of the time of one that hangs."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.documents.reading.work_clock import STRETCH
from engine.version import ROOT

WORK = "import hashlib\nwhile time.process_time() < {0}: hashlib.sha256(bytes(1 << 16)).digest()\n"
PROGRAM = """
import json, os, subprocess, sys, time
os.setpgrp()
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, cores[:1])
from engine.documents.reading.work_clock import WorkClock
clock, wall = WorkClock(), time.monotonic()
{body}
print(json.dumps([clock.seconds(), time.monotonic() - wall]))
"""


def measure(body: str) -> tuple[float, float]:
    """Return the counted seconds and those of the wall, of a program on one core."""
    command = [sys.executable, "-c", PROGRAM.format(body=body)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    counted, wall = json.loads(done.stdout)
    return counted, wall


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """Programs that take the first core from everybody else, until the context ends."""
    code = "import os\nos.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])\nwhile True: pass"
    working = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(programs)]
    try:
        yield
    finally:
        for program in working:
            program.kill()
            program.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a choice of cores")
def test_a_busy_machine_takes_no_time_of_a_document() -> None:
    with busy(4):
        counted, wall = measure("worked = time.process_time()\n" + WORK.format("worked + 0.6"))
    assert wall > 1.5 * counted and counted < 1.5 * max(0.6, wall / STRETCH)


@pytest.mark.skipif(sys.platform != "linux", reason="needs clocks of processes")
def test_programs_that_were_started_count_while_they_run() -> None:
    started = f"subprocess.Popen([sys.executable, '-c', 'import time\\n' + {WORK.format(60)!r}])"
    body = (
        f"program = {started}\nwith clock.counting(program.pid):\n    time.sleep(2)\n    clock.seconds()\n"
        "    counted = clock.seconds()\n    program.kill()"
    )
    counted, wall = measure(body)
    assert counted > 1.2 * wall / STRETCH


def test_one_that_hangs_is_charged_a_part_of_the_time() -> None:
    begun = time.monotonic()
    counted, wall = measure("time.sleep(1)")
    assert 0.9 / STRETCH <= counted <= 0.5 * wall <= 0.5 * (time.monotonic() - begun)
