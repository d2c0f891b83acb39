"""What a process keeps of its reach, and the step that gives up the rest."""

import os
import shutil
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.confinement import landlock, system_calls
from engine.confinement.kernel import (
    FILES,
    SYSTEM_CALLS,
    filters_system_calls,
    landlock_version,
    missing_parts,
    prctl,
)
from engine.confinement.python_files import python_files
from engine.errors import Refused

Confinement = Literal["required", "available", "off"]

_NO_NEW_PRIVILEGES = 38  # option of prctl
_INTERPRETER = 3  # type of the header of an ELF file that names its loader


class NotConfined(Refused):
    """Raised where a process must be confined and the machine does not allow it."""

    def __init__(self, missing: Sequence[str]) -> None:
        self.missing = list(missing)
        super().__init__(
            "Files are not read here, because GLOSSATOR_READER_CONFINEMENT is required and the reading process would "
            f"not be kept from {' and '.join(missing)}. Use a kernel or container that allows it, or set it to "
            "available."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a confined process can still use, beside what Python reads.

    Args:
        reads: Files, or folders with all below them.
        writes: Folders in which it writes and removes files; temporary files go to the first one.
        folders: Whether it makes folders there, too.
        programs: Names of programs that it may start.
    """

    reads: Sequence[Path] = ()
    writes: Sequence[Path] = ()
    folders: bool = False
    programs: Sequence[str] = ()


def confine(reach: Reach, confinement: Confinement) -> list[str]:
    """Give up everything but `reach`, for ever; call it before threads start and before a file is touched.

    Variables that name a folder for temporary files are set to the first folder of `reach.writes`.

    Args:
        reach: What this process still needs.
        confinement: "required": all of it or an error. "available": as much as the kernel has. "off": nothing.

    Returns:
        Parts that the kernel has and refused all the same, each with its reason; the other parts hold.

    Raises:
        NotConfined: It is required, and the kernel lacks a part or refuses.
    """
    if confinement == "off":
        return []
    if confinement == "required" and (missing := missing_parts()):
        raise NotConfined(missing)
    if reach.writes:
        os.environ["TMPDIR"] = str(reach.writes[0])
    programs = [Path(path) for path in map(shutil.which, reach.programs) if path]
    steps: list[tuple[str, Callable[[], object]]] = []
    if landlock_version():
        steps.append((FILES, lambda: landlock.restrict(_rules(reach, programs))))
    if filters_system_calls():
        steps.append((SYSTEM_CALLS, lambda: system_calls.restrict(programs=bool(programs))))
    if steps:
        steps.insert(0, ("rights that programs give", lambda: prctl(_NO_NEW_PRIVILEGES, 1)))
    refused = []
    for part, step in steps:
        try:
            step()
        except OSError as error:
            refused.append(f"{part} ({error.strerror or error})")
    if refused and confinement == "required":
        raise NotConfined(refused)
    return refused


def not_confined_sentence(confinement: Confinement) -> str:
    """Return a sentence about what processes that open uploads are not kept from; empty where nothing is missing."""
    if confinement == "off":
        return "Processes that open uploads are not confined: GLOSSATOR_READER_CONFINEMENT is off."
    missing = missing_parts()
    if not missing:
        return ""
    if confinement == "required":
        return str(NotConfined(missing))
    return f"Processes that open uploads are not kept from {' and '.join(missing)}."


def _rules(reach: Reach, programs: Sequence[Path]) -> Iterator[tuple[Path, landlock.Access]]:
    yield from ((path, landlock.READ) for path in (*python_files(), *reach.reads))
    yield from ((path, landlock.WRITE_TREE if reach.folders else landlock.WRITE) for path in reach.writes)
    yield Path(os.devnull), landlock.READ | landlock.Access.WRITE_FILE
    for program in programs:
        yield program, landlock.RUN
        if loader := _loader(program):
            yield loader, landlock.RUN


def _loader(program: Path) -> Path | None:
    """Return the program that the kernel starts to load a 64-bit ELF file; None where there is none."""
    with suppress(OSError, struct.error), program.open("rb") as file:
        head = file.read(64)
        if not head.startswith(b"\x7fELF\x02"):
            return None
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<2H", head, 54)
        for number in range(count):
            file.seek(table + number * size)
            header = file.read(size)
            if struct.unpack_from("<I", header)[0] == _INTERPRETER:
                (offset,), (length,) = struct.unpack_from("<Q", header, 8), struct.unpack_from("<Q", header, 32)
                file.seek(offset)
                return Path(os.fsdecode(file.read(length).rstrip(b"\0")))
    return None
