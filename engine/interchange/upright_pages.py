"""Pages of a set as viewers show their pictures: upright by their EXIF orientation, with the marks on the ink.

Tools store marks either on the picture as viewers show it, or on its stored pixels. The size that the set gives tells
which, where the orientation swaps width and height; where it does not, nothing tells, and the page is refused.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.import_entries import IncomingAnswer, IncomingPage, IncomingWord
from engine.interchange.pictures import Head, head_of, refuse_turned, save_upright
from model.boxes import Box
from model.masks import Mask


def upright_pages(
    pages: Callable[[], Iterator[IncomingPage]], folder: Path, bad_entries: BadEntries
) -> Iterator[IncomingPage]:
    """Yield the pages of a set, upright, with pictures that every browser shows.

    A page is bad where its picture is damaged or has another size than the set says, and where nothing tells which way
    its marks stand.

    Args:
        pages: Yields the pages as the set says them.
        folder: Where pictures that must change are written; those of a document are there until the second after it.
        bad_entries: Notes the pages that are bad; their documents are left out once the check has ended.
    """
    written: deque[tuple[str, list[Path]]] = deque()
    for number, page in enumerate(pages()):
        if bad_entries.has_document(page.document):
            continue
        if not written or written[-1][0] != page.document:
            written.append((page.document, []))
        while len(written) > 2:  # the one before may be about to be stored
            for path in written.popleft()[1]:
                path.unlink(missing_ok=True)
        turned = None
        with bad_entries.leave_out(page.where, document=page.document):
            head = head_of(page.image, page.where)
            turned = _turn(page, head)
            image = save_upright(page.image, head, page.where, folder / f"{number}.png")
            if image != page.image:
                written[-1][1].append(image)
                turned = replace(turned, image=image)
        if turned is not None:
            yield turned
    for _, paths in written:
        for path in paths:
            path.unlink(missing_ok=True)


def _turn(page: IncomingPage, head: Head) -> IncomingPage:
    """Return a page with its marks where the upright picture has them."""
    stated = page.width, page.height
    if stated not in (head.stored, head.shown):
        width, height = head.shown
        bad(
            page.where,
            f"its image {page.image.name} has {width} x {height} pixels, but the dataset says "
            f"{page.width} x {page.height}",
        )
    if head.orientation == 1:
        return page
    if head.stored == head.shown:
        refuse_turned(page.image, head.orientation, page.where)
    if stated == head.shown:
        return page
    width, height = head.shown
    return replace(
        page,
        width=width,
        height=height,
        words=tuple(IncomingWord(word.text, turn_box(word.box, head.orientation, head.stored)) for word in page.words),
        answers=tuple(_turn_answer(answer, head.orientation) for answer in page.answers),
        proposals=tuple(
            replace(proposal, mask=partial(_turned_mask, proposal.mask, head.orientation))
            for proposal in page.proposals
        ),
    )


def _turn_answer(answer: IncomingAnswer, orientation: int) -> IncomingAnswer:
    mask = answer.mask
    return answer if mask is None else replace(answer, mask=partial(_turned_mask, mask, orientation))


def _turned_mask(stored: Callable[[], Mask], orientation: int) -> Mask:
    return turn_mask(stored(), orientation)


def turn_mask(mask: Mask, orientation: int) -> Mask:
    """Return a mask on stored pixels, bool [height, width], as an EXIF orientation turns it."""
    turns: dict[int, Callable[[Mask], Mask]] = {
        2: np.fliplr,
        3: lambda stored: np.rot90(stored, 2),
        4: np.flipud,
        5: np.transpose,
        6: lambda stored: np.rot90(stored, -1),
        7: lambda stored: np.rot90(stored, 2).T,
        8: np.rot90,
    }
    return np.ascontiguousarray(turns[orientation](mask)) if orientation in turns else mask


def turn_box(box: Box, orientation: int, size: tuple[int, int]) -> Box:
    """Return a box on stored pixels as an EXIF orientation turns it.

    Args:
        box: x0, y0, x1, y1 in stored pixels, x1 and y1 exclusive.
        orientation: EXIF orientation, 1 to 8.
        size: Width and height of the stored picture.
    """
    x0, y0, x1, y1 = box
    width, height = size
    if orientation in (2, 3, 7, 8):
        x0, x1 = width - x1, width - x0
    if orientation in (3, 4, 6, 7):
        y0, y1 = height - y1, height - y0
    return (y0, x0, y1, x1) if orientation >= 5 else (x0, y0, x1, y1)
