"""Pictures of an imported set, read as an upload's are (engine.documents.reading.pictures).

The head of a file is read first, so that a decompression bomb is refused before it is unpacked.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from PIL import Image

from engine.documents.kinds import media_type_of
from engine.documents.reading.pictures import (
    FORMATS,
    READ_ERRORS,
    can_be_kept,
    frames_of,
    load_frame,
    open_picture,
    orientation_of,
    stored_size,
    upright,
)
from engine.documents.refusal import Unreadable
from engine.interchange.bad_entries import bad

MOST_PIXELS = 200_000_000
_SIDEWAYS = (5, 6, 7, 8)  # EXIF orientations that swap width and height

Size = tuple[int, int]  # width and height in pixels


def refuse_turned(path: Path, orientation: int, where: str) -> NoReturn:
    """Raise BadEntry for a picture of which nothing says how the marks stand."""
    bad(
        where,
        f"its image {path.name} is turned or mirrored by its EXIF orientation ({orientation}), and nothing says "
        "whether its marks are on the picture before or after that; save the picture upright",
    )


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a picture says.

    Attributes:
        media_type: Kind of the file.
        stored: Size before the EXIF orientation turns the picture.
        orientation: EXIF orientation, 1 (upright) to 8.
    """

    media_type: str
    stored: Size
    orientation: int

    @property
    def shown(self) -> Size:
        """Return the size as viewers show the picture, upright."""
        width, height = self.stored
        return (height, width) if self.orientation in _SIDEWAYS else (width, height)


def head_of(path: Path, where: str) -> Head:
    """Read the head of a picture.

    Raises:
        BadEntry: The file is no picture, or has more than MOST_PIXELS pixels.
    """
    try:
        media_type = media_type_of(path)
        if media_type not in FORMATS:
            bad(where, f"its image {path.name} is a PDF and not a picture")
        with open_picture(path, media_type) as image:
            if len(frames_of(image, 1)) > 1:
                bad(where, f"its image {path.name} has several pages; save each page as a picture of its own")
            _seek_page(image)
            head = Head(media_type, stored_size(image), orientation_of(image))
    except Unreadable as error:
        bad(where, f"its image {path.name} is not a readable picture: it {error.why.removesuffix('.')}")
    except READ_ERRORS as error:
        bad(where, f"its image {path.name} is not a readable picture ({error})")
    width, height = head.stored
    if width * height > MOST_PIXELS:
        bad(where, f"its image {path.name} has {width:,} x {height:,} pixels; at most {MOST_PIXELS:,} are allowed")
    return head


def size_of(path: Path, where: str, stated: Size | None = None) -> Size:
    """Return the size of a picture that the marks of a set refer to.

    Args:
        path: The picture.
        where: The entry that names it, for the message.
        stated: Size that the set gives, where it gives one: that of the picture as stored, or as viewers show it.

    Raises:
        BadEntry: As `head_of`.
    """
    head = head_of(path, where)
    return head.stored if stated == head.stored else head.shown


def save_upright(path: Path, head: Head, where: str, target: Path) -> Path:
    """Return a PNG or JPEG that every browser shows like viewers show a picture: upright, 8 bits, without transparency.

    Args:
        path: The picture.
        head: Its head.
        where: The entry that names it, for the message.
        target: Where a PNG is written if the file itself does not do.

    Raises:
        BadEntry: The picture cannot be read to its end.
    """
    try:
        with open_picture(path, head.media_type) as image:
            _seek_page(image)
            frame, cut = load_frame(image, path)
            shown = upright(frame)
            if can_be_kept(image, shown, head.media_type, cut=cut):
                return path
    except READ_ERRORS as error:
        bad(where, f"its image {path.name} cannot be read to its end ({error})")
    shown.save(target, "PNG", compress_level=3)  # a full disk is no fault of the picture
    return target


def _seek_page(image: Image.Image) -> None:
    frame = frames_of(image, 1)[0]
    if image.tell() != frame:
        image.seek(frame)
