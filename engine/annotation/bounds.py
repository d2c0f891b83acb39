"""How much one save may ask of the server, and from where on it is large and stands in line with its like.

The browser sends one stroke a save, however many wait in its queue, so nothing that is drawn by hand comes near.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from engine.annotation.state import MOST_MARKS, AnnotationState, Change, Edit, EditMask, PageGeometry
from engine.errors import Refused
from engine.workspace import Workspace

MOST_PAINTED = 200_000_000  # pixels that the strokes of one save go over: eight of the largest pages by default
MOST_PAGES = 4  # as many of the page may be gone over in any case: one edit of any kind always fits
MOST_RUNS = 1_000_000  # of the mask of a page: a page of 5,000 words, each marked by itself, has some 300,000
MOST_NAMED = 2 * MOST_MARKS  # words that the edits of one save add and remove
LARGE = 10_000_000  # pixels: from here on a save takes tens of milliseconds of the processor
_RUN = 50  # pixels that are painted in the time that a run takes to be read and written


def check_edits(
    state: AnnotationState, edits: Sequence[Edit], change: Change, pages: Mapping[str, PageGeometry]
) -> None:
    """Refuse, with a sentence, edits of `state` that are more than one save may hold."""
    largest = max((height * width for height, width in (page.size for page in pages.values())), default=0)
    allowed = max(MOST_PAINTED, MOST_PAGES * largest)
    if change.painted > allowed:
        raise Refused(
            f"The strokes of this save go over {change.painted:,} pixels; {allowed:,} are allowed. Save them in parts."
        )
    if change.named > MOST_NAMED:
        raise Refused(
            f"The edits of this save name {change.named:,} words; {MOST_NAMED:,} are allowed. Save them in parts."
        )
    if change.drawn > MOST_RUNS:
        raise Refused(
            f"The strokes of this save have {change.drawn:,} runs; {MOST_RUNS:,} are allowed. Save them in parts."
        )
    for edit in edits:
        if isinstance(edit, EditMask):
            _check_mask(state, edit.page, len(edit.mask.counts))


def check_masks(before: AnnotationState, after: AnnotationState) -> None:
    """Refuse, with a sentence, masks that have more runs than a page may hold. An import that has more may stay as large."""
    for page, mark in after.pages.items():
        _check_mask(before, page, len(mark.mask.counts))


def in_line(workspace: Workspace, change: Change) -> AbstractContextManager[None]:
    """Return the turn that a change waits for while it is painted: none for a small one. TooMany when the line is full."""
    return workspace.large_saves.turn() if change.area + _RUN * change.runs > LARGE else nullcontext()


def check_runs(runs: int, there: int = 0) -> None:
    """Refuse, with a sentence, a mask of more runs than a page may hold, or than the mask that is `there` has already."""
    if runs > max(MOST_RUNS, there):
        raise Refused(
            f"The mask of a page would have {runs:,} runs; {MOST_RUNS:,} are allowed. Mark areas instead of single pixels."
        )


def _check_mask(before: AnnotationState, page: str, runs: int) -> None:
    there = before.pages.get(page)
    check_runs(runs, len(there.mask.counts) if there else 0)
