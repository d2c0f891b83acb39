"""Say where the words of first pages come from: python -m tests.benchmarks.layers FOLDER [--match GLOB].

For each PDF of a folder: the kind of its first page's text layer, the source that the reader took, the words, those of
an archive's metadata among them, and the seconds. Metadata are tokens such as "NAME=NORTHWIND" of an invisible layer; a
page has taken them for print where as many of them became words.
"""

import argparse
import re
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import pymupdf

from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadPage
from engine.documents.refusal import DocumentRefused
from engine.documents.text_layer.words import raw_text

_METADATA = re.compile(r"^(Metadata|[A-Z]+=\S+)$")
_FEW = 3  # such tokens may be printed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="*.pdf", help="glob of the file names to read")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="limit of one file: other work may share the cores"
    )
    chosen = parser.parse_args()
    limits = ReadLimits(seconds=chosen.seconds)
    table: Counter[tuple[str, str]] = Counter()
    seconds: dict[str, list[float]] = {}
    metadata = without = 0
    print(f"{'file':50} {'layer':10} {'source':10} {'words':>6} {'metadata':>8} {'seconds':>7}")
    for source in sorted(chosen.folder.glob(chosen.match)):
        kind = kind_of(source)
        with tempfile.TemporaryDirectory() as folder:
            first = Path(folder) / "first.pdf"
            begun = time.monotonic()
            try:
                if not _first_page(source, first):
                    continue
                begun = time.monotonic()
                page = read_document(first, name=source.name, limits=limits, out_dir=Path(folder) / "pages").pages[0]
            except DocumentRefused as refused:
                table[kind, f"refused: {refused.reason.value}"] += 1
                continue
            spent = time.monotonic() - begun
        taken = _metadata_of(page)
        metadata += taken > _FEW
        without += not page.words
        table[kind, page.text_source] += 1
        seconds.setdefault(kind, []).append(spent)
        print(
            f"{source.name[:50]:50} {kind:10} {page.text_source:10} {len(page.words):6} {taken:8} {spent:7.2f}",
            flush=True,
        )
    print()
    for (kind, source_taken), number in sorted(table.items()):
        print(f"{kind:10} {source_taken:24} {number:5} pages")
    for kind, each in sorted(seconds.items()):
        print(f"{kind:10} median {statistics.median(each):.2f} s a page, longest {max(each):.2f}")
    print(f"metadata taken for print: {metadata} pages; without words: {without} pages")


def kind_of(source: Path) -> str:
    """Return "visible", "invisible" or "none": how most letters of the first page's layer stand; "damaged" for none."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    try:
        with pymupdf.open(source) as document:
            if document.needs_pass or not document.page_count:
                return "damaged"
            raw = raw_text(document[0])
    except (pymupdf.FileDataError, pymupdf.EmptyFileError, pymupdf.mupdf.FzErrorBase):
        return "damaged"
    letters = [
        c for block in raw["blocks"] for line in block.get("lines", ()) for s in line["spans"] for c in s["chars"]
    ]
    letters = [c for c in letters if not c["c"].isspace()]
    hidden = sum("hidden" in c for c in letters)
    return "none" if not letters else "invisible" if 2 * hidden > len(letters) else "visible"


def _first_page(source: Path, target: Path) -> bool:
    """Write a PDF of the first page alone; False for a file that is none."""
    try:
        with pymupdf.open(source) as document, pymupdf.open() as single:
            if document.needs_pass or not document.page_count:
                return False
            single.insert_pdf(document, to_page=0)
            single.save(target)
    except (pymupdf.FileDataError, pymupdf.EmptyFileError, pymupdf.mupdf.FzErrorBase):
        return False
    return True


def _metadata_of(page: ReadPage) -> int:
    return sum(bool(_METADATA.match(word.text)) for word in page.words)


if __name__ == "__main__":
    main()
