"""Read every file of a folder and say what became of it: python -m tests.benchmarks.read_documents FOLDER [--draw OUT].

The table at the end says what a page costs by where its words came from, in files whose pages are all of one source:
seconds of a core, those of child processes included, and bytes of its stored picture and of the file.
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw

from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadDocument, ReadPage
from engine.documents.refusal import DocumentRefused
from tests.benchmarks.markdown import table

_COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="*", help="glob of the file names to read")
    parser.add_argument("--draw", type=Path, help="put pages with their words' boxes drawn here")
    parser.add_argument("--seconds", type=float, default=ReadLimits().seconds)
    parser.add_argument("--memory", type=int, default=ReadLimits().memory_mb)
    chosen = parser.parse_args()
    limits = ReadLimits(seconds=chosen.seconds, memory_mb=chosen.memory)
    outcomes: Counter[str] = Counter()
    seconds: list[float] = []
    costs: dict[str, list[_Cost]] = {}
    pages = words = wordless = 0
    print(f"{'file':54} {'outcome':16} {'pages':>5} {'words':>6} {'seconds':>7}  note")
    for source in sorted(path for path in chosen.folder.glob(chosen.match) if path.is_file()):
        start, used = time.monotonic(), _core_seconds()
        with tempfile.TemporaryDirectory() as folder:
            try:
                read = read_document(source, name=source.name, limits=limits, out_dir=Path(folder))
            except DocumentRefused as refused:
                outcome, note, counts = f"refused: {refused.reason}", str(refused), (0, 0)
            except Exception as error:
                outcome, note, counts = "FAILED", f"{type(error).__name__}: {error}", (0, 0)
            else:
                outcome, note, counts = "read", _note(read), (len(read.pages), sum(len(p.words) for p in read.pages))
                pictures = sum(page.image_path.stat().st_size for page in read.pages)
                cost = _Cost(counts[0], _core_seconds() - used, pictures, source.stat().st_size)
                sources = {page.text_source for page in read.pages}
                costs.setdefault(sources.pop() if len(sources) == 1 else "several", []).append(cost)
                wordless += sum(not page.words for page in read.pages)
                if chosen.draw:
                    draw(read, chosen.draw, source.stem)
        seconds.append(time.monotonic() - start)
        outcomes[outcome] += 1
        pages += counts[0]
        words += counts[1]
        print(
            f"{source.name[:54]:54} {outcome[:28]:16} {counts[0]:5} {counts[1]:6} {seconds[-1]:7.2f}  {note}",
            flush=True,
        )
    print(
        f"\n{sum(outcomes.values())} files: " + ", ".join(f"{count} {what}" for what, count in outcomes.most_common())
    )
    print(f"{pages} pages ({wordless} without words), {words} words")
    if seconds:
        print(
            f"seconds a file: median {statistics.median(seconds):.2f}, longest {max(seconds):.2f}, all {sum(seconds):.0f}"
        )
    heads = ["words from", "files", "pages", "core seconds a page", "KB a page, picture", "KB a page, file"]
    print(table(heads, [_line(source, several) for source, several in sorted(costs.items())]))


class _Cost(NamedTuple):
    """What a file cost: pages, seconds of a core, bytes of its pages' pictures and its own."""

    pages: int
    seconds: float
    pictures: int
    file: int


def _line(source: str, costs: list[_Cost]) -> list[str]:
    pages, seconds, pictures, files = (sum(column) for column in zip(*costs, strict=True))
    of_pages = f"{seconds / pages:.2f}", f"{pictures / pages / 1000:.0f}", f"{files / pages / 1000:.0f}"
    return [source, str(len(costs)), str(pages), *of_pages]


def _core_seconds() -> float:
    """Return the processor time of this process and its ended children."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _note(read: ReadDocument) -> str:
    sources = Counter(page.text_source for page in read.pages)
    parts = [" ".join(f"{source}:{count}" for source, count in sources.items())]
    if turned := [f"{page.number}:{page.rotation}" for page in read.pages if page.rotation]:
        parts.append("turned " + " ".join(turned))
    return "; ".join([*parts, *read.warnings])


def draw(read: ReadDocument, folder: Path, stem: str) -> None:
    """Pages with a box a word, a colour a line, and a thin thread through the words in reading order."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in read.pages:
        drawn(page).save(folder / f"{stem}-{page.number}.png")


def drawn(page: ReadPage) -> Image.Image:
    with Image.open(page.image_path) as stored:
        image = stored.convert("RGB")
    pen = ImageDraw.Draw(image)
    middles = [((w.box[0] + w.box[2]) / 2, (w.box[1] + w.box[3]) / 2) for w in page.words]
    for word in page.words:
        x0, y0, x1, y1 = word.box
        pen.rectangle((x0, y0, x1 - 1, y1 - 1), outline=_COLOURS[word.line % len(_COLOURS)])
    if len(middles) > 1:
        pen.line(middles, fill="#00000055", width=1)
    return image


if __name__ == "__main__":
    main()
