"""Pictures that come in: looked at by their head first, so that a bomb is refused before it is unpacked."""

from pathlib import Path

from PIL import Image

from engine.interchange.import_entries import bad

MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}
MOST_PIXELS = 200_000_000


def size_of(path: Path, where: str) -> tuple[int, int]:
    """Return width and height of a PNG or JPEG, by its head alone. BadEntry for what is neither, or too large."""
    try:
        with Image.open(path, formats=tuple(MEDIA_TYPES)) as image:
            width, height = image.size
    except (OSError, ValueError, Image.DecompressionBombError, SyntaxError) as error:
        bad(where, f"its image {path.name} is no PNG or JPEG that can be read ({error})")
    if width * height > MOST_PIXELS:
        bad(where, f"its image {path.name} has {width:,} x {height:,} pixels; {MOST_PIXELS:,} is the most")
    return width, height


def checked(path: Path, size: tuple[int, int], where: str) -> str:
    """Return the media type of a picture that is whole and has that size (width, height). BadEntry otherwise."""
    found = size_of(path, where)
    if found != size:
        bad(where, f"its image {path.name} is of {found[0]} x {found[1]} pixels, and it says {size[0]} x {size[1]}")
    try:
        with Image.open(path, formats=tuple(MEDIA_TYPES)) as image:
            image.load()
            return MEDIA_TYPES[str(image.format)]
    except (OSError, ValueError, SyntaxError) as error:
        bad(where, f"its image {path.name} cannot be read to its end ({error})")
