"""A disk that a test can fill: a filesystem of a few megabytes, in memory."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_filesystem(folder: Path, megabytes: int = 24) -> Iterator[Callable[[], Callable[[], None]]]:
    """Mount a filesystem at `folder`; yield a function that fills it and returns one that makes room again.

    Skips the test where none can be mounted.
    """
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"A small filesystem cannot be mounted here: {mounted.stderr.decode().strip()}")

    def fill() -> Callable[[], None]:
        filler = folder / "filler"
        with filler.open("wb", buffering=0) as file:
            for size in (1_000_000, 4096, 1):
                with suppress(OSError):
                    while file.write(b"x" * size) == size:
                        pass
        return filler.unlink

    try:
        yield fill
    finally:
        subprocess.run(["umount", str(folder)], check=True)
