"""Free text for the language task: python -m tests.benchmarks.optim.language_text FOLDER

Reads the documentation that these Debian packages install (the licence of each stands in /usr/share/doc/PACKAGE/copyright):
linux-doc-6.1, perl-doc, git-doc, postgresql-doc-15. Trains a byte-level BPE of 8,192 tokens on a tenth of it, and writes
FOLDER/language.npz: 10 million tokens to learn from, 1 million that only the tuning learns from, and 0.25 million of
each kind to judge by. Documents are whole in one of the four parts.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np

TOKENS = 8192
PARTS = {"train": 10_000_000, "held_out": 250_000, "tuning_train": 1_000_000, "tuning_held_out": 250_000}
FILE = "language.npz"
SOURCES = (
    ("linux-doc-6.1", Path("/usr/share/doc/linux-doc-6.1/Documentation"), ("*.rst.gz", "*.txt.gz")),
    ("perl-doc", Path("/usr/share/perl"), ("*.pod",)),
    ("git-doc", Path("/usr/share/doc/git"), ("*.txt", "*.adoc")),
    ("postgresql-doc-15", Path("/usr/share/doc/postgresql-doc-15"), ("*.html",)),
)
_END, _END_TOKEN = "<|end|>", 0  # special tokens come first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    try:
        found = write(chosen.folder)
    except ValueError as error:
        sys.exit(str(error))
    print(json.dumps(found, indent=1))


def write(folder: Path) -> dict[str, int]:
    """Write FOLDER/language.npz; return its tokens by part and the characters by package.

    Raises ValueError for a package that is not installed, or too little text.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    texts: list[str] = []
    characters: dict[str, int] = {}
    for package, root, patterns in SOURCES:
        own = [text for pattern in patterns for path in sorted(root.rglob(pattern)) if (text := read(path)).strip()]
        if not own:
            raise ValueError(
                f"{package} is not installed. Run: apt-get install {' '.join(name for name, *_ in SOURCES)}"
            )
        characters[package] = sum(map(len, own))
        texts += own
    random.Random(1).shuffle(texts)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS, special_tokens=[_END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts[::10], trainer)
    documents: Iterator[list[int]] = ([*one.ids, _END_TOKEN] for one in tokenizer.encode_batch(texts))
    arrays = {}
    # The small parts first: documents that judge are drawn before those that teach.
    for name in sorted(PARTS, key=lambda part: PARTS[part]):
        codes: list[int] = []
        while len(codes) < PARTS[name]:
            document = next(documents, None)
            if document is None:
                raise ValueError(f"There is too little text for the part {name!r}: {len(codes):,} tokens.")
            codes += document
        arrays[name] = np.array(codes[: PARTS[name]], dtype=np.uint16)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / FILE, allow_pickle=False, **arrays)
    return {**{name: len(array) for name, array in arrays.items()}, **characters}


def read(path: Path) -> str:
    """Return the text of a file, without the markup of HTML."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8", errors="ignore")
    if path.suffix == ".html":
        text = unescape(re.sub(r"<[^>]*>", "", re.sub(r"(?s)<(head|script|style).*?</\1>", "", text)))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+", " ", text))


if __name__ == "__main__":
    main()
