"""Check the images of an imported set.

The head of a file is read first, so that a decompression bomb is refused before it is unpacked.
"""

from pathlib import Path

from PIL import Image

from engine.interchange.import_entries import bad

_FORMATS = ("PNG", "JPEG")  # as which Pillow opens files
# Pillow's reader of JPEG calls a file MPO that has further pictures behind its first, as phones write them under .jpg.
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "MPO": "image/jpeg"}
MOST_PIXELS = 200_000_000


def size_of(path: Path, where: str) -> tuple[int, int]:
    """Return width and height of a PNG or JPEG in pixels, read from its head.

    Raises:
        BadEntry: The file is neither, or has more than MOST_PIXELS pixels.
    """
    try:
        with Image.open(path, formats=_FORMATS) as image:
            width, height = image.size
    except (OSError, ValueError, Image.DecompressionBombError, SyntaxError) as error:
        bad(where, f"its image {path.name} is not a readable PNG or JPEG ({error})")
    if width * height > MOST_PIXELS:
        bad(where, f"its image {path.name} has {width:,} x {height:,} pixels; at most {MOST_PIXELS:,} are allowed")
    return width, height


def check_picture(path: Path, size: tuple[int, int], where: str) -> str:
    """Return the media type of an image after reading it to its end.

    Args:
        path: The image.
        size: Width and height in pixels that the set gives for it.
        where: The entry that names it, for the message.

    Raises:
        BadEntry: The image is damaged, or has another size.
    """
    found = size_of(path, where)
    if found != size:
        bad(
            where,
            f"its image {path.name} has {found[0]} x {found[1]} pixels, but the dataset says {size[0]} x {size[1]}",
        )
    try:
        with Image.open(path, formats=_FORMATS) as image:
            image.load()
            return MEDIA_TYPES[str(image.format)]
    except (OSError, ValueError, SyntaxError) as error:
        bad(where, f"its image {path.name} cannot be read to its end ({error})")
