"""Fonts of the system by family, or Pillow's own. Needed for drawing only, never for the layout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

FOLDERS = (
    Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".local/share/fonts", Path("/Library/Fonts"),
    Path("/System/Library/Fonts"), Path("C:/Windows/Fonts"),
)  # fmt: skip

# Stems of font files without style, and their scale relative to the layout's metrics.
_STEMS: dict[str, tuple[tuple[str, float], ...]] = {
    "sans": (("LiberationSans", 1.0), ("LiberationSans", 1.0), ("LiberationSansNarrow", 1.0), ("DejaVuSans", 0.93), ("DejaVuSansCondensed", 0.93), ("arial", 1.0), ("NotoSans", 0.95), ("FreeSans", 1.0)),
    "serif": (("LiberationSerif", 1.0), ("LiberationSerif", 1.0), ("DejaVuSerif", 0.93), ("DejaVuSerifCondensed", 0.93), ("times", 1.0), ("NotoSerif", 0.95), ("FreeSerif", 1.0)),
    "mono": (("LiberationMono", 1.0), ("LiberationMono", 1.0), ("DejaVuSansMono", 0.95), ("cour", 1.0), ("NotoSansMono", 0.95), ("FreeMono", 1.0)),
    "hand": (("LiberationSerif", 1.0), ("DejaVuSerif", 0.9), ("DejaVuSans", 0.9), ("times", 1.0)),
}  # fmt: skip
_STYLES = {
    (False, False): ("-Regular", "", "-Book"),
    (True, False): ("-Bold", "bd"),
    (False, True): ("-Italic", "-Oblique", "i"),
    (True, True): ("-BoldItalic", "-BoldOblique", "bi"),
}


@lru_cache(maxsize=8)
def font_files(folders: tuple[Path, ...]) -> dict[str, Path]:
    """Return the TrueType files below the folders by stem; missing folders are skipped."""
    files: dict[str, Path] = {}
    for folder in folders:
        if folder.is_dir():
            for file in sorted(folder.rglob("*.ttf")):
                files.setdefault(file.stem, file)
    return files


class Fonts:
    """Fonts of one page: for each family a random typeface of those installed."""

    def __init__(self, rng: random.Random, folders: Sequence[Path] = FOLDERS) -> None:
        self.files = font_files(tuple(folders))
        self.typefaces: dict[str, tuple[str, float] | None] = {}
        for family, stems in _STEMS.items():
            installed = [stem for stem in stems if self._file(stem[0], False, False) is not None]
            self.typefaces[family] = rng.choice(installed) if installed else None
        self.opened: dict[tuple[str, float, bool, bool], Font] = {}

    def _file(self, stem: str, bold: bool, italic: bool) -> Path | None:
        for style in _STYLES[bold, italic]:
            file = self.files.get(stem + style)
            if file is not None:
                return file
        return None

    def font(self, family: str, size: float, *, bold: bool = False, italic: bool = False) -> Font:
        """Return the font at `size` pixels an em; the regular style when a style is not installed."""
        size = max(4.0, round(size * 2) / 2)
        key = (family, size, bold, italic)
        if key not in self.opened:
            typeface = self.typefaces[family]
            if typeface is None:
                self.opened[key] = ImageFont.load_default(size)
            else:
                stem, factor = typeface
                file = self._file(stem, bold, italic) or self._file(stem, False, False)
                self.opened[key] = ImageFont.truetype(str(file), size * factor)
        return self.opened[key]
