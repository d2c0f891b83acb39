"""Judging phase of a run: champion and challenger answer the same holdouts, then the gate decides."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from engine.grounded import GroundedPage
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.synthetic import SyntheticPage, generate
from engine.training.evaluation.evaluate import Evaluation, ImageOf, evaluate
from engine.training.retraining import changes, gate
from engine.training.retraining.latency import compared
from engine.training.retraining.run_settings import RunSettings
from engine.training.sources.corpus import Corpus, corpus_of, image_opener
from engine.workspace import Workspace
from model.inference import Predictor

HOLDOUT_SEED = -1  # runs draw replay from seeds above 0, so the generated holdout is never trained on
SEEN_AS_IMAGE = 4  # every fourth generated page is asked with its image, the others by words, to save time
_TAUGHT_PAGES = 20


@dataclass(frozen=True, slots=True)
class AskedPages:
    """Holdout before it is answered."""

    name: str
    pages: list[GroundedPage]
    documents: Mapping[str, str]
    images_from: ImageOf


def judge(
    workspace: Workspace,
    champion: Path,
    challenger: Path,
    *,
    taught: Corpus,
    holdouts_sha256: str | None,
    settings: RunSettings,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> dict[str, Any]:
    """Ask both checkpoints the questions of every holdout; return the gate's verdict (see gate.judge).

    `holdouts_sha256`: manifest of the accepted answers on documents of the splits recent and frozen; None without any.
    Raises Stopped when `should_stop` gives a reason.
    """
    asked = _holdouts(workspace, taught, holdouts_sha256, settings)
    both = Predictor.load(champion), Predictor.load(challenger)
    holdouts = _answered(both, asked, on_progress, should_stop)
    on_progress(1.0, "Comparing latency.")
    pace = compared(*both, [page for one in asked for page in one.pages], should_stop=should_stop)
    check(should_stop)
    verdict = gate.judge(holdouts, latency=pace, seed=settings.seed)
    return {
        **verdict,
        "changes_sha256": changes.keep(
            workspace, holdouts, {page.page_id: page for one in asked for page in one.pages}
        ),
    }


def check_refit(
    workspace: Workspace,
    champion: Path,
    refitted: Path,
    *,
    taught: Corpus,
    settings: RunSettings,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> dict[str, Any]:
    """Ask the weights in use before and after generated pages and pages of `taught`; return gate.check's outcome.

    Raises Stopped when `should_stop` gives a reason.
    """
    asked = [_generated(settings.generated_pages), _taught(workspace, taught)]
    both = Predictor.load(champion), Predictor.load(refitted)
    return gate.check(_answered(both, asked, on_progress, should_stop), seed=settings.seed)


def _answered(
    both: tuple[Predictor, Predictor], asked: list[AskedPages], on_progress: OnProgress, should_stop: ShouldStop
) -> list[gate.Holdout]:
    """Return the answers of champion and challenger to all questions."""
    total = 2 * sum(len(one.pages) for one in asked)
    done = 0
    answers: dict[str, list[Evaluation]] = {one.name: [] for one in asked}
    for predictor in both:
        for one in asked:
            before = done

            def report(pages: int, before: int = before, name: str = one.name) -> None:
                """Report the progress of one holdout."""
                on_progress((before + pages) / max(1, total), f"Comparing with the model in use {gate.CALLED[name]}.")

            answers[one.name].append(
                evaluate(
                    predictor,
                    one.pages,
                    images_from=one.images_from,
                    timed=False,
                    on_page=report,
                    should_stop=should_stop,
                )
            )
            check(should_stop)
            done += len(one.pages)
    return [gate.Holdout(one.name, one.documents, *(found.scored for found in answers[one.name])) for one in asked]


def _holdouts(
    workspace: Workspace, taught: Corpus, holdouts_sha256: str | None, settings: RunSettings
) -> list[AskedPages]:
    asked = [_generated(settings.generated_pages)]
    held_out = 0
    if holdouts_sha256 is not None:
        asked += _own(workspace, holdouts_sha256, settings, gate.RECENT, gate.FROZEN)
        held_out = sum(len({one.documents[page.page_id] for page in one.pages if _answers(page)}) for one in asked[1:])
    if held_out < gate.FEWEST_DOCUMENTS:
        asked.append(_taught(workspace, taught))
    return asked


def _taught(workspace: Workspace, taught: Corpus) -> AskedPages:
    some = _some(list(taught.pages), _TAUGHT_PAGES)
    return AskedPages(gate.TAUGHT, some, taught.documents, image_opener(workspace))


def _own(workspace: Workspace, holdouts_sha256: str, settings: RunSettings, *splits: str) -> list[AskedPages]:
    """Return the pages of a manifest that lie in some splits."""
    corpus = corpus_of(workspace, holdouts_sha256)
    found = [(split, _some(corpus.of(split), settings.holdout_pages)) for split in splits]
    images = image_opener(workspace)
    return [AskedPages(split, pages, corpus.documents, images) for split, pages in found if pages]


def _generated(count: int) -> AskedPages:
    made: dict[str, tuple[int, SyntheticPage]] = {
        one.page.page_id: (number, one) for number, one in enumerate(islice(generate(HOLDOUT_SEED), count))
    }

    @cache
    def image_of(page_id: str) -> Image.Image | None:
        """Return the image of a generated page, or None."""
        number, one = made[page_id]
        return one.render() if number % SEEN_AS_IMAGE == 0 else None

    pages = [one.page for _, one in made.values()]
    return AskedPages(
        gate.GENERATED, pages, {page.page_id: page.page_id for page in pages}, lambda page: image_of(page.page_id)
    )


def _answers(page: GroundedPage) -> bool:
    return any(question.answerable for question in page.questions)


def _some(pages: list[GroundedPage], most: int) -> list[GroundedPage]:
    """Return at most `most` pages, by hash: stable across runs and new pages."""
    return sorted(pages, key=lambda page: hashlib.sha256(page.page_id.encode()).digest())[:most]
