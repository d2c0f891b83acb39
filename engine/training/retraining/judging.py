"""Judging phase of a run: champion and challenger answer the same holdouts, then the gate decides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from db.tables import ModelVersion
from engine.grounded import GroundedPage
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.models import registry
from engine.models.folds import fold_of
from engine.synthetic import SyntheticPage, generate
from engine.training.evaluation.evaluate import ImageOf, evaluate
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
_TAUGHT_PAGES = 20
_REFIT_TIMES = 4  # generated pages of a refit, as a multiple of a verdict's: no other pages judge it on "no answer"


@dataclass(frozen=True, slots=True)
class AskedPages:
    """Pages of a holdout before they are answered; `both`: weights of the champion and of the challenger."""

    name: str
    pages: list[GroundedPage]
    documents: Mapping[str, str]
    images_from: ImageOf
    both: tuple[Path, Path]


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
    holdouts = _answer_holdouts(asked, device, on_progress, should_stop)
    on_progress(1.0, "Comparing latency.")
    both = Predictor.load(asked[0].both[0], device), Predictor.load(asked[0].both[1], device)
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
    both = judged, refitted
    asked = [_generated_pages(_REFIT_TIMES * settings.generated_pages, both), _taught_pages(workspace, taught, both)]
    device = workspace.settings.device
    answered = _answer_holdouts(asked, device, on_progress, should_stop, "the mean of the folds")
    return gate.check(answered, own=own, seed=settings.seed)


def _answer_holdouts(
    asked: list[AskedPages],
    device: str,
    on_progress: OnProgress,
    should_stop: ShouldStop,
    compared_with: str = "the model in use",
) -> list[gate.Holdout]:
    """Return the answers of champion and challenger to all questions, by holdout."""
    total = 2 * sum(len(holdout.pages) for holdout in asked)
    done = 0
    answers: dict[str, tuple[dict[str, str], list[Scored], list[Scored]]] = {}
    for holdout in asked:
        documents, *of_both = answers.setdefault(holdout.name, ({}, [], []))
        documents.update({page.page_id: holdout.documents[page.page_id] for page in holdout.pages})
        for path, scored in zip(holdout.both, of_both, strict=True):
            before = done

            def report(pages: int, before: int = before, name: str = holdout.name) -> None:
                """Report the progress of one holdout."""
                on_progress((before + pages) / max(1, total), f"Comparing with {compared_with} {gate.CALLED[name]}.")

            predictor = Predictor.load(path, device)
            evaluation = evaluate(
                predictor,
                holdout.pages,
                images_from=holdout.images_from,
                timed=False,
                on_page=report,
                should_stop=should_stop,
            )
            check(should_stop)
            scored.extend(evaluation.scored)
            done += len(holdout.pages)
    return [gate.Holdout(name, *of_holdout) for name, of_holdout in answers.items()]


def _holdouts(
    workspace: Workspace, champion: ModelVersion, challenger: ModelVersion, snapshot_sha256: str, settings: RunSettings
) -> list[AskedPages]:
    whole = registry.checkpoint_path(workspace, champion), registry.checkpoint_path(workspace, challenger)
    asked = [_generated_pages(settings.generated_pages, whole)]
    corpus = corpus_of(workspace, snapshot_sha256)
    own = _own_pages(workspace, champion, challenger, corpus, settings.holdout_pages)
    if sum(len({holdout.documents[page.page_id] for page in holdout.pages if _answers(page)}) for holdout in own) < (
        gate.FEWEST_DOCUMENTS
    ):
        asked.append(_taught_pages(workspace, corpus, whole))
    return [*asked, *own]


def _own_pages(
    workspace: Workspace, champion: ModelVersion, challenger: ModelVersion, corpus: Corpus, most: int
) -> list[AskedPages]:
    """Return the pages of each fold that the champion does not know, with the weights that have not learned them."""
    challengers = registry.fold_paths(workspace, challenger)
    if not challengers:
        return []
    champions = registry.fold_paths(workspace, champion) or [registry.checkpoint_path(workspace, champion)] * FOLDS
    known = known_to(workspace, champion)
    fresh = _some(corpus, [page for page in corpus.pages if corpus.documents[page.page_id] not in known], most)
    images = image_opener(workspace)
    asked = []
    for fold, both in enumerate(zip(champions, challengers, strict=True)):
        pages = [page for page in fresh if fold_of(corpus.group(page)) == fold]
        if pages:
            asked.append(AskedPages(gate.OWN, pages, corpus.documents, images, both))
    return asked


def _taught_pages(workspace: Workspace, taught: Corpus, both: tuple[Path, Path]) -> AskedPages:
    some = _some(taught, taught.pages, _TAUGHT_PAGES)
    return AskedPages(gate.TAUGHT, some, taught.documents, image_opener(workspace), both)


def _generated_pages(count: int, both: tuple[Path, Path]) -> AskedPages:
    made: dict[str, tuple[int, SyntheticPage]] = {
        made_page.page.page_id: (number, made_page)
        for number, made_page in enumerate(islice(generate(HOLDOUT_SEED), count))
    }

    @cache
    def image_of(page_id: str) -> Image.Image | None:
        """Return the image of a generated page, or None."""
        number, made_page = made[page_id]
        return made_page.render() if number % SEEN_AS_IMAGE == 0 else None

    pages = [made_page.page for _, made_page in made.values()]
    documents = {page.page_id: page.page_id for page in pages}
    return AskedPages(gate.GENERATED, pages, documents, lambda page: image_of(page.page_id), both)


def _answers(page: GroundedPage) -> bool:
    return any(question.answerable for question in page.questions)


def _some(corpus: Corpus, pages: Iterable[GroundedPage], most: int) -> list[GroundedPage]:
    """Return at most `most` accepted pages with answers of weight; all places of a text count."""
    asked = (of_weight(page, corpus.weights) for page in pages)
    some = choose_spread((page for page in asked if page.questions), corpus.documents, most)
    return [with_places_of_the_same_text(page) for page in some]
