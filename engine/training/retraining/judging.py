"""Judging phase of a run: champion and challenger answer the same holdouts, then the gate decides.

Some pages asked of one version are a part, which an executor runs here or on another machine (engine.executors).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from db.tables import ModelVersion
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.grounded import GroundedPage
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.models import registry
from engine.models.folds import fold_of
from engine.synthetic import SyntheticPage, generate
from engine.training.evaluation.evaluate import ImageOf, evaluate
from engine.training.evaluation.judged_values import KnownValues
from engine.training.evaluation.metrics import Scored
from engine.training.retraining import changes, gate
from engine.training.retraining.folds import FOLDS, known_to
from engine.training.retraining.latency import compare_latency
from engine.training.retraining.page_choice import choose_spread, of_weight
from engine.training.retraining.run_settings import RunSettings
from engine.training.retraining.same_text import with_places_of_the_same_text
from engine.training.sources.corpus import Corpus, corpus_of, image_opener
from engine.workspace import Workspace
from model.inference import Predictor

HOLDOUT_SEED = -1  # runs draw replay from seeds above 0, so the generated holdout is never trained on
SEEN_AS_IMAGE = 4  # every fourth generated page is asked with its image, the others by words, to save time
_AT_ONCE = 25  # pages of one part
_TAUGHT_PAGES = 20
_REFIT_TIMES = 4  # generated pages of a refit, as a multiple of a verdict's: no other pages judge it on "no answer"


@dataclass(frozen=True, slots=True)
class AskedPages:
    """Pages of a holdout before they are answered.

    Attributes:
        name: Name of the holdout.
        pages: Its pages.
        documents: Document of each page.
        generated: How many pages were generated for it; 0: their images are stored.
        both: Blobs of the weights of the champion and of the challenger.
        values: Fields of the questions, and accepted values of the pages.
    """

    name: str
    pages: list[GroundedPage]
    documents: Mapping[str, str]
    generated: int
    both: tuple[str, str]
    values: KnownValues = field(default_factory=KnownValues)


def judge(
    workspace: Workspace,
    champion: ModelVersion,
    challenger: ModelVersion,
    *,
    snapshot_sha256: str,
    settings: RunSettings,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> dict[str, Any]:
    """Ask both versions the questions of every holdout; return the gate's verdict (see gate.judge).

    Accepted documents are asked of the weights of their fold (folds.py). `snapshot_sha256`: manifest of the accepted
    answers. Raises Stopped when `should_stop` gives a reason.
    """
    asked = _holdouts(workspace, champion, challenger, snapshot_sha256, settings)
    device = workspace.settings.device
    holdouts = _answer_holdouts(workspace, asked, on_progress, should_stop)
    on_progress(1.0, "Comparing latency.")
    first, second = (workspace.blobs.path(sha256) for sha256 in asked[0].both)
    both = Predictor.load(first, device), Predictor.load(second, device)
    pace = compare_latency(*both, [page for holdout in asked for page in holdout.pages], should_stop=should_stop)
    check(should_stop)
    verdict = gate.judge(holdouts, latency=pace, seed=settings.seed)
    return {
        **verdict,
        "changes_sha256": changes.keep(
            workspace, holdouts, {page.page_id: page for holdout in asked for page in holdout.pages}
        ),
    }


def check_refit(
    workspace: Workspace,
    judged: Path,
    refitted: Path,
    *,
    taught: Corpus,
    own: int,
    settings: RunSettings,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> dict[str, Any]:
    """Ask the judged and the refitted weights generated pages and pages of `taught`; return gate.check's outcome.

    `own`: number of own documents in the verdict, which decides what may be lost on generated pages.

    Raises Stopped when `should_stop` gives a reason.
    """
    both = workspace.blobs.put_file(judged), workspace.blobs.put_file(refitted)  # where other machines find them
    asked = [_generated_pages(_REFIT_TIMES * settings.generated_pages, both), _taught_pages(taught, both)]
    answered = _answer_holdouts(workspace, asked, on_progress, should_stop, "the mean of the folds")
    return gate.check(answered, own=own, seed=settings.seed)


def _answer_holdouts(
    workspace: Workspace,
    asked: list[AskedPages],
    on_progress: OnProgress,
    should_stop: ShouldStop,
    compared_with: str = "the model in use",
) -> list[gate.Holdout]:
    """Return the answers of champion and challenger to all questions, by holdout."""
    courses = [
        (holdout, side, holdout.pages[start : start + _AT_ONCE])
        for holdout in asked
        for side in range(2)
        for start in range(0, len(holdout.pages), _AT_ONCE)
    ]
    total = max(1, sum(len(pages) for _, _, pages in courses))
    done: dict[int, int] = {}

    def report(number: int, pages: int) -> None:
        """Report the progress of all."""
        done[number] = pages
        name = courses[number][0].name
        on_progress(sum(done.values()) / total, f"Comparing with {compared_with} {gate.CALLED[name]}.")

    try:
        of_courses = run_parts(
            executor_of(workspace, should_stop),
            (
                Part(answer_pages, (pages, holdout.generated, holdout.both[side], _values_of(holdout, pages)))
                for holdout, side, pages in courses
            ),
            on_report=report,
            should_stop=should_stop,
        )
    finally:
        _predictor.cache_clear()
    answers: dict[str, tuple[dict[str, str], list[Scored], list[Scored]]] = {}
    for (holdout, side, pages), scored in zip(courses, of_courses, strict=True):
        documents, *of_both = answers.setdefault(holdout.name, ({}, [], []))
        documents.update({page.page_id: holdout.documents[page.page_id] for page in pages})
        of_both[side].extend(scored)
    return [gate.Holdout(name, *of_holdout) for name, of_holdout in answers.items()]


def _values_of(holdout: AskedPages, pages: list[GroundedPage]) -> KnownValues:
    return holdout.values.of_pages([page.page_id for page in pages])


def answer_pages(
    workspace: Workspace,
    pages: list[GroundedPage],
    generated: int,
    weights: str,
    values: KnownValues,
    *,
    report: Report,
    should_stop: ShouldStop,
) -> tuple[Scored, ...]:
    """Ask weights (a blob) the questions of some pages, and return the scores; see `engine.executors`.

    `generated` and `values`: as of AskedPages. Reports the number of pages that are done.
    """
    check(should_stop)
    evaluation = evaluate(
        _predictor(workspace.blobs.path(weights), workspace.settings.device),
        pages,
        images_from=_images_of_generated(generated) if generated else image_opener(workspace),
        values=values,
        timed=False,
        on_page=report,
        should_stop=should_stop,
    )
    check(should_stop)
    return evaluation.scored


@lru_cache(maxsize=2)
def _predictor(path: Path, device: str) -> Predictor:
    """Return the predictor of some weights; several parts of a process ask the same."""
    return Predictor.load(path, device)


def _holdouts(
    workspace: Workspace, champion: ModelVersion, challenger: ModelVersion, snapshot_sha256: str, settings: RunSettings
) -> list[AskedPages]:
    whole = champion.checkpoint_sha256, challenger.checkpoint_sha256
    registry.checkpoint_path(workspace, champion)  # says it where one is missing
    registry.checkpoint_path(workspace, challenger)
    asked = [_generated_pages(settings.generated_pages, whole)]
    corpus = corpus_of(workspace, snapshot_sha256)
    own = _own_pages(workspace, champion, challenger, corpus, settings.holdout_pages)
    if sum(len({holdout.documents[page.page_id] for page in holdout.pages if _answers(page)}) for holdout in own) < (
        gate.FEWEST_DOCUMENTS
    ):
        asked.append(_taught_pages(corpus, whole))
    return [*asked, *own]


def _own_pages(
    workspace: Workspace, champion: ModelVersion, challenger: ModelVersion, corpus: Corpus, most: int
) -> list[AskedPages]:
    """Return the pages of each fold that the champion does not know, with the weights that have not learned them."""
    registry.fold_paths(workspace, challenger)
    challengers = challenger.fold_sha256s
    if not challengers:
        return []
    registry.fold_paths(workspace, champion)
    champions = champion.fold_sha256s or [champion.checkpoint_sha256] * FOLDS
    known = known_to(workspace, champion)
    fresh = _some(corpus, [page for page in corpus.pages if corpus.documents[page.page_id] not in known], most)
    asked = []
    for fold, both in enumerate(zip(champions, challengers, strict=True)):
        pages = [page for page in fresh if fold_of(corpus.group(page)) == fold]
        if pages:
            asked.append(AskedPages(gate.OWN, pages, corpus.documents, 0, both, corpus.values))
    return asked


def _taught_pages(taught: Corpus, both: tuple[str, str]) -> AskedPages:
    some = _some(taught, taught.pages, _TAUGHT_PAGES)
    return AskedPages(gate.TAUGHT, some, taught.documents, 0, both, taught.values)


def _generated_pages(count: int, both: tuple[str, str]) -> AskedPages:
    pages = [made.page for made in islice(generate(HOLDOUT_SEED), count)]
    return AskedPages(gate.GENERATED, pages, {page.page_id: page.page_id for page in pages}, count, both)


@lru_cache(maxsize=2)
def _images_of_generated(count: int) -> ImageOf:
    """Return what draws the images of the first pages of the generated holdout; None for those asked by words."""
    drawn: dict[str, SyntheticPage] = {
        made.page.page_id: made
        for number, made in enumerate(islice(generate(HOLDOUT_SEED), count))
        if number % SEEN_AS_IMAGE == 0
    }

    @cache
    def image_of(page_id: str) -> Image.Image | None:
        """Return the image of a page."""
        made = drawn.get(page_id)
        return None if made is None else made.render()

    return lambda page: image_of(page.page_id)


def _answers(page: GroundedPage) -> bool:
    return any(question.answerable for question in page.questions)


def _some(corpus: Corpus, pages: Iterable[GroundedPage], most: int) -> list[GroundedPage]:
    """Return at most `most` accepted pages with answers of weight; all places of a text count."""
    asked = (of_weight(page, corpus.weights) for page in pages)
    some = choose_spread((page for page in asked if page.questions), corpus.documents, most)
    return [with_places_of_the_same_text(page) for page in some]
