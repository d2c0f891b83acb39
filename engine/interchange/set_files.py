"""The files of a set: those that systems leave behind are no part of it, and names are matched across systems.

Names change on their way: Windows writes backslashes, macOS decomposes accents (NFD), and zip files of older programs
hold the bytes of a code page, which Python reads as CP437. A name is matched where one file alone can be meant.
"""

import difflib
import os
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

# Left by macOS, Windows, Linux desktops, and Synology.
_LEFT_BEHIND = frozenset(
    ("__macosx", ".ds_store", ".appledouble", ".spotlight-v100", ".trashes", ".fseventsd", ".temporaryitems",
     ".documentrevisions-v100", "thumbs.db", "ehthumbs.db", "desktop.ini", "$recycle.bin",
     "system volume information", ".directory", "@eadir")
)  # fmt: skip
# Code pages of zip files whose names have no flag for UTF-8; CP437 maps every byte, so that nothing is lost by it.
_CODE_PAGES = ("utf-8", "cp949", "cp932", "gb18030", "big5hkscs", "cp1252", "cp850", "cp1250", "cp1251", "cp866")
_NEAR_AMONG = 5_000  # names of a folder that a misspelt one is compared with
_CLOSE = 0.6  # similarity of two names, 0..1, from which they are called near


class SeveralMatch(Exception):
    """Raised when a name may mean several files.

    Attributes:
        names: Their names, sorted.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


def is_left_behind(path: str) -> bool:
    """Return whether a path within a set is a file of the system's own: __MACOSX, ._x, .DS_Store, Thumbs.db."""
    return any(part.lower() in _LEFT_BEHIND or part.startswith("._") for part in path.replace("\\", "/").split("/"))


def iter_files(folder: Path, suffix: str = "") -> Iterator[Path]:
    """Yield the regular files in a folder and its subfolders, without those that a system left behind.

    A list of a hundred thousand paths, built at once, would delay other people's requests.

    Args:
        folder: The folder. Links to folders are not followed.
        suffix: Ending of the names, such as ".json", in any case.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_left_behind(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from iter_files(Path(entry.path), suffix)
            elif entry.name.lower().endswith(suffix) and entry.is_file():
                yield Path(entry.path)


def find_file(folder: Path, name: str) -> Path | None:
    """Return the path of the file that a set calls `name`, or None.

    The name as it is written comes first. Then backslashes, the composition of accents and code pages of zip files are
    set aside, then case.

    Args:
        folder: Where the name begins.
        name: A path relative to it.

    Raises:
        SeveralMatch: Several files match equally well.
        OSError: The name is too long.
        ValueError: The name holds a zero.
    """
    if (folder / name).is_file():
        return folder / name
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        return None
    for key in (_spelling, _fold):
        matches = sorted(set(_matching(folder, parts, key)))
        if len(matches) > 1:
            raise SeveralMatch([str(path.relative_to(folder)) for path in matches])
        if matches:
            return matches[0]
    return None


def near_name(folder: Path, name: str) -> str | None:
    """Return the path, relative to `folder`, of the file whose name is most like `name`; None without a likeness."""
    file = _fold(name.replace("\\", "/").rsplit("/", 1)[-1])
    names: dict[str, str] = {}
    for path in islice(iter_files(folder), _NEAR_AMONG):
        names.setdefault(_fold(path.name), str(path.relative_to(folder)))
    close = difflib.get_close_matches(file, names, n=1, cutoff=_CLOSE)
    return names[close[0]] if close else None


def _matching(folder: Path, parts: list[str], key: Callable[[str], str]) -> Iterator[Path]:
    """Yield the files whose path has the same key in every part."""
    if not parts:
        return
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        return
    by_key = _names_by_key(folder, changed, key)
    # A folder unpacked on Linux may hold a path of Windows as one name.
    for length in {1, len(parts)}:
        wanted = "/".join(parts[:length])
        for form in {key(wanted), *(key(form) for form in _as_unpacked(wanted))}:
            for name in by_key.get(form, ()):
                if length < len(parts):
                    yield from _matching(folder / name, parts[length:], key)
                elif (folder / name).is_file():
                    yield folder / name


@lru_cache(maxsize=16)
def _names_by_key(folder: Path, changed: int, key: Callable[[str], str]) -> dict[str, list[str]]:
    """Return the names in a folder by their key; `changed`, the folder's time, tells a later state apart."""
    by_key: dict[str, list[str]] = {}
    for path in folder.iterdir():
        name = path.name
        if not is_left_behind(name):
            by_key.setdefault(key(name.replace("\\", "/")), []).append(name)
    return by_key


def _spelling(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _as_unpacked(name: str) -> Iterator[str]:
    """Yield the name as Python unpacks it from a zip file of an older program."""
    if name.isascii():
        return
    for form in {unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)}:
        for page in _CODE_PAGES:
            try:
                yield form.encode(page).decode("cp437")
            except UnicodeError:
                continue
