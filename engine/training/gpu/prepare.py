"""Prepare the pages that travel to a GPU machine: generated ones, and documents without labels."""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from PIL import Image

from engine.synthetic import SyntheticPage, generate
from engine.training.gpu.prepared_pages import PAGES_FILES, write_file
from engine.training.sources.region_source import regions_asked
from engine.training.sources.rendered import endless_pages, picture
from engine.training.unlabelled.page_corpus import COPIED, CORPUS_FILE, PageCorpus

MOST_BYTES = 40_000_000
_PICTURES, _DOCUMENTS = 0.55, 0.25  # shares of the bytes; the rest is pages of words
_OF_A_FILE = 50  # pages
_PLAIN = 4  # of so many pages without a region to ask for, one gets a picture
_SEED = 41_000_000  # no training and no figure draws these pages from the generator


@dataclass(frozen=True, slots=True)
class Prepared:
    """Content of a folder of prepared pages: numbers of pages, pictures and documents, and bytes."""

    pages: int
    pictures: int
    documents: int
    bytes: int


def prepare(
    folder: Path,
    *,
    long_side: int,
    seed: int = 0,
    most_bytes: int = MOST_BYTES,
    most_pages: int | None = None,
    corpus: Path | None = None,
    on_bytes: Callable[[int], None] | None = None,
) -> Prepared:
    """Write prepared pages into a folder.

    Args:
        folder: folder, created if missing; prepared pages in it are replaced.
        long_side: pixels of the longer side of a picture.
        seed: other pages for another seed.
        most_bytes: of all files together.
        most_pages: with pictures, and of words; None: as many as the bytes allow.
        corpus: list of a corpus without labels, as `glossator pretrain --corpus` leaves it in its folder.
        on_bytes: called with the bytes written so far.

    Returns:
        Numbers of pages, pictures, documents without labels, and bytes.

    Raises:
        ValueError: the corpus is damaged, or the folder holds something else.
        OSError: the folder cannot be written.
    """
    _empty(folder)
    written = documents = pages = 0
    if corpus is not None:
        written, documents = PageCorpus.load(corpus).copy_into(folder, round(_DOCUMENTS * most_bytes))
    made = _generate_with_pictures(_SEED + 2 * seed, long_side)
    pictures, number, used = 0, 0, 0
    for kind, limit in (
        (made, round(_PICTURES * most_bytes)),
        (_generate_with_words(_SEED + 2 * seed + 1), most_bytes - written),
    ):
        of_kind, largest = 0, 0
        while most_pages is None or of_kind < most_pages:
            wanted = _OF_A_FILE if most_pages is None else min(_OF_A_FILE, most_pages - of_kind)
            batch = list(islice(kind, wanted))
            size = write_file(folder, number, batch)
            largest = max(largest, size)
            if used + size > limit:
                (folder / f"pages-{number:03}.zip").unlink()
                break
            number, used, of_kind = number + 1, used + size, of_kind + len(batch)
            if on_bytes is not None:
                on_bytes(written + used)
            if used + largest > limit:
                break
        pages += of_kind
        pictures += of_kind if kind is made else 0
    return Prepared(pages, pictures, documents, written + used)


def _empty(folder: Path) -> None:
    """Create a folder, or empty one of prepared pages; ValueError for any other that is not empty."""
    if folder.is_dir():
        names = {path.name for path in folder.iterdir()}
        pages = {name for name in names if fnmatch(name, PAGES_FILES)}
        if names and (not pages or names - pages - {CORPUS_FILE, COPIED}):
            raise ValueError(f"{folder} holds other files than prepared pages. Name an empty folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)


def corpus_of(folder: Path) -> Path | None:
    """Return the list of documents without labels in a folder of prepared pages, if it has one."""
    listed = folder / CORPUS_FILE
    return listed if listed.is_file() else None


def _generate_with_pictures(seed: int, long_side: int) -> Iterator[tuple[SyntheticPage, Image.Image | None]]:
    """Yield pages with their pictures, mostly such with regions to ask for."""
    rng = random.Random(seed)
    for made in endless_pages(seed):
        if regions_asked(made.page) or rng.random() < 1 / _PLAIN:
            yield made, picture(made, long_side)


def _generate_with_words(seed: int) -> Iterator[tuple[SyntheticPage, Image.Image | None]]:
    return ((made, None) for made in generate(seed) if made.page.words and made.page.questions)
