"""What of a page OCR looks at: all of it, or the part that holds what the text layer lacks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PIL import Image, ImageOps

from engine.documents.ocr.engine import OcrPage
from engine.documents.reading.source_words import FoundLine, turned_box
from model.boxes import FloatBox

_AIR = 24  # pixels of the image around a part: letters at its edge are not cut
_WORTH = 0.7  # share of the page from which it is read as a whole


@dataclass(frozen=True, slots=True)
class OcrView:
    """Part of a page as an image for OCR.

    Args:
        image: Grey, at the resolution of OCR.
        place: Of its upper left corner in the image of the page for OCR, (x, y).
        whole: Size of that image, (width, height).
        page: Size of the page, (width, height) in its own pixels.
    """

    image: Image.Image
    place: tuple[int, int]
    whole: tuple[int, int]
    page: tuple[int, int]

    def place_upright(self, read: OcrPage) -> tuple[FoundLine, ...]:
        """Return what OCR read, in pixels of the page as it stands: a turn that OCR made is undone."""
        back = (360 - read.turn) % 360
        size = self.image.size if read.turn % 180 == 0 else self.image.size[::-1]
        left, top = self.place
        across, down = self.page[0] / self.whole[0], self.page[1] / self.whole[1]

        def on_page(box: FloatBox) -> FloatBox:
            """Return a box in pixels of the page."""
            x0, y0, x1, y1 = turned_box(box, back, size)
            return (x0 + left) * across, (y0 + top) * down, (x1 + left) * across, (y1 + top) * down

        return _place_lines(read, on_page, back)

    def place_turned(self, read: OcrPage) -> tuple[FoundLine, ...]:
        """Return what OCR read of a whole page, in pixels of the page after the turn that OCR made."""
        width, height = self.whole if read.turn % 180 == 0 else self.whole[::-1]
        page_width, page_height = self.page if read.turn % 180 == 0 else self.page[::-1]
        across, down = page_width / width, page_height / height
        return _place_lines(read, lambda box: (box[0] * across, box[1] * down, box[2] * across, box[3] * down), 0)


def view_of(image: Image.Image, page: tuple[int, int], parts: Sequence[FloatBox]) -> OcrView:
    """Return the smallest view that holds the parts of a page; all of it without parts.

    Args:
        image: Of the page for OCR, grey.
        page: Size of the page, (width, height) in its own pixels.
        parts: Boxes in pixels of the page.
    """
    if not parts:
        return OcrView(image, (0, 0), image.size, page)
    across, down = image.width / page[0], image.height / page[1]
    left = max(0, int(min(part[0] for part in parts) * across) - _AIR)
    top = max(0, int(min(part[1] for part in parts) * down) - _AIR)
    right = min(image.width, round(max(part[2] for part in parts) * across) + _AIR)
    bottom = min(image.height, round(max(part[3] for part in parts) * down) + _AIR)
    if (right - left) * (bottom - top) >= _WORTH * image.width * image.height:
        return OcrView(image, (0, 0), image.size, page)
    paper = max(range(256), key=image.histogram().__getitem__)
    # The air keeps the detector from cutting letters where the part ends.
    cut = ImageOps.expand(image.crop((left, top, right, bottom)), _AIR, paper)
    return OcrView(cut, (left - _AIR, top - _AIR), image.size, page)


def _place_lines(read: OcrPage, on_page: Callable[[FloatBox], FloatBox], turned: int) -> tuple[FoundLine, ...]:
    return tuple(
        FoundLine(tuple(replace(word, box=on_page(word.box)) for word in line.words), (line.heading + turned) % 360)
        for line in read.lines
    )
