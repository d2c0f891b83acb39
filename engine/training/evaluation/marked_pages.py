"""Pages of hand-drawn marks, read as uploads are, with their questions; readings can be kept in a folder."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadPage, page_from_wire, page_to_wire
from engine.documents.refusal import DocumentRefused
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.run_lengths import encode_rle
from engine.training.evaluation.marks import Mark
from engine.training.evaluation.ocr_words import reader_code

_READING = "reading.json"
_SAME_SHAPE = 0.02  # relative difference of the sides' ratio up to which a page lies as it was marked


def marked_pages(
    marks: Sequence[Mark],
    paths: Mapping[str, Path],
    *,
    limits: ReadLimits,
    kept_in: Path,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Iterator[GroundedPage]:
    """Yield the marked pages, file after file; `image` is the path of a page's picture in `kept_in`.

    A question's id is the number of its mark, from 0. Files that cannot be read, pages that a file lacks and pages that
    were read turned are left out, with a sentence.

    Args:
        marks: the marks; those on files without a path are left out.
        paths: path of each file by SHA-256.
        limits: limits on reading, as for uploads.
        kept_in: folder of the readings, one subfolder a file; a reading of the same code and limits is used again.
        warn: called with a sentence for each file or page that is left out, and with those of OCR.
    """
    for digest, path in paths.items():
        of_file = [(number, mark) for number, mark in enumerate(marks) if mark.sha256 == digest]
        try:
            read = _reading(path, digest, limits, kept_in, warn)
        except DocumentRefused as refused:
            warn(str(refused))
            continue
        for number in sorted({mark.page for _, mark in of_file}):
            page_marks = [(at, mark) for at, mark in of_file if mark.page == number]
            page = next((candidate for candidate in read if candidate.number == number), None)
            if page is None:
                warn(f"{path.name} has no page {number}; its marks are not judged.")
            elif not _lies_as_marked(page, page_marks[0][1]):
                warn(f"Page {number} of {path.name} was read turned; its marks are not judged.")
            else:
                yield _grounded_page(page, digest, page_marks)


def _lies_as_marked(page: ReadPage, mark: Mark) -> bool:
    ratio = page.width * mark.size[1] / (page.height * mark.size[0])
    return abs(ratio - 1) <= _SAME_SHAPE


def _grounded_page(page: ReadPage, digest: str, marks: Iterable[tuple[int, Mark]]) -> GroundedPage:
    return GroundedPage(
        page_id=f"{digest}-{page.number}",
        image=str(page.image_path),
        width=page.width,
        height=page.height,
        words=[GroundedWord(word.text, word.box) for word in page.words],
        questions=[
            GroundedQuestion(
                question_id=str(number),
                question=mark.question,
                answers=[],
                masks=[dict(encode_rle(mark.pixels((page.width, page.height))))],
                region_type=mark.region_type,
            )
            for number, mark in marks
        ],
    )


def _reading(
    path: Path, digest: str, limits: ReadLimits, kept_in: Path, warn: Callable[[str], None]
) -> Sequence[ReadPage]:
    """Return all pages of a file, from `kept_in` or read now. Raises DocumentRefused."""
    made = sha256(f"{digest}{reader_code()}{json.dumps(asdict(limits), sort_keys=True)}".encode()).hexdigest()
    folder = kept_in / made[:32]
    stored = folder / _READING
    if stored.is_file():  # written last, so it stands for a complete reading
        return [page_from_wire(wire, folder) for wire in json.loads(stored.read_text(encoding="utf-8"))]
    document = read_document(path, name=path.name, limits=limits, out_dir=folder)
    for sentence in document.warnings:
        warn(f"{path.name}: {sentence}")
    rows = [page_to_wire(page) for page in document.pages]
    stored.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return document.pages
