"""Asking: a question of a page or of a whole document, and refining its answer with points and boxes."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rapidfuzz import fuzz, utils
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from db.tables import Annotation, Document, Page, PageWord, Prediction, Question
from engine.annotation.pages import CachedPage, PageCache, passes_at_once
from engine.annotation.predictors import Loaded, Predictors
from engine.annotation.proposal import Candidate, Proposal, RankedPage, StoredAnswer, proposal_of
from engine.annotation.state import Box, PageGeometry, Patch, Point, raster, to_patch
from engine.documents.ingest import storable
from engine.errors import NotFound, Refused
from engine.workspace import Workspace
from model.inference import Answer
from model.threads import use_threads

LONGEST_QUESTION = 1000
PAGES_ASKED = 8  # of a long document, the pages that share most words with the question


class Desk:
    """Where questions are answered: the loaded models and the encoded pages of one process. Safe for threads."""

    def __init__(self, workspace: Workspace) -> None:
        use_threads(workspace.settings.threads)
        self.workspace = workspace
        self.predictors = Predictors(workspace)
        self.pages = PageCache(workspace)
        self._passes = threading.Semaphore(passes_at_once(workspace.settings))

    def is_warm(self, page_id: str) -> bool:
        """Return whether a page is encoded and can be asked at once. NotFound for an unknown page."""
        _, _, loaded = self._page(page_id)
        return self.pages.holds(page_id, loaded)

    def warm(self, page_id: str) -> None:
        """Encode a page before it is asked. Writes nothing to the database."""
        _, _, loaded = self._page(page_id)
        self.pages.get(page_id, loaded)

    def ask(self, document_id: str, question: str, page_id: str | None, user_id: str) -> tuple[str, bool]:
        """Ask a document, or one page of it; return the annotation's id and whether this person had asked it before.

        An answer that exists already is returned as it is. NotFound for an unknown document or page, Refused for an empty
        or endless question.
        """
        question = " ".join(storable(question).split())
        if not question:
            raise Refused("Write a question first.")
        if len(question) > LONGEST_QUESTION:
            raise Refused(f"The question has {len(question):,} characters; {LONGEST_QUESTION:,} are allowed.")
        with self.workspace.database.read() as session:
            document = session.get(Document, document_id)
            if document is None:
                raise NotFound("There is no such document.")
            pages = list(session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)))
            before = session.scalar(
                select(Annotation.id)
                .join(Question, Question.id == Annotation.question_id)
                .where(
                    Annotation.document_id == document_id, Annotation.author_id == user_id, Question.text == question
                )
            )
        if before is not None:
            return before, True
        if page_id is not None and page_id not in {page.id for page in pages}:
            raise NotFound("That page is not in this document.")
        loaded = self.predictors.of(document.project_id)
        candidates = [page_id] if page_id is not None else self._likely_pages(pages, question)
        answers: list[tuple[str, CachedPage, Answer, float]] = []
        for candidate in candidates:
            cached = self.pages.get(candidate, loaded)
            answer, milliseconds = self._pass(loaded, cached, question)
            answers.append((candidate, cached, answer, milliseconds))
        answers.sort(key=lambda row: row[2].answered * row[2].score, reverse=True)
        best_page, best, answer, milliseconds = answers[0]
        stored = stored_answer(answer, best.numbers)
        if page_id is None:
            stored.ranked = [
                RankedPage(page_id=page, answered=each.answered, score=each.score) for page, _, each, _ in answers
            ]
        try:
            return self._record(document, question, user_id, best_page, loaded, stored, answer, milliseconds), False
        except IntegrityError:  # the same person asked the same in another window, and that one was faster
            return self.ask(document_id, question, page_id, user_id)

    def refine(
        self,
        annotation_id: str,
        page_id: str,
        *,
        points: Sequence[Point],
        box: Box | None,
        mask: Patch | None,
    ) -> Proposal:
        """Answer again with all the prompts placed so far on a page. Stores the prediction; changes no annotation."""
        with self.workspace.database.read() as session:
            annotation = session.get(Annotation, annotation_id)
            if annotation is None:
                raise NotFound("There is no such annotation.")
            question = session.get_one(Question, annotation.question_id)
        page, document, loaded = self._page(page_id)
        if document.id != annotation.document_id:
            raise NotFound("That page is not in this document.")
        geometry = PageGeometry((page.height, page.width), {})
        given = raster(mask, geometry) if mask is not None and mask.counts else None
        for x, y, _ in points:
            if not (0 <= x < page.width and 0 <= y < page.height):
                raise Refused(f"The point ({x:g}, {y:g}) lies outside the page of {page.width} x {page.height} pixels.")
        if box is not None and not (box[0] < box[2] and box[1] < box[3]):
            raise Refused("The box is empty: its right and lower edges must lie beyond its left and upper ones.")
        if box is not None:
            box = (max(0, box[0]), max(0, box[1]), min(page.width, box[2]), min(page.height, box[3]))
            if not (box[0] < box[2] and box[1] < box[3]):
                raise Refused(f"The box lies outside the page of {page.width} x {page.height} pixels.")
        cached = self.pages.get(page_id, loaded)
        answer, milliseconds = self._pass(loaded, cached, question.text, points=points, box=box, mask=given)
        prompts = {
            "points": [list(point) for point in points],
            "box": list(box) if box else None,
            "mask": mask.model_dump(mode="json") if mask else None,
        }
        stored = stored_answer(answer, cached.numbers)
        with self.workspace.database.write() as session:
            prediction = _prediction(
                annotation_id, page_id, annotation.question_id, loaded, stored, answer, milliseconds, prompts
            )
            session.add(prediction)
            session.flush()
            return proposal_of(session, prediction)

    def _page(self, page_id: str) -> tuple[Page, Document, Loaded]:
        with self.workspace.database.read() as session:
            page = session.get(Page, page_id)
            if page is None:
                raise NotFound("There is no such page.")
            document = session.get_one(Document, page.document_id)
        return page, document, self.predictors.of(document.project_id)

    def _pass(self, loaded: Loaded, page: CachedPage, question: str, **prompts: Any) -> tuple[Answer, float]:
        with self._passes:
            began = time.perf_counter()
            answer = loaded.predictor.ask(page.encoded, question, **prompts)
            return answer, (time.perf_counter() - began) * 1000

    def _likely_pages(self, pages: Sequence[Page], question: str) -> list[str]:
        """Return the pages worth asking: all of a short document, else those that share most words with the question."""
        if len(pages) <= PAGES_ASKED:
            return [page.id for page in pages]
        asked = utils.default_process(question)
        with self.workspace.database.read() as session:
            words = session.execute(
                select(PageWord.page_id, PageWord.text).where(PageWord.page_id.in_([page.id for page in pages]))
            ).all()
        texts: dict[str, list[str]] = {page.id: [] for page in pages}
        for page_id, text in words:
            texts[page_id].append(text)
        share = {
            page_id: fuzz.token_set_ratio(asked, utils.default_process(" ".join(text)))
            for page_id, text in texts.items()
        }
        return sorted(share, key=lambda page_id: -share[page_id])[:PAGES_ASKED]

    def _record(
        self,
        document: Document,
        text: str,
        user_id: str,
        page_id: str,
        loaded: Loaded,
        stored: StoredAnswer,
        answer: Answer,
        milliseconds: float,
    ) -> str:
        with self.workspace.database.write() as session:
            question = session.scalar(
                select(Question).where(Question.project_id == document.project_id, Question.text == text)
            )
            if question is None:
                question = Question(project_id=document.project_id, text=text, created_by=user_id)
                session.add(question)
                session.flush()
            annotation = Annotation(
                project_id=document.project_id,
                document_id=document.id,
                question_id=question.id,
                author_id=user_id,
            )
            session.add(annotation)
            session.flush()
            session.add(_prediction(annotation.id, page_id, question.id, loaded, stored, answer, milliseconds, {}))
            return annotation.id


def stored_answer(answer: Answer, numbers: Sequence[int]) -> StoredAnswer:
    """Return an answer as it is stored, its words by their stable numbers."""
    return StoredAnswer(
        **_candidate(answer, numbers).model_dump(),
        candidates=[_candidate(candidate, numbers) for candidate in answer.candidates],
    )


def _candidate(answer: Answer, numbers: Sequence[int]) -> Candidate:
    return Candidate(
        words=[numbers[index] for index in answer.words],
        mask=to_patch(np.asarray(answer.mask, dtype=bool)),
        text=answer.text,
        score=float(answer.score),
    )


def _prediction(
    annotation_id: str,
    page_id: str,
    question_id: str,
    loaded: Loaded,
    stored: StoredAnswer,
    answer: Answer,
    milliseconds: float,
    prompts: dict[str, Any],
) -> Prediction:
    return Prediction(
        annotation_id=annotation_id,
        page_id=page_id,
        question_id=question_id,
        model_version_id=loaded.version.id,
        prompts=prompts,
        answer=stored.model_dump(mode="json"),
        score=float(answer.score),
        answered=float(answer.answered),
        milliseconds=milliseconds,
    )
