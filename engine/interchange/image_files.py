"""Find the image of an entry."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from engine.interchange.bad_entries import bad
from engine.interchange.import_entries import inside
from engine.interchange.set_files import SeveralMatch, find_file


def image_within(folder: Path, places: Sequence[object], where: str) -> Path:
    """Return the first of several paths relative to `folder` that is a file.

    A name as it is written goes before one that is only matched.

    Raises:
        BadEntry: There is none, or one of them may mean several files.
    """
    names = [name for name in places if isinstance(name, str) and _stays(name)]
    for match in (_exists, _is_matched):
        for name in names:
            if match(folder, name):
                return inside(folder, name, where)
    return inside(folder, places[0], where)


def image_beside(root: Path, beside: Path, name: object, where: str) -> Path:
    """Return the path of the image that a file in the folder `beside` names.

    The name is tried relative to `beside`, without its folders in `beside`, and in images/ of `root`.

    Raises:
        BadEntry: There is no such image, or it lies outside `root`.
    """
    if not isinstance(name, str) or not name:
        bad(where, "it names no image")
    plain = PurePosixPath(name.replace("\\", "/"))
    base, places = root.resolve(), list[str]()
    for place in (beside / plain, beside / plain.name, root / "images" / plain.name):
        try:
            resolved = place.resolve()
        except (OSError, ValueError):
            continue
        if resolved.is_relative_to(base) and not plain.is_absolute():
            places.append(str(resolved.relative_to(base)))
    if not places:
        bad(where, f"there is no image {name[:200]!r} in the imported folder")
    return image_within(base, places, where)


def _exists(folder: Path, name: str) -> bool:
    try:
        return (folder / name).is_file()
    except (OSError, ValueError):
        return False


def _is_matched(folder: Path, name: str) -> bool:
    """Return whether a name matches one file, or several, of which nobody can choose."""
    try:
        return find_file(folder, name) is not None
    except SeveralMatch:
        return True
    except (OSError, ValueError):
        return False


def _stays(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return bool(name) and not path.is_absolute() and ".." not in path.parts
