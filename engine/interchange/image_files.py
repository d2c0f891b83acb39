"""Find the image of an entry."""

from pathlib import Path

from engine.interchange.import_entries import bad, inside


def image_beside(root: Path, beside: Path, name: object, where: str) -> Path:
    """Return the path of the image that a file in the folder `beside` names.

    The name is tried relative to `beside`, without its folders in `beside`, and in images/ of `root`.

    Raises:
        BadEntry: There is no such image, or it lies outside `root`.
    """
    if not isinstance(name, str) or not name:
        bad(where, "it names no image")
    file = Path(name).name
    for place in (beside / name, beside / file, root / "images" / file):
        try:
            found = place.resolve()
            if found.is_file() and not Path(name).is_absolute():
                return inside(root, str(found.relative_to(root.resolve())), where)
        except (OSError, ValueError):
            continue
    return bad(where, f"there is no image {name[:200]!r} in the imported folder")
