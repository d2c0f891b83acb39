"""Zip files that come in, unpacked where they can do no harm."""

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from engine.interchange.incoming import bad

MOST_FILES = 500_000
MOST_BYTES = 200_000_000_000
SPARE_BYTES = 1_000_000_000  # that stay free on the disk
MOST_TIMES = 200  # as large unpacked as packed: pictures do not shrink, texts shrink by twenty
_SMALL = 100_000_000  # bytes unpacked that no proportion is asked of


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yield the folder or file of a set; a zip file is unpacked for as long as the context lasts.

    BadEntry for one that is damaged, leads out of its folder, holds links, or is a bomb.
    """
    if not path.exists():
        bad(str(path), "there is no such file or folder")
    if path.is_dir() or not zipfile.is_zipfile(path):
        if path.suffix.lower() == ".zip":
            bad(path.name, "it is no whole zip file")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="glossator-import-") as temporary:
        folder = Path(temporary)
        _unpack(path, folder)
        inner = list(folder.iterdir())
        yield inner[0] if len(inner) == 1 and inner[0].is_dir() else folder


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _look_through(path, entries)
            _check_room(path, sum(entry.file_size for entry in entries), folder)
            for entry in entries:
                target = folder / entry.filename
                if entry.is_dir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        bad(path.name, f"it is no whole zip file ({error})")
    except OSError as error:
        bad(path.name, f"it cannot be unpacked ({error.strerror or error})")


def _check_room(path: Path, needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if needed + SPARE_BYTES > free:
        bad(path.name, f"unpacked it needs {needed / 1e9:,.1f} GB, and the disk has {free / 1e9:,.1f} GB left")


def _look_through(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse what no dataset needs; the sizes are those that are unpacked at most, for zipfile stops there."""
    total = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES or total > MOST_BYTES:
        bad(path.name, f"it holds {len(entries):,} files of {total / 1e9:,.0f} GB, which is too much")
    if total > _SMALL and total > MOST_TIMES * path.stat().st_size:
        bad(path.name, f"it would unpack to {total / path.stat().st_size:,.0f} times its size, as no dataset does")
    for entry in entries:
        name = PurePosixPath(entry.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in entry.filename.split("/")[0]:
            bad(f"{path.name}, {entry.filename[:80]!r}", "it leads out of the folder")
        if stat.S_ISLNK(entry.external_attr >> 16):
            bad(f"{path.name}, {entry.filename[:80]!r}", "it is a link")
        if entry.flag_bits & 1:
            bad(f"{path.name}, {entry.filename[:80]!r}", "it is encrypted")
