"""Picture of a failure: a crop of the page with the right mask, the model's, and the baseline's."""

import base64
import io
from html import escape

import numpy as np
from PIL import Image, ImageDraw

from engine.grounded import GroundedPage
from engine.training.evaluation.report.failures import Failure
from model.boxes import Box
from model.masks import Mask, decode_patch

_SMALL = 420  # pixels; a smaller page is shown whole
_MARGIN = 0.06  # of the page's long side, around the marks ...
_KEY_MARGIN = 0.14  # ... and left of them, where the key usually is
_LEAST_WIDTH, _LEAST_HEIGHT = 0.5, 0.14  # smallest crop, as a share of the page
_LONGEST = 1100  # pixels of a picture
_QUALITY = 72


def picture(failure: Failure, image: Image.Image | None) -> str:
    """Return an SVG with the crop as JPEG; a page without image is drawn from its words."""
    page = failure.page
    drawn = drawn_from_words(page) if image is None else image
    x0, y0, x1, y1 = box = crop_box(failure)
    size = (page.height, page.width)
    # In pixels of the page: the browser scales them with the picture.
    outlines = "".join(
        f'<path class="{name}" d="{path}"/>'
        for name, patch in (("gold", failure.gold), ("marked", failure.marked), ("floor", failure.by_baseline))
        if (path := outline(decode_patch(patch, size)))
    )
    fill = f'<path class="gold-fill" d="{path}"/>' if (path := area(decode_patch(failure.gold, size))) else ""
    label = escape(f"Page {page.page_id}: {failure.question}", quote=True)
    return (
        f'<svg class="crop" viewBox="{x0} {y0} {x1 - x0} {y1 - y0}" role="img" aria-label="{label}" '
        f'style="aspect-ratio:{x1 - x0}/{y1 - y0}">'
        f'<image href="{jpeg(drawn.crop(box))}" x="{x0}" y="{y0}" width="{x1 - x0}" height="{y1 - y0}"/>'
        f"{fill}{outlines}</svg>"
    )


def crop_box(failure: Failure) -> Box:
    """Return the crop in pixels of the page: around answer and mark, or the whole of a small page."""
    width, height = failure.page.width, failure.page.height
    boxes = [patch["box"] for patch in (failure.gold, failure.marked) if patch["counts"]]
    if max(width, height) <= _SMALL or not boxes:
        return (0, 0, width, height)
    margin, before = (round(share * max(width, height)) for share in (_MARGIN, _KEY_MARGIN))
    left, right = _widen(
        min(b[0] for b in boxes) - before, max(b[2] for b in boxes) + margin, round(_LEAST_WIDTH * width), width
    )
    top, bottom = _widen(
        min(b[1] for b in boxes) - margin, max(b[3] for b in boxes) + margin, round(_LEAST_HEIGHT * height), height
    )
    return (left, top, right, bottom)


def _widen(low: int, high: int, least: int, whole: int) -> tuple[int, int]:
    """Return a span of at least `least` inside 0..whole."""
    short = max(0, least - (high - low))
    low, high = low - short // 2, high + short - short // 2
    low, high = low - max(0, high - whole), high - min(0, low)
    return max(0, low), min(whole, high)


def outline(mask: Mask) -> str:
    """Return the edges of a mask as an SVG path of straight lines, in pixels."""
    padded = np.pad(mask, 1).astype(np.int8)
    across = np.diff(padded, axis=0)[:, 1:-1] != 0  # [H + 1, W]: an edge above row y
    down = np.diff(padded, axis=1)[1:-1] != 0  # [H, W + 1]: an edge left of column x
    lines = [f"M{x0} {y}H{x1}" for y in np.flatnonzero(across.any(1)) for x0, x1 in _runs(across[y])]
    lines += [f"M{x} {y0}V{y1}" for x in np.flatnonzero(down.any(0)) for y0, y1 in _runs(down[:, x])]
    return "".join(lines)


def area(mask: Mask) -> str:
    """Return a mask as an SVG path of rectangles; equal rows are joined."""
    rows = np.flatnonzero(mask.any(1))
    parts: list[str] = []
    start = 0
    for at in range(1, len(rows) + 1):
        if at < len(rows) and rows[at] == rows[at - 1] + 1 and np.array_equal(mask[rows[at]], mask[rows[start]]):
            continue
        top, height = rows[start], rows[at - 1] + 1 - rows[start]
        parts += [f"M{x0} {top}H{x1}v{height}H{x0}z" for x0, x1 in _runs(mask[rows[start]])]
        start = at
    return "".join(parts)


def _runs(line: Mask) -> list[tuple[int, int]]:
    """Return the start and end of each run of True."""
    edges = np.flatnonzero(np.diff(np.pad(line, 1).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def drawn_from_words(page: GroundedPage) -> Image.Image:
    """Draw a page without image: its words in their boxes, on white."""
    image = Image.new("RGB", (page.width, page.height), "white")
    draw = ImageDraw.Draw(image)
    for word in page.words:
        x0, y0, x1, y1 = word.box
        draw.rectangle((x0, y0, max(x0, x1 - 1), max(y0, y1 - 1)), outline="#e2e2e2")
        draw.text((x0 + 1, y0), word.text, fill="#333333", font_size=max(6, round(0.8 * (y1 - y0))))
    return image


def jpeg(image: Image.Image) -> str:
    """Return the image as a JPEG data URL, at most a screen wide."""
    image = image.convert("RGB")
    image.thumbnail((_LONGEST, _LONGEST), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
