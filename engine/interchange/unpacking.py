"""Unpack a zip file in a process of its own: `python -m engine.interchange.unpacking REQUEST`.

The process prints its progress as JSON lines. It has a low priority and imports nothing heavy: unpacking a hundred
thousand tiny files keeps Python's interpreter busy, and within the server other people's requests would wait for it.
"""

import contextlib
import json
import os
import shutil
import stat
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from engine.confinement import Reach, confine
from engine.documents.reading.child import limit_process
from engine.interchange.set_files import is_left_behind

# Files and folders. Ten thousand pages with a few masks each, as PNG files, are some ten thousands.
MOST_ENTRIES = 100_000
MOST_BYTES = 200_000_000_000
MOST_TIMES = 200  # as large unpacked as packed: pictures do not shrink, texts shrink by twenty
MOST_DEEP = 32  # folders within folders
SPARE_BYTES = 1_000_000_000  # that stay free on the disk
MEMORY_MB = 1024
SECONDS = 6 * 3600.0
_SMALL = 100_000_000  # bytes unpacked that no proportion is asked of
_BLOCK = 4096  # bytes that a file takes on a disk at least
_OF_ENTRY = 512  # bytes of the zip file's directory for an entry, its name among them, more than which nobody needs
_HEAD = 46  # bytes of an entry in the directory, before its name
_UTF8_NAME = 0x800  # flag of an entry whose name is UTF-8
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_TOLD_EVERY = 0.25  # seconds
_LOOKED_EVERY = 64_000_000  # bytes written between two looks at the disk
_LOW = 10  # priority (nice)

Tell = Callable[[int, int], None]  # entries unpacked, entries in all


class NotUnpacked(Exception):
    """Raised when a zip file cannot be unpacked.

    Attributes:
        why: The reason, as the end of a sentence.
        entry: Name of the entry that is wrong; empty where the whole file is.
    """

    def __init__(self, why: str, entry: str = "") -> None:
        super().__init__(why)
        self.why, self.entry = why, entry


def unpack(path: Path, folder: Path, spare: int = SPARE_BYTES, tell: Tell = lambda done, of: None) -> None:
    """Unpack a zip file into a folder.

    Entries are counted before Python's reader makes an object for each: the number that the file states may be false.

    Args:
        path: The zip file.
        folder: An empty folder.
        spare: Bytes that stay free on the disk.
        tell: Called with the entries unpacked and all entries.

    Raises:
        NotUnpacked: The file holds too much, or an entry that no dataset needs.
        BadZipFile: The file is damaged.
    """
    with path.open("rb") as file:
        count = _count_entries(file)
        if count > MOST_ENTRIES:
            raise _too_many(count)
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            _look_through(path, entries)
            _check_room(sum(max(_BLOCK, entry.file_size) for entry in entries), folder, spare)
            _write(archive, entries, folder, spare, tell)


def _write(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], folder: Path, spare: int, tell: Tell) -> None:
    tell(0, len(entries))
    reported_at, written = time.monotonic(), 0
    for number, (entry, name) in enumerate(zip(entries, _paths(entries), strict=True), 1):
        if is_left_behind(name):
            continue
        target = folder / name
        if name.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            # zipfile reads no more than the size that was checked.
            with archive.open(entry) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
            written += max(_BLOCK, entry.file_size)
        if written >= _LOOKED_EVERY:  # others write to the same disk
            written = 0
            _check_room(0, folder, spare)
        if time.monotonic() - reported_at >= _TOLD_EVERY:
            reported_at = time.monotonic()
            tell(number, len(entries))


def _paths(entries: list[zipfile.ZipInfo]) -> list[str]:
    """Return the path of each entry as its program meant it: with slashes, and in UTF-8 where its bytes are UTF-8.

    Names of other code pages stay as Python reads them; nothing says which one it is, and set_files matches them. Two
    entries never become one file.
    """
    taken = {entry.filename for entry in entries}
    paths = []
    for entry in entries:
        name = entry.filename
        if not entry.flag_bits & _UTF8_NAME:
            with contextlib.suppress(UnicodeError):
                name = name.encode("cp437").decode("utf-8")
        name = name.replace("\\", "/")
        if name != entry.filename and name in taken:
            name = entry.filename
        taken.add(name)
        paths.append(name)
    return paths


def _count_entries(file: Any) -> int:
    """Return the number of entries in the directory of a zip file, counted in the directory's bytes.

    The number that the file states beside its directory may be false.
    """
    # The very search of Python's reader, for a file with two directories must not show another one to each.
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if not end:
        raise zipfile.BadZipFile("it has no directory")
    size, begins = end[5], end[9] - end[5]
    if end[0] == zipfile.stringEndArchive64:  # type: ignore[attr-defined]
        begins -= zipfile.sizeEndCentDir64 + zipfile.sizeEndCentDir64Locator  # type: ignore[attr-defined]
    if size > MOST_ENTRIES * _OF_ENTRY:
        raise _too_many(size // _OF_ENTRY, "at least ")
    if begins < 0:
        raise zipfile.BadZipFile("its directory is longer than the file")
    file.seek(begins)
    directory = file.read(size)
    count = at = 0
    while at + _HEAD <= len(directory):
        at += _HEAD + sum(struct.unpack_from("<3H", directory, at + 28))  # the name, what is extra, a comment
        count += 1
    return count


def _too_many(count: int, least: str = "") -> NotUnpacked:
    return NotUnpacked(
        f"it holds {least}{count:,} files and folders; a zip file may hold {MOST_ENTRIES:,}. Split the "
        "set, or unpack it and run glossator import on the folder"
    )


def _check_room(needed: int, folder: Path, spare: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed + spare > free:
        raise NotUnpacked(
            f"unpacked it needs {needed / 1e9:,.1f} GB, and the disk has {max(0, free - spare) / 1e9:,.1f} GB "
            "left for it"
        )


def _look_through(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that no dataset needs. zipfile never unpacks more of an entry than its stated size."""
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise NotUnpacked(f"it holds {total / 1e9:,.0f} GB; at most {MOST_BYTES / 1e9:,.0f} GB are allowed")
    if total > _SMALL and total > MOST_TIMES * path.stat().st_size:
        raise NotUnpacked(f"it would unpack to {total / path.stat().st_size:,.0f} times its size, as no dataset does")
    for entry in entries:
        name = PurePosixPath(entry.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in entry.filename.split("/")[0]:
            raise NotUnpacked("its path points outside the folder", entry.filename)
        if len(name.parts) > MOST_DEEP:
            raise NotUnpacked(f"it lies deeper than {MOST_DEEP} folders", entry.filename)
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise NotUnpacked("it is a link", entry.filename)
        if entry.flag_bits & 1:
            raise NotUnpacked("it is encrypted", entry.filename)
        if entry.compress_type not in _KINDS:  # of LZMA, a few bytes may ask for gigabytes of memory
            raise NotUnpacked("it is compressed in a way other than deflate; pack the set again", entry.filename)
    _count_folders(entry.filename.replace("\\", "/") for entry in entries)


def _count_folders(names: Iterable[str]) -> None:
    """Refuse too many folders: paths create folders that have no entry of their own."""
    folders: set[str] = set()
    count = 0
    for count, name in enumerate(names, 1):
        above = name.rstrip("/").rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
        if count + len(folders) > 2 * MOST_ENTRIES:
            raise _too_many(count + len(folders), "more than ")


def try_unpack(path: Path, folder: Path, spare: int, tell: Tell = lambda done, of: None) -> tuple[str, str] | None:
    """Unpack a zip file, and return the error instead of raising it.

    Args:
        path: The zip file.
        folder: An empty folder.
        spare: Bytes that stay free on the disk.
        tell: Called with the entries unpacked and all entries.

    Returns:
        The reason as the end of a sentence, and the entry that is wrong or ""; None when everything was unpacked.

    Raises:
        BrokenPipeError: The caller is gone.
    """
    try:
        unpack(path, folder, spare, tell)
    except BrokenPipeError:  # the caller is gone
        raise
    except NotUnpacked as error:
        return error.why, error.entry
    except OSError as error:
        return f"it cannot be unpacked ({error.strerror or error})", ""
    except MemoryError:
        return f"unpacking it takes more than {MEMORY_MB:,} MB of memory", ""
    except Exception as error:  # a damaged file makes zipfile, zlib and the codecs of names raise whatever they like
        return f"it is damaged or not a zip file ({error})", ""
    return None


def main() -> int:
    """Unpack as the JSON request of the first argument says, and print progress and result as JSON lines."""
    request = json.loads(sys.argv[1])
    limit_process(MEMORY_MB, SECONDS, MOST_BYTES)
    with contextlib.suppress(OSError):
        os.nice(_LOW)

    path, folder = Path(request["path"]), Path(request["folder"])
    confine(Reach(reads=[path], writes=[folder], folders=True), "available")

    def say(**said: Any) -> None:
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()  # a caller that is gone ends this process

    wrong = try_unpack(path, folder, request["spare"], lambda done, of: say(done=done, of=of))
    if wrong is None:
        say(whole=True)
    else:
        say(why=wrong[0], entry=wrong[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
