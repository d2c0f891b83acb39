"""Simulated annotator: asks, corrects the proposal with people's tools, and accepts.

It behaves like a careful person who knows the answer. When the same question has several places on a page, or several
acceptable answers, it marks the one nearest to the proposal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from db.ids import new_id
from engine.annotation.answer_service import AnswerService
from engine.annotation.edits import Edit, EditClear, EditMask, EditNoAnswer, EditWords
from engine.annotation.proposal import newest_proposal, shown_state
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import PageMark, Patch, to_patch
from engine.grounded import GroundedPage, GroundedQuestion
from engine.run_lengths import decode_rle
from model.masks import Mask, decode_patch, iou, rasterise


@dataclass(frozen=True, slots=True)
class Work:
    """Work of a simulated annotator on a page."""

    questions: int
    corrected: int  # questions with a wrong proposal
    edited_words: int  # selected or deselected

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.questions + other.questions,
            self.corrected + other.corrected,
            self.edited_words + other.edited_words,
        )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Acceptable answer: its words, or a mask without words."""

    words: tuple[int, ...]
    mask: Mask


class SimulatedAnnotator:
    """Annotator who asks every question of a page, corrects wrong answers and accepts them."""

    def __init__(self, service: AnswerService, user_id: str) -> None:
        self._answer_service, self._user_id = service, user_id

    def answer(self, document_id: str, page_id: str, page: GroundedPage) -> Work:
        """Ask every question of a page, correct wrong answers, and accept them.

        The page's words must have the dataset's numbers.
        """
        work = Work(0, 0, 0)
        for asked in _in_the_same_words(page.questions):
            work += self._settle(document_id, page_id, page, asked)
        return work

    def _settle(self, document_id: str, page_id: str, page: GroundedPage, asked: Sequence[GroundedQuestion]) -> Work:
        annotation_id, _ = self._answer_service.ask(document_id, asked[0].question, page_id, self._user_id)
        workspace = self._answer_service.workspace
        with workspace.database.read() as session:
            proposal = newest_proposal(session, annotation_id)
        assert proposal is not None, "who asks is shown a proposal"
        mark = shown_state(proposal).pages.get(page_id, PageMark())
        edits, edited = edits_to(page_id, mark, page, asked)
        append_revision(
            workspace,
            annotation_id,
            RevisionRequest(idempotency_key=new_id(), base=0, action="accept", edits=edits, prediction_id=proposal.id),
            self._user_id,
        )
        return Work(1, int(bool(edits)), edited)


def edits_to(
    page_id: str, mark: PageMark, page: GroundedPage, asked: Sequence[GroundedQuestion]
) -> tuple[list[Edit], int]:
    """Return the edits that correct a proposal, none for a right one, and the number of words they change."""
    size = (page.height, page.width)
    boxes = [word.box for word in page.words]
    wanted = [
        *(
            _Wanted(tuple(words), rasterise([boxes[at] for at in words], size))
            for question in asked
            for words in question.answers
        ),
        *(_Wanted((), decode_rle(rle)) for question in asked for rle in question.masks),
    ]
    shown = decode_patch(mark.mask.model_dump(), size)
    if not wanted:
        return ([EditNoAnswer(op="no_answer", value=True)], 0)
    nearest = max(wanted, key=lambda question: iou(shown, question.mask))
    if not nearest.words:
        if iou(shown, nearest.mask) == 1.0:
            return [], 0
        return [EditMask(op="mask", page=page_id, words=[], mask=Patch.model_validate(to_patch(nearest.mask)))], 0
    add = sorted(set(nearest.words) - set(mark.words))
    remove = sorted(set(mark.words) - set(nearest.words))
    by_words = iou(shown, rasterise([boxes[at] for at in mark.words], size)) == 1.0
    if not by_words:  # pixels beside the words are marked: a person would start again
        clear: list[Edit] = [EditClear(op="clear", page=page_id)] if shown.any() else []
        return [*clear, EditWords(op="words", page=page_id, add=sorted(nearest.words))], len(nearest.words)
    if not add and not remove:
        return [], 0
    return [EditWords(op="words", page=page_id, add=add, remove=remove)], len(add) + len(remove)


def _in_the_same_words(questions: Sequence[GroundedQuestion]) -> list[list[GroundedQuestion]]:
    """Group questions of the same text: a document has one answer to a question."""
    groups: dict[str, list[GroundedQuestion]] = {}
    for question in questions:
        groups.setdefault(" ".join(question.question.split()), []).append(question)
    return list(groups.values())
