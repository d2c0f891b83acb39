"""Questions to the model about a page or a document, and refinement of its answers with prompts."""

import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from db.session import Encoded, as_json
from db.tables import Annotation, Document, Page, Prediction, Question
from engine.accounts import permissions
from engine.annotation.bounds import check_runs
from engine.annotation.form_answers import DocumentForm
from engine.annotation.outside_answers import load_outside_answers
from engine.annotation.outside_models import asks_own_model
from engine.annotation.page_answers import PageAnswer, build_prediction, ranked_so_far, stored_answer
from engine.annotation.page_cache import CachedPage, PageCache, passes_at_once
from engine.annotation.page_prefilter import PAGES_ASKED, by_likelihood
from engine.annotation.predictors import Loaded, Predictors
from engine.annotation.proposal import Proposal, build_proposal, newest_proposal
from engine.annotation.shared_results import SharedResults
from engine.annotation.state import PageGeometry, Patch, Point, raster
from engine.annotation.survey_answers import Prepared, load_prepared
from engine.annotation.unaided import check_aided, is_asked_unaided
from engine.errors import NotFound, Refused
from engine.fields.kinds import load_kinds
from engine.metrics import measure
from engine.metrics.counted import ASK_SECONDS, PASS_SECONDS
from engine.projects import project_stage
from engine.queries import existing, lock_question, not_removed
from engine.text import check_question, is_blank, storable
from engine.workspace import Workspace
from model.boxes import Box
from model.kinds import Kind

if TYPE_CHECKING:
    from model.answers import Answer

LONGEST_QUESTION = 1000
_ANSWERS_HELD = 2048  # computed in advance or just now, such as some forms of 200 fields; each is some kilobytes
_WARMED_AT_ONCE = 4  # pages encoded in advance, running or queued


def answer_key(loaded: Loaded, pages: Sequence[Page], question: str, kind: Kind | None) -> Hashable:
    """Return the key of a document's answer: it holds as long as pages, words and model stay the same."""
    content = tuple((page.id, page.image_sha256, page.words_version) for page in pages)
    return question, kind, loaded.version.checkpoint_sha256, content


class AnswerService:
    """Answers questions with the loaded models and encoded pages of one process; thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.predictors = Predictors(workspace)
        self.pages = PageCache(workspace)
        self.answers: SharedResults[Hashable, Prepared] = SharedResults(_ANSWERS_HELD)  # by `answer_key`
        self._warming = threading.BoundedSemaphore(_WARMED_AT_ONCE)
        self._passes = threading.Semaphore(passes_at_once(workspace.settings))

    def encoding_status(self, page_id: str) -> str:
        """Return "encoded", "encoding" (to be encoded by `warm`), or "loading" while the networks are imported.

        Raises NotFound for an unknown page.
        """
        if not self.predictors.is_ready and self.predictors.is_importing:
            with self.workspace.database.read() as session:
                existing(session, Page, page_id)
            return "loading"
        _, _, loaded = self._page(page_id)
        return "encoded" if self.pages.holds(page_id, loaded) else "encoding"

    def warm(self, page_id: str) -> None:
        """Encode a page in advance; writes nothing to the database.

        Returns at once when the page is being encoded already, or when too many others are: waiting would block a
        request thread.
        """
        if not self._warming.acquire(blocking=False):
            return
        try:
            _, _, loaded = self._page(page_id)
            if not self.pages.is_begun(page_id, loaded):
                self.pages.get(page_id, loaded)
        finally:
            self._warming.release()

    def prepare(self, document_id: str, question_id: str) -> str | None:
        """Compute the answer of a document in advance, and encode its page; return the id of the page.

        Writes nothing: `ask` finds the answer as long as pages, words and model stay the same. None where the question
        is answered without the model, of whose answer not even the page is told, or the project asks a model of others
        alone. Raises NotFound and Refused.
        """
        with self.workspace.database.read() as session:
            document = existing(session, Document, document_id)
            if is_asked_unaided(session, document.project_id, document_id, question_id):
                return None
            outside = load_outside_answers(session, document_id, [question_id]).get(question_id)
            if outside is None and not asks_own_model(session, document.project_id):
                return None
            question = existing(session, Question, question_id).text
            kind = load_kinds(session, [question_id]).get(question_id)
            pages = list(session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)))
        loaded = self.predictors.of(document.project_id)
        prepared = outside
        if prepared is None:
            by_model = self._load_prepared(document, question, loaded)
            by_model = by_model or self._answer_of(document, pages, question, kind, loaded)
            prepared = DocumentForm(self.workspace, document_id).prefer(question, by_model)
        self.pages.get(prepared.page_id, loaded)  # a correction asks this page again
        return prepared.page_id

    def ask(self, document_id: str, question: str, page_id: str | None, user_id: str) -> tuple[str, bool]:
        """Ask a question about a document or one of its pages; return (annotation id, asked before).

        An existing answer of this person is returned unchanged; after its removal, the question is asked anew. Of a
        whole document, the proposal of a model of others goes before the own model's, which is not run then. Where the
        project asks that one alone, there is no other proposal.

        Args:
            document_id: Document to ask.
            question: Text of the question, at most LONGEST_QUESTION characters.
            page_id: Page to ask; None asks the likeliest pages of the document.
            user_id: Author of the new annotation.

        Raises:
            NotFound: The document or the page does not exist.
            Refused: The question is empty or too long.
        """
        with measure("ask", ASK_SECONDS, "answered") as ended:
            answer, known = self._ask(document_id, question, page_id, user_id)
            if known:
                ended.outcome = "known"
            return answer, known

    def _ask(self, document_id: str, question: str, page_id: str | None, user_id: str) -> tuple[str, bool]:
        question = " ".join(storable(question).split())
        if is_blank(question):
            raise Refused("Write a question first.")
        if len(question) > LONGEST_QUESTION:
            raise Refused(f"The question has {len(question):,} characters; shorten it to {LONGEST_QUESTION:,}.")
        with self.workspace.database.read() as session:
            document = existing(session, Document, document_id)
            pages = list(session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)))
            before = session.scalar(
                select(Annotation.id)
                .join(Question, Question.id == Annotation.question_id)
                .where(
                    Annotation.document_id == document_id,
                    Annotation.author_id == user_id,
                    Question.text == question,
                    not_removed(),
                )
            )
            known = session.scalar(
                select(Question.id).where(Question.project_id == document.project_id, Question.text == question)
            )
            unaided = known is not None and is_asked_unaided(session, document.project_id, document_id, known)
            kind = None if known is None else load_kinds(session, [known]).get(known)
            outside = None
            own = asks_own_model(session, document.project_id)
            if known is not None and page_id is None and not unaided:
                outside = load_outside_answers(session, document_id, [known]).get(known)
        if before is not None:
            return before, True
        if known is None:  # a question that is stored already is not checked again
            check_question(question)
        if page_id is not None and page_id not in {page.id for page in pages}:
            raise NotFound("This page is not in this document; reload the document.")
        if unaided or outside is not None or not own:
            try:
                return self._record(document, question, user_id, None, outside), False
            except IntegrityError:
                return self._ask(document_id, question, page_id, user_id)
        loaded = self.predictors.of(document.project_id)
        prepared = self._load_prepared(document, question, loaded) if page_id is None else None
        if page_id is not None:
            prepared = self._compute(loaded, [page_id], question, kind, ranked=False)
        elif prepared is None:
            prepared = self._answer_of(document, pages, question, kind, loaded)
        prepared = DocumentForm(self.workspace, document_id).prefer(question, prepared, page_id)
        try:
            return self._record(document, question, user_id, loaded, prepared), False
        except IntegrityError:  # the same person asked the same question in another window at the same time
            return self._ask(document_id, question, page_id, user_id)

    def ask_more(self, annotation_id: str, user_id: str, most: int = PAGES_ASKED) -> None:
        """Ask up to `most` further pages of a document, the likeliest first; nothing when all were asked.

        The ranked list always grows. A better page becomes the proposal only while the answer has no edits.

        Raises:
            NotFound: The annotation does not exist.
            Forbidden: The user may not change the annotation.
        """
        with self.workspace.database.read() as session:
            annotation = existing(session, Annotation, annotation_id)
            permissions.check_author(session, annotation, user_id)
            question = session.get_one(Question, annotation.question_id)
            pages = session.scalars(
                select(Page).where(Page.document_id == annotation.document_id).order_by(Page.number)
            ).all()
            check_aided(session, annotation)
            kind = load_kinds(session, [question.id]).get(question.id)
            before = newest_proposal(session, annotation_id)
            if before is not None and before.answer.get("source") == "table":
                return  # its rows were looked for on all pages
            asked = {page.page_id for page in ranked_so_far(before)}
        loaded = self.predictors.of(annotation.project_id)
        left = [page_id for page_id in by_likelihood(self.workspace, pages, question.text) if page_id not in asked]
        if not left:
            return
        answers = self._ask_pages(loaded, left[:most], question.text, kind)
        best = answers[0]
        stored = stored_answer(best.answer, best.cached.numbers)  # masks are encoded before the write transaction
        with self.workspace.database.write() as session:
            # Row lock: on PostgreSQL, a first edit or the same request from another window waits until this one is
            # stored.
            current = session.get_one(Annotation, annotation_id, with_for_update=True, populate_existing=True)
            before = newest_proposal(session, annotation_id)
            ranked = {each.page_id: each for each in (*ranked_so_far(before), *(each.to_ranked() for each in answers))}
            in_order = sorted(ranked.values(), key=lambda each: each.answered * each.score, reverse=True)
            better = before is None or (best.marks and best.worth > before.answered * before.score)
            if before is None or (better and current.head == 0):
                stored.ranked = in_order
                prediction = build_prediction(
                    annotation_id, best.page_id, question.id, loaded, stored, best.answer, best.milliseconds, {}
                )
            else:  # predictions are immutable: store the same answer again, with the longer list
                prediction = Prediction(
                    annotation_id=annotation_id,
                    page_id=before.page_id,
                    question_id=question.id,
                    model_version_id=before.model_version_id,
                    outside_model_id=before.outside_model_id,
                    prompts={},
                    answer={**before.answer, "ranked": [page.model_dump(mode="json") for page in in_order]},
                    score=before.score,
                    answered=before.answered,
                    milliseconds=before.milliseconds,
                )
            session.add(prediction)

    def refine(
        self,
        annotation_id: str,
        page_id: str,
        user_id: str,
        *,
        points: Sequence[Point],
        box: Box | None,
        mask: Patch | None,
    ) -> Proposal:
        """Answer again with all prompts on a page; stores a prediction and leaves the annotation unchanged.

        Args:
            annotation_id: Annotation that is refined.
            page_id: Page of the annotation's document.
            user_id: Person who refines; must be allowed to change the annotation.
            points: (x, y, label) in pixels of the page.
            box: (x0, y0, x1, y1) in pixels of the page.
            mask: Current mask of the page.

        Raises:
            NotFound: The annotation does not exist, or the page belongs to another document.
            Forbidden: The user may not change the annotation. Its author would see the new proposal.
            Refused: A prompt lies outside the page, or the question is answered without the model.
        """
        with self.workspace.database.read() as session:
            annotation = existing(session, Annotation, annotation_id)
            permissions.check_author(session, annotation, user_id)
            check_aided(session, annotation)
            question = session.get_one(Question, annotation.question_id)
            kind = load_kinds(session, [question.id]).get(question.id)
        page, document, loaded = self._page(page_id)
        if document.id != annotation.document_id:
            raise NotFound("This page is not in this document; reload the document.")
        geometry = PageGeometry((page.height, page.width), {})
        if mask is not None:
            check_runs(len(mask.counts))
        given = raster(mask, geometry) if mask is not None and mask.counts else None
        for x, y, _ in points:
            if not (0 <= x < page.width and 0 <= y < page.height):
                raise Refused(
                    f"The point ({x:g}, {y:g}) lies outside the page of {page.width} x {page.height} pixels; "
                    "place it on the page."
                )
        if box is not None and not (box[0] < box[2] and box[1] < box[3]):
            raise Refused("The box is empty; its right and lower edges must be greater than its left and upper edges.")
        if box is not None:
            box = (max(0, box[0]), max(0, box[1]), min(page.width, box[2]), min(page.height, box[3]))
            if not (box[0] < box[2] and box[1] < box[3]):
                raise Refused(
                    f"The box lies outside the page of {page.width} x {page.height} pixels; draw it on the page."
                )
        cached = self.pages.get(page_id, loaded)
        answer, milliseconds = self._pass(loaded, cached, question.text, kind, points=points, box=box, mask=given)
        prompts = {
            "points": [list(point) for point in points],
            "box": list(box) if box else None,
            "mask": mask.model_dump(mode="json") if mask else None,
        }
        stored = stored_answer(answer, cached.numbers)
        prediction = build_prediction(
            annotation_id, page_id, annotation.question_id, loaded, stored, answer, milliseconds, prompts
        )
        # Encoded before the write transaction: the prompt mask may be large.
        prediction.prompts = Encoded(as_json(prompts))  # type: ignore[assignment]
        with self.workspace.database.write() as session:
            session.add(prediction)
            session.flush()
        return build_proposal(prediction, stored, loaded.version)

    def _load_prepared(self, document: Document, question: str, loaded: Loaded) -> Prepared | None:
        """Return the stored survey answer; None when absent, or when the project's stage is "assisted"."""
        with self.workspace.database.read() as session:
            if project_stage.stage_of(session, document.project_id) == "assisted":
                return None
            return load_prepared(session, document.id, question, loaded.version.id)

    def _answer_of(
        self, document: Document, pages: Sequence[Page], question: str, kind: Kind | None, loaded: Loaded
    ) -> Prepared:
        """Return the answer of a whole document, which `prepare` may have computed in advance."""
        key = answer_key(loaded, pages, question, kind)

        def compute() -> Prepared:
            likely = by_likelihood(self.workspace, pages, question)[:PAGES_ASKED]
            return self._compute(loaded, likely, question, kind, ranked=True)

        return self.answers.get(key, compute)

    def _compute(
        self, loaded: Loaded, page_ids: Sequence[str], question: str, kind: Kind | None, *, ranked: bool
    ) -> Prepared:
        answers = self._ask_pages(loaded, page_ids, question, kind)
        best = answers[0]
        stored = stored_answer(best.answer, best.cached.numbers)
        if ranked:
            stored.ranked = [page.to_ranked() for page in answers]
        return Prepared(best.page_id, stored, float(best.answer.score), float(best.answer.answered), best.milliseconds)

    def _page(self, page_id: str) -> tuple[Page, Document, Loaded]:
        with self.workspace.database.read() as session:
            page = existing(session, Page, page_id)
            document = session.get_one(Document, page.document_id)
        return page, document, self.predictors.of(document.project_id)

    def _pass(
        self, loaded: Loaded, page: CachedPage, question: str, kind: Kind | None, **prompts: Any
    ) -> "tuple[Answer, float]":
        with self._passes:
            began = time.perf_counter()
            answer = loaded.predictor.ask(page.encoded, question, kind=kind, **prompts)
            seconds = time.perf_counter() - began
            PASS_SECONDS.observe(seconds)
            return answer, seconds * 1000

    def _ask_pages(self, loaded: Loaded, page_ids: Sequence[str], question: str, kind: Kind | None) -> list[PageAnswer]:
        """Ask pages one by one; return their answers, best first."""
        answers = []
        for page_id in page_ids:
            cached = self.pages.get(page_id, loaded)
            answer, milliseconds = self._pass(loaded, cached, question, kind)
            answers.append(PageAnswer(page_id, cached, answer, milliseconds))
        return sorted(answers, key=lambda page: (page.marks, page.worth), reverse=True)

    def ask_together(
        self,
        loaded: Loaded,
        page_id: str,
        questions: Sequence[str],
        kinds: Sequence[Kind | None],
        cached: CachedPage | None = None,
    ) -> Iterator[PageAnswer]:
        """Yield the answers of a page to several questions, in their order; the masks of few are in memory at a time.

        `cached`: the page, where it is not a stored one.

        Each answer equals that of its question alone; its time is its share of the pass.
        """
        from model.answers import questions_at_once  # here: networks are imported after the start of a server

        cached = cached or self.pages.get(page_id, loaded)
        at_once = questions_at_once(*cached.encoded.size)
        for start in range(0, len(questions), at_once):
            some, wanted = questions[start : start + at_once], kinds[start : start + at_once]
            with self._passes:
                began = time.perf_counter()
                answers = loaded.predictor.ask_many(cached.encoded, some, kinds=wanted)
                seconds = time.perf_counter() - began
                PASS_SECONDS.observe(seconds)
                milliseconds = seconds * 1000 / len(some)
            for answer in answers:
                yield PageAnswer(page_id, cached, answer, milliseconds)

    def _record(
        self,
        document: Document,
        text: str,
        user_id: str,
        loaded: Loaded | None,
        prepared: Prepared | None,
    ) -> str:
        with self.workspace.database.write() as session:
            question = session.scalar(
                select(Question).where(Question.project_id == document.project_id, Question.text == text)
            )
            if question is None:
                question = Question(project_id=document.project_id, text=text, created_by=user_id)
                session.add(question)
                session.flush()
            lock_question(session, question)
            annotation = Annotation(
                project_id=document.project_id,
                document_id=document.id,
                question_id=question.id,
                author_id=user_id,
            )
            session.add(annotation)
            session.flush()
            if prepared is None:  # it is answered without the model
                return annotation.id
            prediction = build_prediction(
                annotation.id,
                prepared.page_id,
                question.id,
                loaded if prepared.answer.by_model else None,
                prepared.answer,
                prepared,
                prepared.milliseconds,
                {},
            )
            session.add(prediction)
            return annotation.id
