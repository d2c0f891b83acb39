"""Survey: the champion answers the questions of a project's documents in advance.

One page is in memory at a time, and answers are stored document by document. A survey that was killed continues with
the missing answers; after a promotion all are missing. Annotations are not touched.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from db.blobs import BlobMissing
from db.tables import DocumentSignature, Job, ModelVersion, Page, SurveyAnswer
from engine import plurals
from engine.annotation.form_answers import DocumentForm
from engine.annotation.page_answers import stored_answer
from engine.annotation.page_cache import picture_and_words
from engine.annotation.page_prefilter import PAGES_ASKED, by_likelihood
from engine.annotation.predictors import Loaded, Predictors
from engine.annotation.proposal import RankedPage, StoredAnswer
from engine.annotation.survey_answers import (
    AskedQuestion,
    Prepared,
    documents_to_ask,
    held_out_group,
    pack_signature,
    questions_to_ask,
    store,
)
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.jobs.cancellation import OnProgress, ShouldStop, StopReason, check
from engine.models import registry
from engine.models.folds import fold_of
from engine.selection import after_survey, survey_trigger
from engine.selection.uncertainty import confidence, uncertainty
from engine.workspace import Workspace
from model.answers import questions_at_once
from model.inference import Answer

_log = logging.getLogger(__name__)
GIVE_WAY_SECONDS = 20.0  # seconds after which a survey yields: other work would wait for hours behind a large one


def survey(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    """Run a job of kind "survey": ask missing questions, rank the queue, run the steps after a survey.

    Returns counts and a sentence. Stops between two documents on request, or when other work waits.
    """
    project_id = str(job.project_id)
    asked = documents = 0
    unread: list[str] = []
    version: ModelVersion | None = None
    if job.payload.get("ask", True):
        with workspace.database.read() as session:
            version = registry.champion(session, project_id)
            todo = documents_to_ask(session, project_id, version.id)
        began = time.monotonic()

        def stops() -> StopReason | None:
            """Give way to other work after a while."""
            late = time.monotonic() - began > GIVE_WAY_SECONDS
            return should_stop() or ("end" if late and survey_trigger.somebody_waits(workspace, job.id) else None)

        def count(at: int, questions: int | None) -> None:
            """Count a document that was asked; None: it cannot be read."""
            nonlocal asked, documents
            if questions is None:
                unread.append(todo[at])
            else:
                asked, documents = asked + questions, documents + 1
            done = documents + len(unread)
            on_progress(done / len(todo), f"Asked {done:,} of {_documents(len(todo))}.")

        on_progress(0.0, f"Asking {_documents(len(todo))}.")
        try:
            run_parts(
                executor_of(workspace, stops),
                (Part(survey_document, (project_id, version.id, document_id)) for document_id in todo),
                on_result=count,
                should_stop=stops,
            )
        finally:
            _loaded.clear()
    check(should_stop)
    on_progress(0.99, "Ranking the queue.")
    followed = after_survey.follow(workspace, project_id)
    name = registry.label(version) if version is not None else None
    sentences = [f"{name} answered {_questions(asked)} of {_documents(documents)}."] if name else []
    if unread:
        sentences.append(f"{_documents(len(unread))} could not be read.")
    return {
        "questions": asked,
        "documents": documents,
        "unread": unread,
        "model_version_id": version.id if version else None,
        **followed.counts,
        "sentence": " ".join([*sentences, *followed.sentences]) or "All questions are answered already.",
    }


def survey_document(
    workspace: Workspace,
    project_id: str,
    version_id: str,
    document_id: str,
    *,
    report: Report,
    should_stop: ShouldStop,
) -> int | None:
    """Ask a document its missing questions; see `engine.executors` and `ask_document`.

    Returns:
        The number of answers; None where the document cannot be read. 0 where another version is in use meanwhile: its
        own survey asks the document.

    Raises:
        Refused: The version in use cannot be loaded.
    """
    check(should_stop)
    networks = _networks_of(workspace)
    loaded = networks.of(project_id)
    if loaded.version.id != version_id:
        return 0
    try:
        return ask_document(workspace, loaded, project_id, document_id, lambda: networks.folds(loaded))
    except (BlobMissing, OSError, ValueError):
        _log.exception("the document %s cannot be surveyed", document_id)
        return None


class _Networks:
    """Networks of a process that surveys, loaded once for all its documents."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._predictors = Predictors(workspace)
        self._folds: tuple[str, list[Loaded]] = "", []

    def of(self, project_id: str) -> Loaded:
        """Return the predictor of a project's version in use, also after a promotion. Raises Refused."""
        self._predictors.refresh()
        return self._predictors.of(project_id)

    def folds(self, loaded: Loaded) -> list[Loaded]:
        """Return a version with the weights of each of its folds; loaded where a held-out document is asked."""
        version_id = loaded.version.id
        if self._folds[0] != version_id:
            self._folds = version_id, self._predictors.folds(loaded)
        return self._folds[1]


_loaded: list[_Networks] = []  # of this process, at most one; a worker frees it after a survey


def _networks_of(workspace: Workspace) -> _Networks:
    if not _loaded or _loaded[0].workspace is not workspace:
        _loaded[:] = [_Networks(workspace)]
    return _loaded[0]


def ask_document(
    workspace: Workspace, loaded: Loaded, project_id: str, document_id: str, folds: Callable[[], Sequence[Loaded]]
) -> int:
    """Ask a document its missing questions, store the answers and return their number.

    On a held-out document, the weights of its fold answer, because precision is measured there and the weights in use
    may have learned from it. Raises BlobMissing, OSError or ValueError for an unreadable document.
    """
    with workspace.database.read() as session:
        group = held_out_group(session, document_id) if loaded.version.fold_sha256s else None
        questions = questions_to_ask(session, project_id, document_id, loaded.version.id)
        pages = session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)).all()
    if group is not None:
        loaded = folds()[fold_of(group)]
    if not questions or not pages:
        return 0
    wanted: dict[str, list[AskedQuestion]] = {page.id: [] for page in pages}
    for question in questions:
        for page_id in by_likelihood(workspace, pages, question.text)[:PAGES_ASKED]:
            wanted[page_id].append(question)
    best: dict[str, _Best] = {}
    ranked: dict[str, list[RankedPage]] = {question.id: [] for question in questions}
    signatures: list[NDArray[np.float32]] = []
    for page in pages:
        if wanted[page.id]:
            signatures.append(_ask_page(workspace, loaded, page, wanted[page.id], best, ranked))
    form = DocumentForm(workspace, document_id)
    for question in questions:
        if question.id in best:
            best[question.id] = best[question.id].or_by_form(form, question.text, ranked[question.id])
    words_version = sum(page.words_version for page in pages)
    rows = [
        _row(project_id, document_id, key, answer, ranked[key], loaded.version.id, words_version)
        for key, answer in best.items()
    ]
    signature = DocumentSignature(
        document_id=document_id,
        model_version_id=loaded.version.id,
        vector=pack_signature(np.mean(signatures, axis=0, dtype=np.float32)),
    )
    with workspace.database.write() as session:
        store(session, rows, signature)
    return len(rows)


@dataclass(frozen=True, slots=True)
class _Best:
    """Best page's answer to a question so far, without masks of the page's size."""

    page_id: str
    stored: StoredAnswer
    score: float
    answered: float
    disagreement: float
    milliseconds: float

    @property
    def worth(self) -> float:
        """Rank of the page: probability that it answers, times the predicted IoU."""
        return self.answered * self.score

    def or_by_form(self, form: DocumentForm, question: str, ranked: list[RankedPage]) -> "_Best":
        """Return the answer of the document's form, if it has one, and put its page first in the ranking."""
        by_model = Prepared(self.page_id, self.stored, self.score, self.answered, self.milliseconds)
        by_form = form.prefer(question, by_model)
        if by_form.answer.source == "model":
            return self
        apart = 0.0 if by_form.score == 1 or by_form.answer.cells else self.disagreement
        page = RankedPage(page_id=by_form.page_id, answered=by_form.answered, score=by_form.score)
        ranked[:] = [page, *(other for other in ranked if other.page_id != page.page_id)]
        return _Best(by_form.page_id, by_form.answer, by_form.score, by_form.answered, apart, self.milliseconds)


def _ask_page(
    workspace: Workspace,
    loaded: Loaded,
    page: Page,
    questions: Sequence[AskedQuestion],
    best: dict[str, _Best],
    ranked: dict[str, list[RankedPage]],
) -> NDArray[np.float32]:
    """Ask one page, keep answers better than before, and return the page's signature."""
    picture, words = picture_and_words(workspace, page.id)
    encoded = loaded.predictor.encode(picture, words.words)
    at_once = questions_at_once(page.width, page.height)
    for start in range(0, len(questions), at_once):
        some = questions[start : start + at_once]
        began = time.perf_counter()
        answers = loaded.predictor.ask_many(
            encoded,
            [question.text for question in some],
            kinds=[question.kind for question in some],
            both_paths=True,
        )
        milliseconds = (time.perf_counter() - began) * 1000 / len(some)
        for key, answer in zip((question.id for question in some), answers, strict=True):
            ranked[key].append(RankedPage(page_id=page.id, answered=answer.answered, score=answer.score))
            if key not in best or answer.answered * answer.score > best[key].worth:
                apart = disagreement(answer) if words.words else 0.0
                stored = stored_answer(answer, words.numbers)
                best[key] = _Best(page.id, stored, answer.score, answer.answered, apart, milliseconds)
    return loaded.predictor.signature(encoded)


def disagreement(answer: Answer) -> float:
    """Return the disagreement of words and pixels of an answer: 1 - IoU; 0 when both are empty."""
    either = int(np.count_nonzero(answer.word_mask | answer.pixel_mask))
    both = int(np.count_nonzero(answer.word_mask & answer.pixel_mask))
    return 1 - both / either if either else 0.0


def _row(
    project_id: str,
    document_id: str,
    question_id: str,
    found: _Best,
    ranked: Sequence[RankedPage],
    version_id: str,
    words_version: int,
) -> SurveyAnswer:
    stored = found.stored
    stored.ranked = sorted(ranked, key=lambda each: each.answered * each.score, reverse=True)
    signs = (found.answered, found.score, found.disagreement, stored.rival)
    return SurveyAnswer(
        project_id=project_id,
        document_id=document_id,
        question_id=question_id,
        model_version_id=version_id,
        page_id=found.page_id,
        words_version=words_version,
        answer=stored.model_dump(mode="json"),
        score=found.score,
        answered=found.answered,
        disagreement=found.disagreement,
        confidence=confidence(*signs),
        uncertainty=uncertainty(*signs),
        milliseconds=found.milliseconds,
    )


def _questions(count: int) -> str:
    return plurals.count(count, "question")


def _documents(count: int) -> str:
    return plurals.count(count, "document")
