"""Reading of fillable PDF forms as templates: a child process opens the files, and this side supervises it."""

import dataclasses
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from engine.documents.kinds import PDF, media_type_of
from engine.documents.limits import ReadLimits
from engine.documents.reading.open import environment
from engine.documents.reading.subprocess_guard import run_guarded
from engine.documents.refusal import Unreadable
from engine.synthetic.blank_forms.template import FormTemplate, load_templates, save_templates, template_from_json

_log = logging.getLogger(__name__)

SECONDS = 120.0  # for each file
_BATCH = 16  # files a child process: its start costs more than a file
_FEWEST_FIELDS = 3  # with a plain key, on a page worth filling


class NoForms(ValueError):
    """Raised for a folder without fillable forms; `str()` is a sentence for its owner."""


def blank_forms(
    folder: Path, cache: Path | None = None, on_file: Callable[[], None] = lambda: None
) -> list[FormTemplate]:
    """Return the pages of all fillable PDFs of a folder, in the order of their names; other files are left out.

    A file that is damaged, too large or too slow is left out, and logged.

    Args:
        folder: folder of PDF files, searched with its subfolders.
        cache: file to keep the pages in, so that each PDF is read once; read instead of the folder when it exists.
        on_file: called for each finished file.

    Raises:
        NoForms: the folder does not exist, or no file in it is a fillable PDF with plain keys.
    """
    if cache is not None and cache.is_file():
        return load_templates(cache)
    if not folder.is_dir():
        raise NoForms(f"The folder {folder} does not exist. Name a folder of fillable PDF forms.")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and _is_pdf(path)]
    if not files:
        raise NoForms(f"{folder} has no PDF files. Name a folder of fillable PDF forms.")
    templates = [template for template in _read_files(files, on_file) if len(template.named_fields()) >= _FEWEST_FIELDS]
    if not templates:
        raise NoForms(
            f"None of the {len(files)} PDF files in {folder} is a form to fill in: their pages have no fields with"
            " printed names. Name a folder of fillable PDF forms."
        )
    if cache is not None:
        cache.parent.mkdir(parents=True, exist_ok=True)
        save_templates(cache, templates)
    return templates


def _is_pdf(path: Path) -> bool:
    try:
        return media_type_of(path) == PDF
    except (Unreadable, OSError):
        return False


def _read_files(paths: list[Path], on_file: Callable[[], None]) -> list[FormTemplate]:
    """Return the pages of files; a file that ends its process is left out, and the others are read again."""
    limits = ReadLimits()
    paths = [path for path in paths if path.stat().st_size <= limits.bytes]
    templates: list[FormTemplate] = []
    while paths:
        batch = paths[:_BATCH]
        seen = _Told(on_file)
        ended = run_guarded(
            _command(batch, limits), environment=environment(), seconds=SECONDS * len(batch), on_line=seen.hear
        )
        done = len(seen.finished)
        templates += [page for pages in seen.finished for page in pages]
        if done < len(batch):
            _log.warning("%s was left out: the process that read it ended (%d).", batch[done].name, ended.code)
            done += 1
            on_file()
        paths = paths[done:]
    return templates


def _command(batch: list[Path], limits: ReadLimits) -> list[str]:
    values = dataclasses.asdict(limits) | {"seconds": SECONDS * len(batch)}
    request = {"sources": [str(path.resolve()) for path in batch], "limits": values}
    # -P: never import from the working folder.
    return [sys.executable, "-P", "-m", "engine.documents.blank_forms.child", json.dumps(request)]


class _Told:
    """Collected reports of the child, one JSON object a line; `finished` has the pages of each finished file."""

    def __init__(self, on_file: Callable[[], None]) -> None:
        self.finished: list[list[FormTemplate]] = []
        self._pages: list[FormTemplate] = []
        self._on_file = on_file

    def hear(self, line: bytes) -> None:
        """Handle one line of the child."""
        message: dict[str, Any] = json.loads(line)
        if "page" in message:
            self._pages.append(template_from_json(message["page"]))
        elif "begun" in message:
            self._pages = []
        else:
            if "refused" in message:
                _log.warning("%s was left out: it %s", Path(message["refused"]).name, message["why"])
                self._pages = []
            self.finished.append(self._pages)
            self._on_file()


class BlankPaper:
    """Blank pages of a folder as images; keeps the last file open. For one thread.

    Only for templates that `blank_forms` read: a process with limits has opened these files before.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = {path.name: path for path in sorted(folder.rglob("*"), reverse=True) if path.is_file()}
        self._open: tuple[str, Any] = ("", None)

    def __call__(self, template: FormTemplate, extent: tuple[float, float], size: tuple[int, int]) -> Image.Image:
        """Draw the part of a page between two heights, in points, as an RGB image of a size in pixels.

        Fields are not drawn. Raises NoForms for a file that is gone.
        """
        import pymupdf  # only here: training from templates already read runs on machines without it

        if self._open[0] != template.source:
            path = self._paths.get(template.source)
            if path is None:
                raise NoForms(f"{template.source} is no longer in the folder of forms. Name the folder it lies in.")
            self._open = (template.source, pymupdf.open(path, filetype="pdf"))
        page = self._open[1][template.number - 1]
        top, bottom = extent
        zoom = pymupdf.Matrix(size[0] / template.width, size[1] / (bottom - top))
        clip = pymupdf.Rect(0, top, template.width, bottom)
        pixels = page.get_pixmap(matrix=zoom, clip=clip, alpha=False, annots=False)
        image = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
        return image if image.size == size else image.resize(size, Image.Resampling.BICUBIC)
