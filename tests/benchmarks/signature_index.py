"""What near-duplicates cost as a project grows: python -m tests.benchmarks.signature_index [--documents N] [--database URL]

Seconds from a file to a document with signatures and without; milliseconds for signing a page, for finding those like it and for storing it, at more and more documents of one page: papers of many
kinds, and, as the hardest case, one form again and again with other values, where every page shares keys with all others.
"""

import argparse
import io
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from unittest.mock import patch

from PIL import Image

from db.tables import Document, DocumentGroup
from engine.documents import ingest
from engine.documents.duplicates import signature_index
from engine.documents.duplicates.page_signature import Signature, signature_of
from engine.settings import Settings
from engine.synthetic import generate
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.markdown import table
from tests.support.factories import make_project
from tests.support.made_documents import text_pdf

LOOKS = 40
READS = 7
WORDS = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument(
        "--database", default="", help="address of an empty database; SQLite in a temporary folder without"
    )
    chosen = parser.parse_args()
    print(_signing() + "\n\n" + _reading())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Settings(data_dir=Path(folder), database_url=chosen.database, _env_file=None))
        for name, made in (("papers of many kinds", _papers), ("one form, other values", _one_form)):
            rows += _grown(workspace, name, made, chosen.documents)
        workspace.close()
    heads = ["project", "documents", "find, ms (median)", "find, ms (slowest)", "store, ms (median)"]
    print("\n" + table(heads, rows))


def _signing() -> str:
    """Milliseconds for the signature of a page as it was rendered, by its kind of file."""
    rows = []
    for name, options in (("PNG", {}), ("JPEG", {"quality": 90})):
        took = []
        for page, _ in zip(generate(3), range(20), strict=False):
            stored = io.BytesIO()
            page.render().resize((1240, 1754)).save(stored, name, **options)
            words = [word.text for word in page.page.words]
            began = time.perf_counter()
            with Image.open(stored) as image:
                signature_of(image, words)
            took.append(time.perf_counter() - began)
        rows.append([name, f"{1000 * median(took):.0f}", f"{1000 * max(took[1:]):.0f}"])
    return table(["page of 1240 x 1754 pixels", "sign, ms (median)", "slowest"], rows)


def _reading() -> str:
    """Seconds from a file to a document, with signatures and without, in turns."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        workspace = open_workspace(Settings(data_dir=home / "data", _env_file=None))
        project = make_project(workspace, "read")
        for name, made in (("PDF of 10 pages with a text layer", _pdf), ("scan, read by Tesseract", _scan)):
            took: dict[bool, list[float]] = {True: [], False: []}
            for turn in range(2 * READS):
                source, signed = made(home, turn), turn % 2 == 0
                with nullcontext() if signed else patch.object(ingest, "signature_of_page", _unsigned):
                    began = time.perf_counter()
                    ingest.ingest(workspace, source, name=source.name, project_id=project.id, user_id=None)
                    took[signed].append(time.perf_counter() - began)
            rows.append([name, f"{median(took[False]):.2f}", f"{median(took[True]):.2f}"])
        workspace.close()
    return table(["from file to document", "without, s (median)", "with signatures, s (median)"], rows)


def _unsigned(_: object) -> Signature:
    return Signature("", (), "")


def _pdf(home: Path, turn: int) -> Path:
    rng = random.Random(turn)
    pages = [[" ".join(rng.choices(_VOCABULARY, k=6)) for _ in range(28)] for _ in range(10)]
    return text_pdf(home / f"{turn}.pdf", pages)


def _scan(home: Path, turn: int) -> Path:
    page = next(page for page in generate(turn) if 60 < len(page.page.words) < 120)
    path = home / f"{turn}.png"
    page.render().resize((1240, 1754)).save(path)
    return path


def _grown(workspace: Workspace, name: str, made: Callable[[random.Random], Signature], most: int) -> list[list[str]]:
    project, rng = make_project(workspace, name), random.Random(5)
    rows, there = [], 0
    for size in [each for each in (100, 1000, 10_000, 100_000) if each <= most]:
        while there < size:
            with workspace.database.write() as session:
                group = DocumentGroup(project_id=project.id, sequence=there, split="train")
                session.add(group)
                session.flush()
                for _ in range(min(500, size - there)):
                    document = Document(
                        project_id=project.id,
                        group_id=group.id,
                        sha256=f"{there:064d}",
                        name="paper",
                        media_type="image/png",
                        byte_count=1,
                    )
                    session.add(document)
                    session.flush()
                    signature = made(rng)
                    signature_index.remember(session, project.id, group.id, document.id, document.id, signature)
                    there += 1
        found, stored = [], []
        for turn in range(LOOKS):
            signature = made(rng)
            with workspace.database.write() as session:
                began = time.perf_counter()
                signature_index.pages_like(session, project.id, signature)
                middle = time.perf_counter()
                signature_index.remember(session, project.id, group.id, document.id, f"look {size} {turn}", signature)
                stored.append(time.perf_counter() - middle)
                found.append(middle - began)
                session.rollback()
        rows.append(
            [
                name,
                f"{size:,}",
                f"{1000 * median(found):.1f}",
                f"{1000 * max(found):.1f}",
                f"{1000 * median(stored):.1f}",
            ]
        )
    return rows


_BLANK = Image.new("L", (64, 64), 255)
_VOCABULARY = [f"{random.Random(at).getrandbits(30):x}" for at in range(4000)]


def _papers(rng: random.Random) -> Signature:
    return _signature(rng.choices(_VOCABULARY, k=WORDS), rng.getrandbits(256))


def _one_form(rng: random.Random) -> Signature:
    """Three quarters print, every fourth word a value; pictures that differ in at most ten bits."""
    words = [_VOCABULARY[at] if at % 4 else rng.choice(_VOCABULARY) for at in range(WORDS)]
    picture = random.Random(1).getrandbits(256)
    for _ in range(10):
        picture ^= 1 << rng.randrange(256)
    return _signature(words, picture)


def _signature(words: list[str], picture: int) -> Signature:
    signed = signature_of(_BLANK, words)
    return Signature(f"{picture:064x}", signed.words, signed.text)


if __name__ == "__main__":
    main()
