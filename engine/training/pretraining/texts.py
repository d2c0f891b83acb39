"""Texts for language pretraining that every machine has: documentation of the Python standard library.

Docstrings of its modules and the topics of its reference (pydoc_data), under the PSF licence, version 2, which allows
use and redistribution with its notice; and words of generated pages (engine.synthetic), which are ours. Nothing is
downloaded. Equal versions of Python give equal texts; parts that distributions omit (tests, IDLE, Tk) are skipped.
"""

import ast
import hashlib
import random
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from pydoc_data.topics import topics

from engine.synthetic import generate
from model.examples import Word
from model.layout import read_layout

Texts = Callable[[int], Sequence[str]]  # step -> texts; pure

_OPTIONAL = {"test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "distutils", "ensurepip", "site-packages"}
_OPTIONAL |= {"dist-packages", "turtle.py", "config"}
_HELD_OUT = 10  # one document of so many is held out
_BLOCK_STEPS = 8  # steps whose texts are drawn together and grouped by length, to reduce padding
_FEWEST, _MOST = 4, 60  # words of a sentence
_PROSE = 0.6  # share of a sentence's words that contain only letters
_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z\"'(])")
_MARKUP = re.compile(r"[*`]+|:(?:class|func|meth|mod|exc|attr|data|ref|pep|term):")
_BULLET = re.compile(r"^\s*(?:[*+-]|\d+\.|#\.)\s+")
_PLAIN = re.compile(r"[(\"']*[A-Za-z]+(?:['-][A-Za-z]+)*[)\"'.,;:!?]*")


@dataclass(frozen=True, slots=True)
class Document:
    """Named text, as sentences in order."""

    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Training and held-out documents; no sentence is in both."""

    training: tuple[Document, ...]
    held_out: tuple[Document, ...]


@cache
def python_corpus(most_modules: int | None = None) -> Corpus:
    """Return the texts of the standard library; only of its first `most_modules` modules when given."""
    return split_by_name([*_topics(), *islice(_modules(), most_modules)])


def page_documents(seed: int, count: int) -> list[Document]:
    """Return the words of `count` generated pages in reading order, one sentence a line."""
    documents = []
    for number, made_page in enumerate(islice(generate(seed), count)):
        layout = read_layout([Word(word.text, word.box) for word in made_page.page.words])
        lines: dict[int, list[str]] = {}
        for index in layout.order.tolist():
            lines.setdefault(int(layout.line[index]), []).append(layout.texts[index])
        sentences = tuple(" ".join(words) for words in lines.values() if len(words) >= _FEWEST)
        documents.append(Document(f"page-{seed}-{number}", sentences))
    return documents


def split_by_name(documents: Iterable[Document]) -> Corpus:
    """Split documents by a hash of their names; repeated sentences are dropped."""
    return split_by(
        documents, lambda document: int(hashlib.sha256(document.name.encode()).hexdigest(), 16) % _HELD_OUT == 0
    )


def split_by(documents: Iterable[Document], is_held_out: Callable[[Document], bool]) -> Corpus:
    """Split documents by a rule; repeated sentences are dropped."""
    seen: set[str] = set()
    parts: tuple[list[Document], list[Document]] = ([], [])
    for document in documents:
        fresh = [sentence for sentence in dict.fromkeys(document.sentences) if sentence.casefold() not in seen]
        seen.update(sentence.casefold() for sentence in fresh)
        parts[is_held_out(document)].append(Document(document.name, tuple(fresh)))
    return Corpus(*(tuple(part) for part in parts))


def sentences_of(documents: Iterable[Document]) -> list[str]:
    """Return every sentence, in order."""
    return [sentence for document in documents for sentence in document.sentences]


def passages_of(documents: Iterable[Document], most_words: int = 80) -> list[str]:
    """Return passages of consecutive sentences of one document, up to `most_words` words, in order.

    A single longer sentence is a passage of its own.
    """
    passages: list[str] = []
    for document in documents:
        run: list[str] = []
        for sentence in document.sentences:
            if run and sum(len(run_sentence.split()) for run_sentence in run) + len(sentence.split()) > most_words:
                passages.append(" ".join(run))
                run = []
            run.append(sentence)
        passages += [" ".join(run)] if run else []
    return passages


def text_source(texts: Sequence[str], seed: int, count: int) -> Texts:
    """Return a source of `count` texts a step, of similar length; each text once an epoch.

    A remainder shorter than a block is skipped.
    """
    if not texts:
        raise ValueError("There is no text to train on.")
    drawn = min(_BLOCK_STEPS * count, len(texts))
    blocks = len(texts) // drawn  # blocks of an epoch
    orders: dict[int, list[int]] = {}

    def source(step: int) -> Sequence[str]:
        """Return the texts of one step."""
        block, place = divmod(step, _BLOCK_STEPS)
        turn, block = divmod(block, blocks)
        if turn not in orders:
            orders.clear()
            orders[turn] = random.Random(f"{seed}:{turn}:texts").sample(range(len(texts)), len(texts))
        chosen = sorted(orders[turn][block * drawn : (block + 1) * drawn], key=lambda at: (len(texts[at]), at))
        group = random.Random(f"{seed}:{turn}:{block}:groups").sample(range(_BLOCK_STEPS), _BLOCK_STEPS)[place]
        return [texts[chosen[(group * count + at) % drawn]] for at in range(count)]

    return source


def sentence_pairs(documents: Sequence[Document], seed: int, count: int) -> list[tuple[str, str]]:
    """Return pairs to compare: half neighbours in a document, half drawn from different places."""
    rng = random.Random(f"{seed}:pairs")
    near = [pair for document in documents for pair in zip(document.sentences, document.sentences[1:], strict=False)]
    every = sentences_of(documents)
    if len(every) < 2 or not near:
        raise ValueError("Sentence pairs need a document with at least two sentences.")
    close = rng.sample(near, min(count // 2, len(near)))
    apart = [rng.sample(every, 2) for _ in range(count - len(close))]
    return close + [(first, second) for first, second in apart]


def _modules() -> Iterator[Document]:
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).parts
        if any(part in _OPTIONAL or part.startswith("config-") for part in parts) or parts[0] == "pydoc_data":
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        sentences = tuple(sentence for text in _docstrings(tree) for sentence in _sentences(text))
        if sentences:
            yield Document("/".join(parts), sentences)


def _docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    text = ast.get_docstring(node)
    if text:
        yield text
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings(child)


def _topics() -> Iterator[Document]:
    for name, text in sorted(topics.items()):
        yield Document(f"topic {name}", tuple(_sentences(text)))


def _sentences(text: str) -> Iterator[str]:
    """Yield the prose sentences of a text, without markup, code and tables."""
    for block in re.split(r"\n\s*\n", text):
        lines = [_BULLET.sub("", line).strip() for line in block.splitlines()]
        if any(line.startswith((">>>", "...", "::")) for line in lines) or "::=" in block:
            continue
        joined = " ".join(" ".join(_MARKUP.sub("", line) for line in lines).split())
        yield from (sentence for sentence in _END.split(joined) if _is_prose(sentence))


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    plain = sum(_PLAIN.fullmatch(word) is not None for word in words)
    return _FEWEST <= len(words) <= _MOST and plain >= _PROSE * len(words)
