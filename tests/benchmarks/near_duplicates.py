"""Which pages are told to be the same: python -m tests.benchmarks.near_duplicates [FOLDER ...] [--plots FOLDER]

Pairs from generated pages, and from the folders of real ones (grounded format). Duplicates: the page again, noisy, half a degree askew, as a
JPEG, at another resolution, all of that at once; and each with 0, 2 and 6 % of its characters misread. Hard ones that are no
duplicates: the same print with other values (all of them, a third of them), and every other page of the set. With --read, some
pages and their rescans are read by Tesseract: its errors come in lines, and it changes the order of the words.
"""

import argparse
import io
import json
import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from statistics import median

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from engine.documents.duplicates import page_signature
from engine.documents.duplicates.page_signature import (
    Signature,
    alike,
    bands_of,
    bits_apart,
    other_numbers,
    other_words,
    shared_words,
    signature_of,
)
from engine.grounded import read_pages
from engine.synthetic import generate
from tests.benchmarks.markdown import table
from tests.benchmarks.plots import COLOURS, add_plots_argument, save
from tests.support.rescans import (
    Change,
    clean,
    noisy,
    other_values,
    read_again,
    rescanned,
    resized,
    through_jpeg,
    turned,
    words_of,
)

CHANGES: dict[str, Change] = {
    "noise": noisy,
    "half a degree": turned,
    "JPEG": through_jpeg,
    "other dpi": resized,
    "rescan": rescanned,
}
MISREAD = (0.0, 0.02, 0.06)
BITS = (16, 24, 32, 40, 48, 64)
WORDS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.08)
NUMBERS = (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
READ = "rescan, read by Tesseract"
DRAWN = 0.3  # share of other words above which a pair is counted, but not drawn


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages: are they the same, how far apart are they, and would the index let them meet."""

    kind: str
    same: bool
    bits: int
    words: float  # share of other words
    numbers: float  # share of other numbers
    shared: float  # of pairs of words, by MinHash
    met: bool
    found: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="real pages in the grounded format")
    parser.add_argument("--pages", type=int, default=100, help="of each set")
    parser.add_argument(
        "--read", type=int, default=0, metavar="N", help="have Tesseract read N pages of each set, twice"
    )
    parser.add_argument("--seed", type=int, default=20261122)
    add_plots_argument(parser)
    chosen = parser.parse_args()
    sets = {"generated pages": list(_generated(chosen.pages, chosen.seed, chosen.read))}
    sets |= {folder.name: list(_real(folder, chosen.pages, chosen.seed, chosen.read)) for folder in chosen.folders}
    for name, pairs in sets.items():
        _print(name, pairs)
        if chosen.plots:
            chosen.plots.mkdir(parents=True, exist_ok=True)
            _draw(chosen.plots / f"near_duplicates_{name.split()[0]}.png", name, pairs)
    _print("all together", [pair for pairs in sets.values() for pair in pairs])


def _generated(count: int, seed: int, read: int) -> Iterator[Pair]:
    pages: list[tuple[str, Signature]] = []
    for number, page in enumerate(islice(generate(seed), count)):
        rng = random.Random(f"{seed} {number}")
        words = words_of(page.canvas)
        printed = clean(page)
        first = signature_of(noisy(printed, rng), read_again(words, 0.005, rng))
        yield from _again(first, printed, words, rng)
        if number < read:
            yield _read_twice(printed, rng)
        for name, share in (("other values", 1.0), ("a third of the values", 0.34)):
            canvas, others = other_values(page, share, rng)
            filled = signature_of(noisy(clean(page, canvas), rng), read_again(others, 0.005, rng))
            yield _pair(name, False, first, filled)
        pages.append((page.kind, first))
    yield from _others(pages)


def _real(folder: Path, count: int, seed: int, read: int) -> Iterator[Pair]:
    pages: list[tuple[str, Signature]] = []
    for number, page in enumerate(islice(read_pages(folder), count)):
        rng = random.Random(f"{seed} {number}")
        words = [word.text for word in page.words]
        with Image.open(folder / str(page.image)) as opened:
            image = opened.convert("RGB")
        first = signature_of(image, words)
        yield from _again(first, image, words, rng)
        if number < read:
            yield _read_twice(image, rng)
        pages.append((folder.name, first))
    yield from _others(pages)


def _again(first: Signature, image: Image.Image, words: Sequence[str], rng: random.Random) -> Iterator[Pair]:
    for name, change in CHANGES.items():
        for rate in MISREAD:
            again = signature_of(change(image, rng), read_again(words, rate, rng))
            yield _pair(f"{name}, {rate:.0%} misread" if rate else name, True, first, again)


def _read_twice(image: Image.Image, rng: random.Random) -> Pair:
    """The page and its rescan, both read by Tesseract at the size that it likes."""
    pages = [_enlarged(image), _enlarged(rescanned(image, rng))]
    return _pair(READ, True, *(signature_of(page, _words_read(page)) for page in pages))


def _enlarged(image: Image.Image) -> Image.Image:
    return image.resize((round(image.width * 1800 / image.height), 1800), Image.Resampling.BICUBIC)


def _words_read(image: Image.Image) -> list[str]:
    content = io.BytesIO()
    image.convert("L").save(content, "PNG", dpi=(200, 200))
    command = ["tesseract", "-", "-", "--psm", "3"]
    return subprocess.run(command, input=content.getvalue(), capture_output=True, check=True).stdout.decode().split()


def _others(pages: Sequence[tuple[str, Signature]]) -> Iterator[Pair]:
    for (kind, one), (another, other) in combinations(pages, 2):
        yield _pair("another page of the kind" if kind == another else "another page", False, one, other)


def _pair(kind: str, same: bool, one: Signature, other: Signature) -> Pair:
    met = not set(bands_of(one, "")).isdisjoint(bands_of(other, ""))
    words, numbers = other_words(one.text, other.text), other_numbers(one.text, other.text)
    shared = shared_words(one, other) if one.words and other.words else 0.0
    return Pair(kind, same, bits_apart(one, other), words, numbers, shared, met, met and alike(one, other))


def _print(name: str, pairs: Sequence[Pair]) -> None:
    print(f"\n{name}: {len(pairs):,} pairs\n")
    rows = []
    for kind in dict.fromkeys(pair.kind for pair in pairs):
        of = [pair for pair in pairs if pair.kind == kind]
        found, met = sum(pair.found for pair in of), sum(pair.met for pair in of)
        middle = [
            f"{median(values):.{digits}f}"
            for values, digits in (
                ([pair.bits for pair in of], 0),
                ([pair.words for pair in of], 3),
                ([pair.numbers for pair in of], 2),
            )
        ]
        rows.append(
            [
                kind,
                "yes" if of[0].same else "no",
                str(len(of)),
                f"{met / len(of):.1%}",
                f"{found / len(of):.1%}",
                *middle,
            ]
        )
    print(table(["pair", "same", "pairs", "meet", "said to be", "bits", "other words", "other numbers"], rows, left=2))
    for what, index in (("precision", 0), ("recall", 1)):
        rows = [[f"{most} bits", *(_share(pairs, most, words)[index] for words in WORDS)] for most in BITS]
        print("\n" + table([what, *(f"words {words:g}" for words in WORDS)], rows))
    rows = [
        [f"{most:g}", *_share(pairs, page_signature.MOST_BITS, page_signature.MOST_OTHER_WORDS, most)]
        for most in NUMBERS
    ]
    print("\n" + table(["other numbers at most", "precision", "recall"], rows))
    by_words = [
        [f"{share:.1f}", *_share(pairs, page_signature.MOST_BITS, 1.0, 1.0, share)]
        for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
    ]
    print("\n" + table([f"MinHash alone at {page_signature.MOST_BITS} bits", "precision", "recall"], by_words))
    joined = [pair for pair in pairs if pair.found]
    same = [pair for pair in pairs if pair.same]
    right = sum(pair.same for pair in joined)
    print(
        "\n"
        + json.dumps(
            {"set": name, "precision": round(right / max(1, len(joined)), 4), "recall": round(right / len(same), 4)}
        )
    )


def _share(
    pairs: Sequence[Pair],
    bits: int,
    words: float,
    numbers: float = page_signature.MOST_OTHER_NUMBERS,
    shared: float = 0.0,
) -> list[str]:
    """Precision and recall at these limits."""
    said = [
        pair
        for pair in pairs
        if pair.met and pair.bits <= bits and pair.words <= words and pair.numbers <= numbers and pair.shared >= shared
    ]
    right = sum(pair.same for pair in said)
    return [f"{right / max(1, len(said)):.3f}", f"{right / sum(pair.same for pair in pairs):.3f}"]


def _draw(path: Path, name: str, pairs: Sequence[Pair]) -> None:
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    shown = [pair for pair in pairs if pair.same or pair.words < DRAWN]
    kinds = {
        "the same page again": [pair for pair in shown if pair.same],
        "the same print, other values": [pair for pair in shown if "values" in pair.kind],
        "another page": [pair for pair in shown if "another" in pair.kind],
    }
    for colour, (kind, of) in zip(COLOURS, kinds.items(), strict=False):
        axes.scatter(
            [pair.bits for pair in of],
            [pair.words for pair in of],
            s=9,
            alpha=0.5,
            color=colour,
            label=f"{kind} ({len(of)})",
        )
    axes.axvline(page_signature.MOST_BITS, color="#444444", linestyle="--", linewidth=1)
    axes.axhline(page_signature.MOST_OTHER_WORDS, color="#444444", linestyle="--", linewidth=1)
    axes.set(
        title=f"Near-duplicates: {name}",
        xlabel="bits of 256 in which the pictures differ",
        ylabel="share of letters in words that the other page lacks",
    )
    axes.legend(loc="upper right", framealpha=0.95)
    save(figure, path)


if __name__ == "__main__":
    main()
