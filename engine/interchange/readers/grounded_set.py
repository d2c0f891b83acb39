"""Grounded JSONL (engine.grounded): pages with their words, and questions with the words or the pixels that answer."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from engine.grounded import PAGES_FILE, GroundedFormatError, automatic_questions, page_from_json
from engine.interchange.incoming import (
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    bad,
    box_of,
    decoded,
    file_in,
    inside,
    json_lines,
    lines_in,
    mapped,
    text_of,
    whole,
)


def open_set(path: Path) -> Set:
    """Open a folder with pages.jsonl, or such a file. Of several acceptable answers to a question, the first comes in."""
    file = file_in(path, PAGES_FILE)

    def pages() -> Iterator[IncomingPage]:
        seen: set[str] = set()
        for where, stored in json_lines(file):
            page = _page(file.parent, stored, where)
            name = str(stored["page_id"])
            if name in seen:
                bad(where, f"the page {name!r} came before")
            seen.add(name)
            yield page

    return Set(pages, lines_in(file))


def _page(folder: Path, stored: Any, where: str) -> IncomingPage:
    try:
        page = page_from_json(stored)
    except GroundedFormatError as error:
        bad(where, str(error).rstrip("."))
    size = (page.width, page.height)
    about = mapped(stored.get("document", {}), '"document"', where)
    answers = []
    automatic = automatic_questions(stored)
    for place, one in enumerate(page.questions):
        at = f"{where}, question {one.question_id}"
        mask = partial(decoded, one.masks[0], (page.height, page.width), at) if one.masks and not one.answers else None
        words = tuple(one.answers[0]) if one.answers else ()
        answers.append(IncomingAnswer(text_of(one.question, '"question"', at), at, words, mask, place in automatic))
    return IncomingPage(
        document=str(about.get("sha256") or page.page_id),
        number=whole(about.get("page") or 1, '"page"', where, 1),
        image=inside(folder, page.image, where),
        width=page.width,
        height=page.height,
        where=where,
        name=str(about.get("name") or Path(str(page.image)).name),
        words=tuple(IncomingWord(word.text, box_of(list(word.box), size, where)) for word in page.words),
        answers=tuple(answers),
        licence=about.get("licence") if isinstance(about.get("licence"), str) else None,
    )
