"""Pages without labels as a run of pretraining learns from them: a frozen list of kept documents, split for good.

A tenth of the groups of near-duplicates is held out, by a hash of the group, for the figures of the stages of text and
words. The list is a file of the run, so that a resumed run learns from the same pages, whatever is added to the folder
meanwhile.
"""

import hashlib
import json
import os
import random
import shutil
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

from engine.documents.duplicates.page_signature import Signature
from engine.plurals import count
from engine.training.pretraining.texts import Corpus, Document, split_by
from engine.training.sources.rendered import turns_of
from engine.training.unlabelled.grouping import groups_of
from engine.training.unlabelled.kept_document import KeptDocument, KeptPage, image_of, read_kept
from engine.training.unlabelled.reading import kept_file
from engine.training.unlabelled.word_source import FEWEST_WORDS, cut_words, word_source
from model.examples import Example, Source, Word

CORPUS_FILE = "corpus.json"
COPIED = "documents"
_HELD_OUT = 10  # one group of so many is held out
_FEWEST_OF_A_LINE = 4  # words: shorter lines, such as keys and values, are joined with each other
_FEWEST_JOINED = 3
_MOST_WITH_IMAGE = 700  # of a page with its image, which is read whole
_MOST_OPENED = 2_000  # pages of documents that stay in memory
_JUDGED = 64  # held-out pages for the figures


@dataclass(frozen=True, slots=True)
class _Listed:
    """Page of the list: file of its document, place in it, size in pixels, number of words."""

    sha256: str
    page: int
    size: tuple[int, int]
    words: int
    held_out: bool


class PageCorpus:
    """Pages of kept documents; see the module. Reading a page opens its document's file."""

    def __init__(self, cache: Path, pages: Sequence[_Listed]) -> None:
        self._cache = cache
        self._pages = tuple(pages)

    @classmethod
    def of(cls, cache: Path, documents: Iterable[str]) -> "PageCorpus":
        """Return the corpus of kept documents, by their SHA-256. Reads each file once."""
        signatures: dict[str, list[Signature]] = {}
        sizes: dict[str, list[tuple[tuple[int, int], int]]] = {}
        for sha256 in sorted(documents):  # the words of one document at a time are in memory
            pages = read_kept(kept_file(cache, sha256)).pages
            signatures[sha256] = [page.signature for page in pages]
            sizes[sha256] = [(page.size, len(page.words)) for page in pages]
        groups = groups_of(signatures)
        wordy = {sha256 for sha256, pages in sizes.items() if any(words >= FEWEST_WORDS for _, words in pages)}
        held_out = _held_out(groups.values(), {groups[sha256] for sha256 in wordy})
        return cls(
            cache,
            [
                _Listed(sha256, number, size, words, groups[sha256] in held_out)
                for sha256, of_document in sizes.items()
                for number, (size, words) in enumerate(of_document)
            ],
        )

    @classmethod
    def load(cls, path: Path) -> "PageCorpus":
        """Return the corpus of a list. Raises ValueError for another file, and OSError."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            pages = [_Listed(**{**row, "size": tuple(row["size"])}) for row in content["pages"]]
            return cls(path.parent / content["cache"], pages)  # an absolute path stays as it is
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is not the list of a corpus: {error}") from error

    def save(self, path: Path) -> None:
        """Write the list; documents below its folder may be moved with it. Raises OSError."""
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        cache, folder = self._cache.resolve(), path.parent.resolve()
        cache = cache.relative_to(folder) if cache.is_relative_to(folder) else cache
        listed = {"cache": str(cache), "pages": [asdict(page) for page in self._pages]}
        temporary.write_text(json.dumps(listed), encoding="utf-8")
        temporary.replace(path)

    def copy_into(self, folder: Path, most_bytes: int) -> tuple[int, int]:
        """Copy some documents and their list into a folder that may be moved; return their bytes and number.

        Documents are drawn at random, as many as `most_bytes` allow, the first two of them to learn from and to judge
        by. Raises ValueError where not even these fit, and OSError.
        """
        chosen: set[str] = set()
        size = 0
        documents = sorted({page.sha256 for page in self._pages})
        drawn = random.Random(0).sample(documents, len(documents))
        held_out = {page.sha256 for page in self._pages if page.held_out}
        wordy = {page.sha256 for page in self._pages if page.words >= FEWEST_WORDS} or set(documents)
        first: dict[bool, str] = {}  # by whether it is held out
        for sha256 in drawn:
            if sha256 in wordy and kept_file(self._cache, sha256).stat().st_size <= most_bytes // 2:
                first.setdefault(sha256 in held_out, sha256)
        if len(first) < len({sha256 in held_out for sha256 in wordy}):
            raise ValueError(
                "The documents of the corpus are too large: one to learn from and one to judge by must fit into "
                f"{most_bytes / 1e6:.0f} MB. Name smaller ones, or take fewer pages of each."
            )
        for sha256 in dict.fromkeys([*first.values(), *drawn]):
            source = kept_file(self._cache, sha256)
            if size + source.stat().st_size <= most_bytes:
                target = kept_file(folder / COPIED, sha256)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                chosen.add(sha256)
                size += source.stat().st_size
        listed = {"cache": COPIED, "pages": [asdict(page) for page in self._pages if page.sha256 in chosen]}
        (folder / CORPUS_FILE).write_text(json.dumps(listed), encoding="utf-8")
        return size + (folder / CORPUS_FILE).stat().st_size, len(chosen)

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len({page.sha256 for page in self._pages})

    @property
    def held_out_pages(self) -> int:
        """Number of held-out pages."""
        return sum(page.held_out for page in self._pages)

    def pictures(self, seed: int, *, pages: int = 4, held_out: bool = False) -> Source:
        """Return a source of `pages` similar-shaped pages a step with words and image; each page once an epoch.

        Raises ValueError without such pages.
        """
        listed = self._some([page for page in self._pages if page.held_out == held_out])
        turns = turns_of([page.size for page in listed], seed, pages)
        return lambda step: [self._with_image(listed[number]) for number in turns(step)]

    def words(self, seed: int, *, pages: int = 4, held_out: bool = False) -> Source:
        """Return a source of `pages` pages of words a step, of like length; each page once an epoch.

        Of a long page a run of words in reading order is drawn, other ones in each epoch. Raises ValueError without
        such pages.
        """
        listed = self._wordy(held_out)
        return word_source(
            [page.words for page in listed], lambda number: self._example(listed[number]), seed, pages=pages
        )

    def judged_words(self, count: int = _JUDGED) -> list[Example]:
        """Return the same held-out pages of words every time. Raises ValueError without any."""
        listed = self._wordy(True)
        chosen = random.Random(0).sample(range(len(listed)), min(count, len(listed)))
        return [cut_words(self._example(listed[number]), random.Random(number)) for number in sorted(chosen)]

    @cached_property
    def texts(self) -> Corpus:
        """Lines of all pages as texts, one document each. Reads every file."""
        held_out = {page.sha256: page.held_out for page in self._pages}
        documents = (Document(sha256, self._lines(sha256)) for sha256 in held_out)
        return split_by(documents, lambda document: held_out[document.name])

    def _wordy(self, held_out: bool) -> list[_Listed]:
        return self._some([page for page in self._pages if page.held_out == held_out and page.words >= FEWEST_WORDS])

    def _some(self, listed: list[_Listed]) -> list[_Listed]:
        if not listed:
            raise ValueError(
                f"The corpus of {count(self.documents, 'document')} has too few pages to learn from and to judge by."
                " Name more folders."
            )
        return listed

    def _page(self, listed: _Listed) -> KeptPage:
        return _opened.get(kept_file(self._cache, listed.sha256)).pages[listed.page]

    def _example(self, listed: _Listed) -> Example:
        page = self._page(listed)
        return Example(page.words, page.size, ())

    def _with_image(self, listed: _Listed) -> Example:
        example = self._example(listed)
        image = image_of(kept_file(self._cache, listed.sha256), listed.page)
        return replace(example, words=example.words[:_MOST_WITH_IMAGE], image=image)

    def _lines(self, sha256: str) -> tuple[str, ...]:
        return tuple(
            line
            for page in read_kept(kept_file(self._cache, sha256)).pages
            for line in lines_of(page.words, page.lines)
        )


def lines_of(words: Sequence[Word], lines: Sequence[int]) -> list[str]:
    """Return the lines of a page as texts, in reading order.

    A line of few words is mostly a key or a value, so it is joined with the short ones after it. Longer lines stay as
    they are: with a page number before it, a repeated line would not be recognised as the same (texts.split_by).
    """
    words_by_line: dict[int, list[str]] = {}
    for word, line in zip(words, lines, strict=True):
        words_by_line.setdefault(line, []).append(word.text)
    texts: list[str] = []
    short: list[str] = []
    for line_words in [*words_by_line.values(), None]:  # None: the end of the page
        if line_words is not None and len(line_words) < _FEWEST_OF_A_LINE:
            short += line_words
        if short and (line_words is None or len(line_words) >= _FEWEST_OF_A_LINE or len(short) >= _FEWEST_OF_A_LINE):
            texts += [" ".join(short)] if len(short) >= _FEWEST_JOINED else []
            short = []
        if line_words is not None and len(line_words) >= _FEWEST_OF_A_LINE:
            texts.append(" ".join(line_words))
    return texts


class _Opened:
    """The documents used last, up to _MOST_OPENED pages of them: a page of 350 words takes some 100 KB."""

    def __init__(self) -> None:
        self._documents: OrderedDict[Path, KeptDocument] = OrderedDict()
        self._pages = 0
        self._alone = Lock()

    def get(self, path: Path) -> KeptDocument:
        """Return the words of a kept document."""
        with self._alone:
            if path in self._documents:
                self._documents.move_to_end(path)
                return self._documents[path]
            self._documents[path] = document = read_kept(path)
            self._pages += len(document.pages)
            while self._pages > _MOST_OPENED and len(self._documents) > 1:
                self._pages -= len(self._documents.popitem(last=False)[1].pages)
            return document


_opened = _Opened()


def _held_out(groups: Iterable[str], wordy: set[str]) -> set[str]:
    """Return the groups that are held out, by a hash.

    Of two groups and more there is one on each side, with words where two have words; a single one teaches.
    """
    hashes = {group: int(hashlib.sha256(f"corpus:{group}".encode()).hexdigest(), 16) for group in groups}
    if len(hashes) < 2:
        return set()
    drawn = {group for group, number in hashes.items() if number % _HELD_OUT == 0}
    on_both = sorted(wordy if len(wordy) > 1 else hashes, key=hashes.__getitem__)
    if drawn.isdisjoint(on_both):
        drawn.add(on_both[0])
    if drawn.issuperset(on_both):
        drawn.remove(on_both[-1])
    return drawn
