"""A reading of the letter by Tesseract, kept: for tests of what becomes of words, where reading takes seconds.

Everything but the engine runs: the process that reads a file, and what calls the program and takes its table apart.
"""

from pathlib import Path

import pytest

from tests.support import made_documents as made

_LETTER = Path(__file__).parent / "letter_by_tesseract.tsv"  # of `made.image_file`, three times enlarged
_PROGRAM = """#!/bin/sh
[ "$1" = --list-langs ] && printf 'List of languages\\neng\\n' && exit 0
read -r magic width height most
[ "$width $height" = "{width} {height}" ] && exec cat "{table}"
echo "the kept reading is of another picture: $width x $height" >&2
exit 1
"""


@pytest.fixture
def recorded_ocr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a Tesseract that repeats its reading of the letter read pages; return the folder of the program."""
    program = tmp_path / "recorded" / "tesseract"
    program.parent.mkdir()
    width, height = (3 * side for side in made.PAPER)
    program.write_text(_PROGRAM.format(width=width, height=height, table=_LETTER), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("GLOSSATOR_OCR", "tesseract")
    monkeypatch.setenv("GLOSSATOR_READER_CONFINEMENT", "off")  # a confined reader starts no script
    return program.parent
