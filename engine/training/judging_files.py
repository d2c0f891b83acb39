"""Files that judge the model, so that nothing is learned from them.

`judging_files.txt` lists them, one a line: SHA-256 of the content, two spaces, name. They are the files of the
hand-drawn marks (a test holds all of tests/data/marks/marks.jsonl), the PDFs of other projects' test suites, and the
sets `forms` and `receipts` of docs/benchmarks.md. A command that learns from files passes them through
`without_judging` first.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from db.blobs import sha256_of
from engine.plurals import count, word

_LIST = Path(__file__).with_suffix(".txt")
_NAMED_AT_MOST = 3


@cache
def judging_files() -> Mapping[str, str]:
    """Return the names of the files that judge, by SHA-256."""
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return {sha256: name for sha256, _, name in (line.partition("  ") for line in lines if line)}


def judges(path: Path) -> bool:
    """Return whether a file judges: by its content, or by its name where the content was changed."""
    known = judging_files()
    return path.name in known.values() or sha256_of(path) in known


def without_judging(paths: Iterable[Path]) -> tuple[list[Path], str | None]:
    """Return the files that may be learned from, in order, and a sentence about those refused; None without any."""
    allowed: list[Path] = []
    refused: list[str] = []
    for path in paths:
        if judges(path):
            refused.append(path.name)
        else:
            allowed.append(path)
    if not refused:
        return allowed, None
    named = ", ".join(refused[:_NAMED_AT_MOST])
    if len(refused) > _NAMED_AT_MOST:
        named += f" and {count(len(refused) - _NAMED_AT_MOST, 'other file')}"
    verb = word(len(refused), "judges", "judge")
    return allowed, f"{named} {verb} the model, so nothing is learned from {word(len(refused), 'it', 'them')}."
