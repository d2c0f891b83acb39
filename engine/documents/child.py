"""The process that opens the file: `python -m engine.documents.child REQUEST`. It tells what it finds as JSON lines.

Nothing heavy is imported here (no network, no database), and limits are set before the file is touched.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any, TextIO

_START = time.monotonic()


def main() -> int:
    request = json.loads(sys.argv[1])
    # What libraries print goes to standard error, so that the wire carries JSON and nothing else.
    wire = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    limit_process(request["limits"]["memory_mb"], request["limits"]["seconds"], request["limits"]["bytes"])
    return _read(request, wire)


def limit_process(memory_mb: int, seconds: float, file_bytes: int) -> None:
    """Bound this process and those it starts: address space, CPU seconds (a backstop to the caller's clock), file size."""
    memory = memory_mb * 1024 * 1024
    cpu = int(seconds * max(1, os.cpu_count() or 1)) + 5
    largest = max(file_bytes, 1 << 30)  # of a file written here: a page's picture
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, largest),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # macOS has no limit on address space
            print(f"limit {what} cannot be set here", file=sys.stderr)  # noqa: T201 - the caller keeps it for its log


def _read(request: dict[str, Any], wire: TextIO) -> int:
    from engine.documents import refusal
    from engine.documents.limits import ReadLimits
    from engine.documents.reading import read_pages

    def tell(**said: Any) -> None:
        wire.write(json.dumps(said) + "\n")
        wire.flush()

    limits = ReadLimits(**request["limits"])
    try:
        read_pages(Path(request["source"]), Path(request["out_dir"]), limits, started=_START, tell=tell)
    except refusal.Unreadable as error:
        tell(refused=error.reason.value, why=error.why)
    except MemoryError:
        why = refusal.too_much_memory(limits.memory_mb)
        tell(refused=why.reason.value, why=why.why)
    return 0


if __name__ == "__main__":
    # Not sys.exit: MuPDF's and Pillow's clean-up after running out of memory may crash what has succeeded.
    status = main()
    sys.stderr.flush()
    os._exit(status)
