"""Simulation of the annotation loop on a dataset with known answers, round after round.

In each round people correct pages, the model is retrained and judged, and the champion is evaluated on unseen pages.
"""

import hashlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from db.tables import Document, ModelVersion, Page, Run
from engine.accounts.users import ensure_local_user
from engine.annotation.answer_service import AnswerService
from engine.errors import Refused
from engine.grounded import GroundedPage, pages_file, read_pages
from engine.interchange.grounded_documents import add_grounded_page, grounded_page_in
from engine.jobs import queue
from engine.models import registry
from engine.projects.projects import change_settings, create_project, project_named
from engine.selection.ordering import order
from engine.selection.survey import disagreement
from engine.selection.uncertainty import best_rival, uncertainty
from engine.settings import Settings
from engine.simulation import checkpoints
from engine.simulation.annotator import SimulatedAnnotator, Work
from engine.simulation.figures import Measured, Round
from engine.synthetic import generate
from engine.training.evaluation.bootstrap import clustered_bootstrap
from engine.training.evaluation.evaluate import evaluate
from engine.training.evaluation.metrics import HIT, Scored
from engine.training.retraining import trigger
from engine.training.retraining.run_settings import OF_DEPLOYMENT, check_settings
from engine.workspace import Workspace, open_workspace
from model.inference import Predictor, Word

POOL = 0.6  # share of a dataset's pages that people correct; the others are never shown
LEVEL = 0.95
_ANSWERING = 0.5  # probability from which a page counts as answering
SELECTIONS = ("random", "model")
_GENERATED_SEED, _GENERATED_PAGES = -2, 80  # no run trains on them, and no gate judges by them
_PAGE_CACHE = 4  # encoded pages: one is asked after the other, beside a training in the same process
_PROJECT = "simulation"
_RANDOM_SHARE = 0.2  # of the pages that the model chooses, as in a project
OnProgress = Callable[[str], None]
DoJobs = Callable[[Workspace], object]

AGAINST: Mapping[str, dict[str, Any]] = {
    "nothing": {},
    "never": {},
    "adamw": {"optimizer": "adamw"},
    "whole": {"mode": "whole"},
    "history": {"mode": "history"},
    "quick": {"depth": "quick"},
    "mean": {"refit": False},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Plan of a simulation.

    `seed`: draws the order of the pages, so that each seed is another draw, and seeds the retrainings. `against`:
    deviation from the product's defaults, to compare. `watched`: another dataset that is never trained on, to measure
    forgetting. `uploaded`: whether all pages of the pool are in the project from the beginning, without answers until
    they are corrected; otherwise each round adds its own.
    """

    rounds: int = 5
    pages: int = 20
    seed: int = 0
    against: str = "nothing"  # a name of AGAINST
    select: str = "random"  # "random" draws the next pages by hash, "model" ranks them by their worth
    watched: Path | None = None
    watched_pages: int = 60
    uploaded: bool = False
    run: Mapping[str, Any] = field(default_factory=dict)  # settings of each retraining

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object, with the settings of its retrainings that a version of the program chooses.

        Raises Refused for an invalid setting of the retrainings.
        """
        chosen = check_settings({"seed": 0, "minutes": 1, **AGAINST[self.against], **self.run})
        settings = chosen.model_dump(exclude={"seed", *OF_DEPLOYMENT})
        return {**asdict(self), "watched": str(self.watched) if self.watched else None, "settings": settings}


@dataclass(frozen=True, slots=True)
class Simulation:
    """Simulation with its dataset and rounds."""

    set: str
    watched: str | None
    pool: int
    unseen: int
    plan: Plan
    rounds: tuple[Round, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "set": self.set,
            "watched": self.watched,
            "pool": self.pool,
            "unseen": self.unseen,
            "plan": self.plan.to_json(),
            "rounds": [asdict(finished_round) for finished_round in self.rounds],
        }


def split_pages(pages: Sequence[GroundedPage]) -> tuple[list[GroundedPage], list[GroundedPage]]:
    """Split pages into pool and unseen pages, by the hash of their ids: independent of the file's order."""
    ordered = sorted(pages, key=lambda page: hashlib.sha256(page.page_id.encode()).digest())
    cut = round(POOL * len(ordered))
    return ordered[:cut], ordered[cut:]


def draw_order(pool: Sequence[GroundedPage], seed: int) -> list[GroundedPage]:
    """Return the pages of a pool in the order of a draw: by the hash of seed and id."""
    return sorted(pool, key=lambda page: hashlib.sha256(f"{seed}:{page.page_id}".encode()).digest())


def simulate(
    source: Path,
    folder: Path,
    settings: Settings,
    plan: Plan,
    *,
    resume: bool = False,
    do_jobs: DoJobs,
    on_progress: OnProgress,
) -> Generator[Round]:
    """Yield the rounds of a simulation, the first one before any retraining; finished rounds of a resumed one, too.

    Args:
        source: Dataset with known answers: a folder with pages.jsonl and images, or such a file.
        folder: Folder that keeps everything; empty, unless a simulation in it is resumed.
        settings: Settings of the deployment, with the initial model.
        plan: Plan of the simulation.
        resume: Go on after the last finished round of the simulation in the folder, if there is one.
        do_jobs: Runs the waiting jobs of a workspace, retrainings included, and returns when none is left.
        on_progress: Called with a sentence at each step.

    Raises:
        Refused: The dataset is too small or unreadable, the folder is in use, or a retraining failed.
    """
    of_deployment = {name: getattr(settings, f"retrain_{name}") for name in OF_DEPLOYMENT}
    begins = None if settings.model_path is None else str(settings.model_path.absolute())
    described = {"source": str(pages_file(source).absolute()), **plan.to_json()}
    described |= {"deployment": {**of_deployment, "model": begins}}
    reached = checkpoints.restore(folder, described) if resume else None
    if reached is None and folder.exists() and any(folder.iterdir()):
        raise Refused(f"{folder} is not empty and holds no simulation; choose an empty folder.")
    pool, unseen = split_pages(pages_of(source))
    if not pool or not unseen:
        raise Refused(
            f"{source} has too few pages to split them for correction and evaluation; choose a larger dataset."
        )
    own = {"data_dir": folder, "database_url": "", "page_cache": _PAGE_CACHE}
    workspace = open_workspace(settings.model_copy(update=own))
    try:
        rounds = _Rounds(workspace, pages_file(source).parent, pool, unseen, plan, do_jobs, on_progress)
        done = list(reached.rounds) if reached is not None else []
        yield from done
        for finished_round in rounds.run_rounds(reached):
            done.append(finished_round)
            checkpoints.save(folder, rounds.checkpoint(described, done))
            yield finished_round
    finally:
        workspace.close()


class _Rounds:
    def __init__(
        self,
        workspace: Workspace,
        images: Path,
        pool: Sequence[GroundedPage],
        unseen: Sequence[GroundedPage],
        plan: Plan,
        do_jobs: DoJobs,
        on_progress: OnProgress,
    ) -> None:
        self._workspace, self._images, self._plan, self._say = workspace, images, plan, on_progress
        self._do_jobs = do_jobs
        self._pool, self._unseen = draw_order(pool, plan.seed), unseen
        self._watched: list[GroundedPage] = []
        if plan.watched is not None:
            self._watched = split_pages(pages_of(plan.watched))[1][: plan.watched_pages]
        self._generated: list[GroundedPage] = []
        self._scored: dict[tuple[str, str], tuple[Scored, ...]] = {}  # by version and dataset

    def run_rounds(self, reached: checkpoints.Checkpoint | None = None) -> Iterator[Round]:
        """Yield the rounds that follow what was reached."""
        registry.ensure_shipped(self._workspace)
        user = ensure_local_user(self._workspace)
        self._answer_service = AnswerService(self._workspace)
        self._annotator = SimulatedAnnotator(self._answer_service, user.id)
        if reached is None:
            project = create_project(self._workspace, _PROJECT, created_by=user.id)
            change_settings(self._workspace, project.id, retrain_automatically=False)
            self._project_id = project.id
            self._first = self._champion(project.id)
            if self._plan.uploaded:
                self._upload(project.id)
            yield self._round(project.id, 0, 0)
        else:
            project = project_named(self._workspace, _PROJECT)
            self._project_id = project.id
            with self._workspace.database.read() as session:
                self._first = session.get_one(ModelVersion, reached.first)
            left = set(reached.left)
            self._pool = [page for page in self._pool if page.page_id in left]
        done = 0 if reached is None else reached.rounds[-1].pages
        begun = 1 if reached is None else len(reached.rounds)
        for number in range(begun, self._plan.rounds + 1):
            if not self._pool:
                return
            chosen = self._next(number)
            work_done = self._correct_pages(project.id, number, chosen)
            done += len(chosen)
            figures = {
                "corrections_a_page": work_done.corrected / len(chosen),
                "edited_words_a_question": work_done.edited_words / max(1, work_done.questions),
                "accepted_unchanged": 1 - work_done.corrected / max(1, work_done.questions),
            }
            if self._plan.against != "never":
                figures |= self._retrain(project.id, number)
                self._answer_service.predictors.refresh()
            yield self._round(project.id, number, done, **figures)

    def checkpoint(self, plan: Mapping[str, Any], rounds: Sequence[Round]) -> checkpoints.Checkpoint:
        """Return the state after these rounds."""
        left = tuple(page.page_id for page in self._pool)
        return checkpoints.Checkpoint(plan, self._first.id, left, tuple(rounds))

    def _next(self, number: int) -> list[GroundedPage]:
        """Return the pages of a round from the remaining ones, as the `selection` of a project would."""
        count = self._plan.pages
        if self._plan.select == "model":
            self._say(f"Round {number}: ranking {len(self._pool)} pages.")
            predictor = self._answer_service.predictors.of(self._project_id).predictor
            unsure, places = zip(*(_worth(predictor, page, self._images) for page in self._pool), strict=True)
            first = order(unsure, np.stack(places), count, _RANDOM_SHARE, self._plan.seed + number)
            taken = [ranked.index for ranked in first]
        else:
            taken = list(range(min(count, len(self._pool))))
        chosen = [self._pool[at] for at in taken]
        self._pool = [page for at, page in enumerate(self._pool) if at not in set(taken)]
        return chosen

    def _correct_pages(self, project_id: str, number: int, chosen: Sequence[GroundedPage]) -> Work:
        total = Work(0, 0, 0)
        for at, page in enumerate(chosen, 1):
            self._say(f"Round {number}: correcting page {at} of {len(chosen)}.")
            if self._plan.uploaded:
                document, stored = grounded_page_in(self._workspace, project_id, page, self._images)
            else:
                document, stored = self._add(project_id, page)
            total += self._annotator.answer(document.id, stored.id, page)
        return total

    def _upload(self, project_id: str) -> None:
        for at, page in enumerate(self._pool, 1):
            self._say(f"Adding page {at} of {len(self._pool)}.")
            self._add(project_id, page)

    def _add(self, project_id: str, page: GroundedPage) -> tuple[Document, Page]:
        return add_grounded_page(self._workspace, project_id, page, self._images, origin="simulation")

    def _retrain(self, project_id: str, number: int) -> dict[str, Any]:
        chosen = {**AGAINST[self._plan.against], **self._plan.run, "seed": 1000 * self._plan.seed + number}
        began = time.monotonic()
        job = trigger.request(self._workspace, project_id, **chosen)
        self._say(f"Round {number}: retraining and judging.")
        self._do_jobs(self._workspace)
        seconds = time.monotonic() - began
        ended = queue.job_by_id(self._workspace, job.id)
        if ended.status != "done":
            raise Refused(f"The retraining of round {number} ended as {ended.status}: {ended.message}")
        with self._workspace.database.read() as session:
            run = session.get_one(Run, ended.result["run_id"])
            challenger = session.get_one(ModelVersion, str(run.challenger_id))
        return {
            "challenger": self._measure(challenger, "unseen"),
            "promoted": bool(ended.result["promoted"]),
            "sentence": str(run.verdict["sentence"]),
            "seconds": seconds,
        }

    def _round(self, project_id: str, number: int, pages: int, **figures: Any) -> Round:
        self._say(f"Round {number}: measuring.")
        version = self._champion(project_id)
        return Round(
            round=number,
            pages=pages,
            version=registry.label(version),
            **asdict(self._measure(version, "unseen")),
            gain=self._gain(version, "unseen"),
            watched=self._measure(version, "watched") if self._watched else None,
            watched_gain=self._gain(version, "watched") if self._watched else None,
            generated=self._measure(version, "generated"),
            **figures,
        )

    def _champion(self, project_id: str) -> ModelVersion:
        with self._workspace.database.read() as session:
            return registry.champion(session, project_id)

    def _answers(self, version: ModelVersion, of: str) -> tuple[Scored, ...]:
        """Return the scores of all questions of a set, the unanswerable ones included."""
        key = (version.checkpoint_sha256, of)
        if key not in self._scored:
            pages, images = self._pages_of_set(of)
            predictor = Predictor.load(
                self._workspace.blobs.path(version.checkpoint_sha256), self._workspace.settings.device
            )
            self._scored[key] = evaluate(predictor, pages, images_from=images, timed=False).scored
        return self._scored[key]

    def _pages_of_set(self, of: str) -> tuple[Sequence[GroundedPage], Path | None]:
        if of == "generated":
            if not self._generated:
                self._generated = [generated.page for generated in islice(generate(_GENERATED_SEED), _GENERATED_PAGES)]
            return self._generated, None
        return (self._unseen, self._images) if of == "unseen" else (self._watched, _images(self._plan))

    def _answerable(self, version: ModelVersion, of: str) -> list[Scored]:
        return [answer for answer in self._answers(version, of) if answer.answerable]

    def _measure(self, version: ModelVersion, of: str) -> Measured:
        scored = self._answerable(version, of)
        pages = [answer.page_id for answer in scored]
        hits = clustered_bootstrap(pages, [float(answer.iou > HIT) for answer in scored], level=LEVEL)
        ious = clustered_bootstrap(pages, [answer.iou for answer in scored], level=LEVEL)
        if hits is None or ious is None:
            raise Refused("None of the unseen pages has an answer; choose another dataset.")
        absent = [answer.answered < _ANSWERING for answer in self._answers(version, of) if not answer.answerable]
        declined = sum(absent) / len(absent) if absent else None
        return Measured(hits.mean, ious.mean, (hits.low, hits.high), (ious.low, ious.high), declined)

    def _gain(self, version: ModelVersion, of: str) -> tuple[float, float, float] | None:
        if version.id == self._first.id:
            return None
        before, after = self._answerable(self._first, of), self._answerable(version, of)
        gain = clustered_bootstrap(
            [answer.page_id for answer in before],
            [float(new.iou > HIT) - float(old.iou > HIT) for old, new in zip(before, after, strict=True)],
            level=LEVEL,
        )
        return None if gain is None else (gain.mean, gain.low, gain.high)


def _worth(predictor: Predictor, page: GroundedPage, images: Path) -> tuple[float, NDArray[np.float32]]:
    """Return the mean uncertainty of a model on a page's answers, and the page's signature."""
    with Image.open(images / str(page.image)) as image:
        words = [Word(word.text, word.box) for word in page.words]
        encoded = predictor.encode(image.convert("RGB"), words, (page.width, page.height))
    asked = list(dict.fromkeys(question.question for question in page.questions))
    unsure = [
        uncertainty(
            answer.answered,
            answer.score,
            disagreement(answer),
            best_rival(candidate.score for candidate in answer.candidates),
        )
        for answer in predictor.ask_in_turn(encoded, asked)
    ]
    return float(np.mean(unsure)) if unsure else 0.0, predictor.signature(encoded)


def name_of(source: Path) -> str:
    """Return the name of a dataset: that of its folder."""
    return pages_file(source).absolute().parent.name


def pages_of(source: Path) -> list[GroundedPage]:
    """Return the pages of a dataset. Raises Refused when it cannot be read."""
    try:
        return list(read_pages(source))
    except (OSError, ValueError) as error:
        raise Refused(str(error)) from None


def _images(plan: Plan) -> Path | None:
    return None if plan.watched is None else pages_file(plan.watched).parent
