"""Prepared pages: words, questions, answers and small pictures in a few files that travel to another machine.

Each file is a ZIP archive with a page a pair of entries: `N.json` (a page of the grounded format) and, for a page with
a picture, `N.webp`. Files are read from the disk page by page, so that a folder takes no memory.
"""

import io
import json
import random
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from PIL import Image

from engine.grounded import page_from_json, page_to_json
from engine.training.sources.page_supply import MadePage, PageSupply, PreparedPage, region_types_of

PAGES_FILES = "pages-*.zip"
_QUALITY = 60  # of WebP
_TYPES = "region_types"


def write_file(folder: Path, number: int, made: Sequence[tuple[MadePage, Image.Image | None]]) -> int:
    """Write one file of pages with their pictures, whole or not at all; return its bytes.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"pages-{number:03}.zip"
    temporary = path.with_suffix(".tmp")
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            for at, (made_page, image) in enumerate(made):
                stored = {**page_to_json(made_page.page), _TYPES: sorted(region_types_of(made_page))}
                text = json.dumps(stored, ensure_ascii=False, separators=(",", ":"))
                archive.writestr(f"{at}.json", text, zipfile.ZIP_DEFLATED, 9)
                if image is not None:
                    archive.writestr(f"{at}.webp", _webp(image))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path.stat().st_size


class PreparedPages:
    """Pages of a folder, in place of generated ones; none comes twice before all came, in what one seed draws.

    Raises ValueError for a folder without such files.
    """

    def __init__(self, folder: Path) -> None:
        self._places: list[tuple[Path, int]] = []  # file, number in it
        self._pictured: list[tuple[Path, int]] = []
        for path in sorted(folder.glob(PAGES_FILES)):
            with zipfile.ZipFile(path) as archive:
                names = set(archive.namelist())
            for at in range(sum(name.endswith(".json") for name in names)):
                self._places.append((path, at))
                if f"{at}.webp" in names:
                    self._pictured.append((path, at))
        if not self._pictured:
            raise ValueError(f"{folder} has no prepared pages. Run: make gpu-pages")

    def __len__(self) -> int:
        return len(self._places)

    @property
    def pictures(self) -> int:
        """Number of pages with a picture."""
        return len(self._pictured)

    @property
    def supply(self) -> PageSupply:
        """The pages, as sources of examples take them."""
        return PageSupply(partial(_endless, self._places), partial(_endless, self._pictured))


def _endless(places: Sequence[tuple[Path, int]], seed: int) -> Iterator[PreparedPage]:
    rng = random.Random(f"{seed}:prepared")
    while True:
        for path, at in rng.sample(places, len(places)):
            yield _read_page(path, at)


def _read_page(path: Path, at: int) -> PreparedPage:
    with zipfile.ZipFile(path) as archive:
        stored = json.loads(archive.read(f"{at}.json"))
    return PreparedPage(page_from_json(stored), frozenset(stored[_TYPES]), partial(_image, path, at))


def _image(path: Path, at: int) -> Image.Image:
    with zipfile.ZipFile(path) as archive:
        try:
            content = archive.read(f"{at}.webp")
        except KeyError:
            raise ValueError(f"Page {at} of {path} has no picture.") from None
    image: Image.Image = Image.open(io.BytesIO(content)).convert("RGB")
    return image


def _webp(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=_QUALITY, method=4)
    return buffer.getvalue()
