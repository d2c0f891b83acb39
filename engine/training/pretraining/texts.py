"""Text to learn a language from that lies on every machine: what the Python standard library says about itself.

The docstrings of its modules and the topics of its reference (pydoc_data), both under the PSF licence, version 2, which
allows use and redistribution with its notice; and the words of generated pages (engine.synthetic), which are ours. Nothing
is fetched. The same version of Python gives the same texts; parts that distributions leave out (tests, IDLE, Tk) are not
read.
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
_HELD_OUT = 10  # one document of so many
_BLOCK_STEPS = 8  # steps whose texts are drawn together and grouped by length, so that little is padding
_FEWEST, _MOST = 4, 60  # words of a sentence
_PROSE = 0.6  # share of a sentence's words that are letters alone
_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z\"'(])")
_MARKUP = re.compile(r"[*`]+|:(?:class|func|meth|mod|exc|attr|data|ref|pep|term):")
_BULLET = re.compile(r"^\s*(?:[*+-]|\d+\.|#\.)\s+")
_PLAIN = re.compile(r"[(\"']*[A-Za-z]+(?:['-][A-Za-z]+)*[)\"'.,;:!?]*")


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name, as sentences in order."""

    name: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents to learn from and documents to judge by; no sentence is in both."""

    training: tuple[Document, ...]
    held_out: tuple[Document, ...]


@cache
def python_corpus(most_modules: int | None = None) -> Corpus:
    """The texts of the standard library, of its first modules alone if a number of them is given."""
    return split([*_topics(), *islice(_modules(), most_modules)])


def page_documents(seed: int, count: int) -> list[Document]:
    """The words of ``count`` generated pages in reading order, a line a sentence."""
    found = []
    for number, one in enumerate(islice(generate(seed), count)):
        layout = read_layout([Word(word.text, word.box) for word in one.page.words])
        lines: dict[int, list[str]] = {}
        for index in layout.order.tolist():
            lines.setdefault(int(layout.line[index]), []).append(layout.texts[index])
        sentences = tuple(" ".join(words) for words in lines.values() if len(words) >= _FEWEST)
        found.append(Document(f"page-{seed}-{number}", sentences))
    return found


def split(documents: Iterable[Document]) -> Corpus:
    """Parts documents by a hash of their names; a sentence that was said before, in whichever part, is left out."""
    said: set[str] = set()
    parts: tuple[list[Document], list[Document]] = ([], [])
    for document in documents:
        held_out = int(hashlib.sha256(document.name.encode()).hexdigest(), 16) % _HELD_OUT == 0
        fresh = [one for one in dict.fromkeys(document.sentences) if one.casefold() not in said]
        said.update(one.casefold() for one in fresh)
        parts[held_out].append(Document(document.name, tuple(fresh)))
    return Corpus(*(tuple(part) for part in parts))


def sentences_of(documents: Iterable[Document]) -> list[str]:
    """Every sentence, in order."""
    return [sentence for document in documents for sentence in document.sentences]


def passages_of(documents: Iterable[Document], most_words: int = 80) -> list[str]:
    """Runs of sentences of one document, up to ``most_words`` words unless one sentence is longer, in order."""
    passages: list[str] = []
    for document in documents:
        run: list[str] = []
        for sentence in document.sentences:
            if run and sum(len(one.split()) for one in run) + len(sentence.split()) > most_words:
                passages.append(" ".join(run))
                run = []
            run.append(sentence)
        passages += [" ".join(run)] if run else []
    return passages


def text_source(texts: Sequence[str], seed: int, count: int) -> Texts:
    """``count`` texts a step, each once before any is seen twice (but for a rest of less than a block), of like lengths."""
    if not texts:
        raise ValueError("There is no text to learn from.")
    drawn = min(_BLOCK_STEPS * count, len(texts))
    blocks = len(texts) // drawn  # in one turn
    orders: dict[int, list[int]] = {}

    def source(step: int) -> Sequence[str]:
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
    """Pairs to compare: half of them neighbours in a document (often alike), half drawn apart (seldom alike)."""
    rng = random.Random(f"{seed}:pairs")
    near = [pair for document in documents for pair in zip(document.sentences, document.sentences[1:], strict=False)]
    every = sentences_of(documents)
    if len(every) < 2 or not near:
        raise ValueError("Pairs of sentences need a document with two of them.")
    close = rng.sample(near, min(count // 2, len(near)))
    apart = [rng.sample(every, 2) for _ in range(count - len(close))]
    return close + [(one, other) for one, other in apart]


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
    """The prose in a text, without markup; code and tables are left out."""
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
