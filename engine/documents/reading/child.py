"""Child process that opens a file: `python -m engine.documents.reading.child REQUEST`.

Reports its results as JSON lines.

Imports nothing heavy (no network, no database), and sets limits before it touches the file.
"""

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any, TextIO


def main() -> int:
    """Run the child process; return its exit status."""
    return read(json.loads(sys.argv[1]))


def read(request: dict[str, Any]) -> int:
    """Set the limits and read the file of a request; return the exit status."""
    from engine.confinement import NotConfined, Reach, confine
    from engine.documents.limits import OCR_PATIENCE

    # Output of libraries goes to standard error, so that standard output carries JSON only.
    wire = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    limits = request["limits"]
    longest = limits["seconds"] + limits["ocr_seconds"] * limits["pages"] + OCR_PATIENCE
    limit_process(limits["memory_mb"], longest, limits["bytes"])
    tessdata = os.environ.get("TESSDATA_PREFIX")
    reach = Reach(
        reads=[Path(request["source"]), *([Path(tessdata)] if tessdata else [])],
        writes=[Path(request["out_dir"])],
        programs=("tesseract",) if limits["ocr"] != "rapidocr" else (),
    )
    try:
        if refused := confine(reach, limits["confinement"]):
            wire.write(json.dumps({"less_confined": " and ".join(refused)}) + "\n")
    except NotConfined as error:
        wire.write(json.dumps({"not_confined": error.missing}) + "\n")
        return 0
    return _read_file(request, wire)


def limit_process(memory_mb: int, seconds: float, file_bytes: int) -> None:
    """Limit this process and its children: address space, CPU seconds (a backstop), size of written files."""
    memory = memory_mb * 1024 * 1024
    cpu = int(seconds * max(1, os.cpu_count() or 1)) + 5
    largest = max(file_bytes, 1 << 30)  # of a file written here: the image of a page
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
        except (ValueError, OSError):  # macOS does not limit address space
            print(f"limit {what} cannot be set here", file=sys.stderr)  # noqa: T201 - the caller keeps it for its log


def _read_file(request: dict[str, Any], wire: TextIO) -> int:
    from engine.documents import refusal
    from engine.documents.limits import ReadLimits
    from engine.documents.reading.reading import read_pages

    def tell(**said: Any) -> None:
        """Write one JSON line."""
        wire.write(json.dumps(said) + "\n")
        wire.flush()

    limits = ReadLimits(**request["limits"])
    try:
        read_pages(Path(request["source"]), Path(request["out_dir"]), limits, tell=tell)
    except refusal.Unreadable as error:
        tell(refused=error.reason.value, why=error.why)
    except MemoryError:
        why = refusal.too_much_memory(limits.memory_mb)
        tell(refused=why.reason.value, why=why.why)
    return 0


if __name__ == "__main__":
    # Not sys.exit: after running out of memory, the clean-up of MuPDF and Pillow may crash a successful run.
    status = main()
    sys.stderr.flush()
    os._exit(status)
