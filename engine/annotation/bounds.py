"""Limits on the work of one save, and the queue in which large saves wait for each other.

The browser sends one stroke a save, so strokes drawn by hand stay far below the limits.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from engine.annotation.change import Change
from engine.annotation.edits import MOST_MARKS, Edit, EditMask, EditPatch, EditWords
from engine.annotation.state import AnnotationState, PageGeometry
from engine.errors import Refused
from engine.workspace import Workspace

MOST_PAINTED = 200_000_000  # pixels painted by the strokes of one save; eight of the largest pages by default
MOST_PAGES = 4  # pages that may always be painted: one edit of any kind fits
MOST_RUNS = 1_000_000  # runs of a page's mask; a page of 5,000 words, each marked separately, has about 300,000
MOST_STROKES = 1000  # edits that draw on what a mark has already; those of a table's cells replace marks, at less cost
MOST_NAMED = 2 * MOST_MARKS  # words that the edits of one save add and remove
LARGE = 10_000_000  # pixels; a save above this size waits in the queue of large saves
_RUN = 50  # pixels painted in the time in which one run is read and written


def check_strokes(edits: Sequence[Edit]) -> None:
    """Check the number of strokes and words of one save, before they are looked at. Raises Refused."""
    strokes = sum(isinstance(edit, EditWords | EditPatch) for edit in edits)
    if strokes > MOST_STROKES:
        raise Refused(f"This save has {strokes:,} strokes; {MOST_STROKES:,} are allowed. Save them in parts.")


def check_edits(
    state: AnnotationState, edits: Sequence[Edit], change: Change, pages: Mapping[str, PageGeometry]
) -> None:
    """Check that the edits of one save stay within the limits. Raises Refused."""
    largest = max((height * width for height, width in (page.size for page in pages.values())), default=0)
    allowed = max(MOST_PAINTED, MOST_PAGES * largest)
    if change.painted > allowed:
        raise Refused(
            f"The strokes of this save cover {change.painted:,} pixels; {allowed:,} are allowed. Save them in parts."
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
    """Check the runs of masks; a larger imported mask may keep its size. Raises Refused."""
    for page, mark in after.pages.items():
        of_values = sum(len(value.pages[page].mask.counts) for value in after.values if page in value.pages)
        _check_mask(before, page, max(len(mark.mask.counts), of_values))


def in_line(workspace: Workspace, change: Change) -> AbstractContextManager[None]:
    """Return the queue slot for a change: a no-op when it is small. Raises TooMany when the queue is full."""
    return workspace.save_queue.turn() if change.area + _RUN * change.runs > LARGE else nullcontext()


def check_runs(runs: int, there: int = 0) -> None:
    """Check the runs of a mask against MOST_RUNS and the `there` runs that it has already. Raises Refused."""
    if runs > max(MOST_RUNS, there):
        raise Refused(
            f"The mask of a page would have {runs:,} runs; {MOST_RUNS:,} are allowed. "
            "Mark areas instead of single pixels."
        )


def _check_mask(before: AnnotationState, page: str, runs: int) -> None:
    there = before.pages.get(page)
    check_runs(runs, len(there.mask.counts) if there else 0)
