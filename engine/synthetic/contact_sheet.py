"""Contact sheet: thumbnails of generated pages in a grid, answers tinted, for visual inspection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, sqrt

from PIL import Image, ImageDraw, ImageFont

from engine.synthetic.assemble import SyntheticPage
from model.boxes import FloatBox

_GAP = 12
_CAPTION = 20
_GROUND = (118, 120, 124)
_WORDS = (255, 170, 0, 70)
_REGIONS = (0, 120, 255, 60)


class ContactSheet:
    """Pages in a grid, each `side` pixels wide; tall pages are cropped, or receipts would leave gaps."""

    def __init__(self, side: int = 320) -> None:
        self.side = side
        self.tallest = round(side * 1.5)
        self.pictures: list[Image.Image] = []

    def add(self, made: SyntheticPage, picture: Image.Image) -> None:
        """Add a page with its rendered image."""
        self.pictures.append(self._small(made, picture))

    def image(self, columns: int | None = None) -> Image.Image:
        """Return the sheet, roughly square unless `columns` is given. Raises ValueError without pages."""
        if not self.pictures:
            raise ValueError("A contact sheet needs at least one page.")
        columns = columns or ceil(sqrt(len(self.pictures) * 1.4))
        rows = [self.pictures[at : at + columns] for at in range(0, len(self.pictures), columns)]
        heights = [max(picture.height for picture in row) for row in rows]
        size = (columns * (self.side + _GAP) + _GAP, sum(heights) + len(rows) * _GAP + _GAP)
        sheet = Image.new("RGB", size, _GROUND)
        y = _GAP
        for row, height in zip(rows, heights, strict=True):
            for at, picture in enumerate(row):
                sheet.paste(picture, (_GAP + at * (self.side + _GAP), y))
            y += height + _GAP
        return sheet

    def _small(self, made: SyntheticPage, picture: Image.Image) -> Image.Image:
        """Return the thumbnail of a page with its kind: answers by words amber, regions blue."""
        factor = self.side / picture.width
        page = picture.convert("RGB").resize(
            (self.side, max(1, round(picture.height * factor))), Image.Resampling.LANCZOS
        )
        tint = ImageDraw.Draw(page, "RGBA")
        words = {at for question in made.page.questions for answer in question.answers for at in answer}
        for at in sorted(words):
            tint.rectangle(_scale_box(made.page.words[at].box, factor), fill=_WORDS)
        for figure in (figure for asked in made.canvas.asked for figure in asked.figures):
            tint.rectangle(_scale_box(figure.box, factor), fill=_REGIONS)
        page = page.crop((0, 0, self.side, min(page.height, self.tallest)))
        framed = Image.new("RGB", (self.side, page.height + _CAPTION), _GROUND)
        framed.paste(page)
        caption = f"{made.kind}  {made.page.page_id}"
        ImageDraw.Draw(framed).text(
            (2, page.height + 3), caption, fill=(255, 255, 255), font=ImageFont.load_default(13)
        )
        return framed


def contact_sheet(pages: Iterable[SyntheticPage], side: int = 320, columns: int | None = None) -> Image.Image:
    """Render pages onto one sheet; see `ContactSheet`."""
    sheet = ContactSheet(side)
    for made in pages:
        sheet.add(made, made.render())
    return sheet.image(columns)


def _scale_box(box: Sequence[float], factor: float) -> FloatBox:
    x0, y0, x1, y1 = (edge * factor for edge in box)
    return (x0, y0, max(x0, x1), max(y0, y1))
