"""OCR by the Tesseract program.

The program is used instead of MuPDF's built-in copy: a page that hangs or crashes it costs that page only, two pages
are read in parallel, and it reports a confidence for each word.
"""

import csv
import io
import math
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from PIL import Image

from engine.documents.ocr.engine import OcrFailed, OcrOutOfTime, OcrPage, turn_clockwise
from engine.documents.ocr.scripts import scripts_of
from engine.documents.reading.source_words import FoundLine, FoundWord
from engine.documents.reading.work_clock import CLOCK
from engine.documents.text_layer.legible import clean

_LOOK = 0.5  # seconds between two looks at the clock
_SHORTEST, _LONGEST, _ENLARGED = 2600, 4000, 3.0  # pixels of the long side; largest factor
_SURE = 0.6
_LEAST_SURE = 0.3  # words below are noise
_LEAST_SURE_FOREIGN = 0.8  # in a script that the language does not cover
_LEAST_SURE_SCRIPT = 1.0  # Tesseract's own scale; Chinese pages score 1.2 to 1.5, English ones 10 and more
_LEAST_SURE_SIGNS = 0.6  # single signs are noise, too: dust, rules and edges of images


@dataclass(frozen=True, slots=True)
class _Stand:
    """Orientation and script of a page, as far as the engine can detect them."""

    turn: int = 0
    script: str | None = None


@dataclass(frozen=True, slots=True)
class Tesseract:
    """Installed Tesseract with its available languages."""

    program: str
    language: str
    knows_orientation: bool
    name: ClassVar[str] = "tesseract"
    dpi: ClassVar[int] = 300

    def scale_for(self, size: tuple[int, int]) -> float:
        """Return the factor by which an image is enlarged, so that Tesseract recognises its letters well."""
        longest = max(size)
        if _SHORTEST <= longest <= _LONGEST:
            return 1.0
        return min(_ENLARGED, (_SHORTEST if longest < _SHORTEST else _LONGEST) / longest)

    def read_image(self, image: Image.Image, deadline: float) -> OcrPage:
        """Return the words of a grey image; it is turned first when its text is sideways or upside down.

        `deadline` is in seconds of the reading process's `CLOCK`. Raises OcrOutOfTime or OcrFailed.
        """
        lines = self._lines(image, deadline)
        if self.knows_orientation and not _reads_well(lines):
            stand = self._stand(image, deadline)
            if stand.turn:
                turned = self._lines(turn_clockwise(image, stand.turn), deadline)
                if _readable(turned) > _readable(lines):
                    return OcrPage(turned, stand.turn)
            if stand.script and stand.script not in scripts_of(self.language):
                return OcrPage(_surest(lines), 0, stand.script)
        return OcrPage(lines, 0)

    def _lines(self, image: Image.Image, deadline: float) -> tuple[FoundLine, ...]:
        table = self._run_program(
            image, deadline, "-l", self.language, "--oem", "1", "--psm", "3", "-c", "tessedit_create_tsv=1"
        )
        return parse_tsv(table)

    def _stand(self, image: Image.Image, deadline: float) -> _Stand:
        try:
            output = self._run_program(image, deadline, "-l", "osd", "--psm", "0")
        except OcrFailed:  # too few letters to detect
            return _Stand()
        turn = re.search(r"^Rotate: (90|180|270)$", output, re.MULTILINE)
        script = re.search(r"^Script: (\w+)\s+Script confidence: ([\d.]+)", output, re.MULTILINE)
        return _Stand(
            int(turn[1]) if turn else 0, script[1] if script and float(script[2]) >= _LEAST_SURE_SCRIPT else None
        )

    def _run_program(self, image: Image.Image, deadline: float, *options: str) -> str:
        if CLOCK.seconds() >= deadline:
            raise OcrOutOfTime
        command = [self.program, "stdin", "stdout", "--dpi", "300", *options]
        try:
            # A file, not a pipe: the program is waited for in steps, and `communicate` gives input in the first one.
            with tempfile.TemporaryFile() as netpbm:
                netpbm.write(b"P5 %d %d 255\n" % image.size + image.tobytes())
                netpbm.seek(0)
                with (
                    subprocess.Popen(command, stdin=netpbm, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program,
                    CLOCK.counting(program.pid),
                ):
                    output, errors = _wait_for(program, deadline)
        except OSError as error:
            raise OcrFailed(str(error)) from error
        if program.returncode:
            raise OcrFailed(errors.decode("utf-8", "replace").strip()[-300:])
        return output.decode("utf-8", "replace")


def _wait_for(program: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """Return what a program writes to its output and its errors. Raises OcrOutOfTime, and then it has ended."""
    while True:
        left = deadline - CLOCK.seconds()
        try:
            return program.communicate(timeout=min(_LOOK, max(0.0, left)))
        except subprocess.TimeoutExpired:
            if left <= 0:
                program.kill()
                raise OcrOutOfTime from None


def find(language: str) -> tuple[Tesseract | None, str | None]:
    """Return Tesseract, if installed, and a sentence about anything missing."""
    program = shutil.which("tesseract")
    if program is None:
        return None, (
            "Tesseract is not installed, so scanned pages have no words: install it (Debian: tesseract-ocr and "
            "tesseract-ocr-eng) or set GLOSSATOR_OCR to auto, and read the pages again."
        )
    command = [program, "--list-langs"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    except OSError as error:  # a script is no program that a confined reader may start (engine.confinement)
        return None, (
            f"{program} cannot be started by the process that reads files ({error.strerror}), so scanned pages have "
            "no words: install Tesseract itself in place of a script, or set GLOSSATOR_OCR to rapidocr, and read the "
            "pages again."
        )
    installed = set(listed.split("\n")[1:])
    wanted = language.split("+")
    available = [part for part in wanted if part in installed]
    missing = [part for part in wanted if part not in installed]
    sentence = None
    if missing:
        sentence = (
            f"Tesseract has no language {', '.join(missing)}, so scanned pages "
            + (f"were read as {', '.join(available)}" if available else "have no words")
            + f": install it (Debian: {', '.join(f'tesseract-ocr-{part}' for part in missing)}) "
            "and read the pages again."
        )
    engine = Tesseract(program, "+".join(available), "osd" in installed) if available else None
    return engine, sentence


def parse_tsv(table: str) -> tuple[FoundLine, ...]:
    """Return the lines of words in Tesseract's TSV, without noise."""
    lines: dict[tuple[str, str, str], list[FoundWord]] = {}
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] != "5":
            continue
        text, sure = clean(row["text"] or ""), float(row["conf"]) / 100
        least = _LEAST_SURE if any(c.isalnum() for c in text) else _LEAST_SURE_SIGNS
        if not text or not math.isfinite(sure) or sure < least:
            continue
        x, y, width, height = (float(row[name]) for name in ("left", "top", "width", "height"))
        word = FoundWord(text, (x, y, x + width, y + height), min(1.0, sure))
        lines.setdefault((row["block_num"], row["par_num"], row["line_num"]), []).append(word)
    return tuple(FoundLine(tuple(words), _heading(words)) for words in lines.values())


def _heading(words: list[FoundWord]) -> int:
    """Return the heading of a line: sideways lines show only by high and narrow boxes."""
    long_words = [word for word in words if len(word.text) >= 3]
    if not long_words:
        return 0
    shape = median((word.box[2] - word.box[0]) / max(1.0, word.box[3] - word.box[1]) for word in long_words)
    if shape > 0.6:
        return 0
    return 90 if words[0].box[1] <= words[-1].box[1] else 270


def _surest(lines: tuple[FoundLine, ...]) -> tuple[FoundLine, ...]:
    sure_words = (tuple(w for w in line.words if (w.confidence or 0.0) >= _LEAST_SURE_FOREIGN) for line in lines)
    return tuple(FoundLine(words, line.heading) for line, words in zip(lines, sure_words, strict=True) if words)


def _readable(lines: tuple[FoundLine, ...]) -> float:
    """Return the amount of reliable upright text: letters weighted by confidence."""
    words = [word for line in lines for word in line.words if line.heading == 0]
    return sum(
        len(w.text) * (w.confidence or 0.0) for w in words if (w.confidence or 0.0) >= _SURE and w.text.isalnum()
    )


def _reads_well(lines: tuple[FoundLine, ...]) -> bool:
    words = [word for line in lines for word in line.words]
    letters = sum(len(word.text) for word in words)
    upright = sum(len(word.text) for line in lines if line.heading == 0 for word in line.words)
    sure = sum(len(word.text) * (word.confidence or 0.0) for word in words)
    return letters >= 20 and sure / letters >= 0.8 and upright / letters >= 0.5
