"""Memory that a training freed goes back to the system."""

import platform
import subprocess
import sys

import pytest

_SCRIPT = """
from engine.jobs.limits import resident_mb
from engine.jobs.memory import give_back

kept = [bytearray(64_000) for _ in range(4_000)]  # below the size from which glibc maps memory of its own
kept = kept[::50]  # what stays lies between what is free
before = resident_mb()
give_back()
print(before, resident_mb())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library gives memory back in its own way")
def test_pages_between_those_in_use_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True, timeout=120)
    before, after = (float(number) for number in done.stdout.split())
    assert before > 250 and after < before - 150
