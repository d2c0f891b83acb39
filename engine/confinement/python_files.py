"""Files that Python, the packages and the programs that it starts read while they run."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from engine.version import ROOT

_LIBRARIES = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share", "/nix/store")
_FILES = (
    "/etc/ld.so.cache",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
)
_OF_PREFIX = ("lib", "lib64", "share")
_ROOMS = ("db", "engine", "model")  # of a checkout, which may hold data beside them


def python_files() -> Iterator[Path]:
    """Yield the folders and files that a process reads to import packages and to run them.

    No folder of settings, of people, or of data: of Python's prefixes the libraries alone, of a checkout the code.
    """
    yield from map(Path, (*_LIBRARIES, *_FILES))
    yield Path(f"/proc/{os.getpid()}")
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix}:
        yield from (Path(prefix, name) for name in _OF_PREFIX)
    yield from (ROOT / room for room in _ROOMS)
    # Folders of packages outside the prefixes, as those of a user.
    yield from (Path(entry) for entry in sys.path if entry and (Path(entry) != ROOT or ROOT.name.endswith("-packages")))
    yield from (Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":") if entry)
