"""Settings of a retraining run, stored in its row: a resumed run keeps them."""

import hashlib
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from engine.errors import Refused
from engine.models.pruning import MEAN_OF_FOLDS
from engine.plurals import count
from engine.settings import Settings

# Stored with a run's settings, and none of them: determined during the run, or of earlier versions of the program.
BEGINS_AT = "begins_at"  # version whose weights are the initial ones
PAGES = "pages_taught"  # number of corrected pages
READ_AS = "pages_read_as"  # as how many pages they count in a step; missing in earlier runs
FOLDED = "folded"  # whether the challenger is judged by folds; otherwise it is trained once, on all pages
FOLD_STEPS, HANDED_IN = "fold_steps", "handed_in_at"  # of each fold: last step, and step of the weights handed in
REFIT_STEPS = "refit_steps"  # steps of the weights in use
LATE = "late"  # whether the clock ended a training before its steps
MADE_WITH = "made_with"  # versions of software
# Of pages without labels: SHA-256 of their list, numbers of pages and documents; or why none took part, a sentence.
UNLABELLED_LIST, UNLABELLED_PAGES, UNLABELLED_DOCUMENTS, UNLABELLED_NONE = (
    "unlabelled_sha256", "unlabelled_pages", "unlabelled_documents", "unlabelled_none",
)  # fmt: skip
HOLDOUTS, ENDED_AT, DISTILLED = "holdouts_sha256", "ended_at", "distilled"  # of earlier versions
_BESIDE = (
    BEGINS_AT, PAGES, READ_AS, FOLDED, FOLD_STEPS, HANDED_IN, REFIT_STEPS, LATE, MADE_WITH, MEAN_OF_FOLDS,
    HOLDOUTS, ENDED_AT, DISTILLED,
    UNLABELLED_LIST, UNLABELLED_PAGES, UNLABELLED_DOCUMENTS, UNLABELLED_NONE,
)  # fmt: skip

MOST_SEED = 2**31 - 1  # a column of 32 bits keeps it
OF_DEPLOYMENT = ("steps", "minutes", "refit", "unlabelled")  # their defaults are settings, GLOSSATOR_RETRAIN_...

# quick: the encoders are frozen, so an image is encoded once, its features are cached, and no gradient flows through
# them. Fusion, prompt encoder and both heads are trained, as in SAM's data engine, where decoders are retrained more
# often than encoders (https://arxiv.org/abs/2304.02643, section 4).
Depth = Literal["quick", "full"]


class RunSettings(BaseModel):
    """Settings of one retraining run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(ge=0)
    steps: int = Field(
        0, ge=0, description="Training steps at most; 0: by the number of corrected pages (run_length.py)."
    )
    cycle: int | None = Field(
        None, ge=1, description="Steps after which a run may end with finished weights; determined when it begins."
    )
    minutes: float = Field(gt=0, description="Time limit: steps are reduced to fit, as timed at the start.")
    depth: Depth = Field("full", description="quick: the encoders are frozen. full: all parameters are trained.")
    optimizer: Literal["natural_gradient", "adamw"] = "natural_gradient"
    mode: str = Field("blocks", description="Name in model.optim.MODES; natural_gradient only.")
    rate: float = Field(
        default_factory=lambda chosen: 5e-4 if chosen.get("optimizer") == "adamw" else 3.5e-4,
        gt=0,
        description="Learning rate after the warm-up: by default 5e-4 for adamw, 3.5e-4 for natural_gradient.",
    )
    matrix_rate: float = Field(
        default_factory=lambda chosen: 2.0 if chosen.get("mode") == "whole" else 4.0,  # whole moves weights further
        gt=0,
        description="Learning rate of weight matrices, as a multiple of `rate`: by default 2 in the mode whole, 4 in "
        "others; natural_gradient only.",
    )
    weight_decay: float = Field(0.01, ge=0)
    begin: Literal["champion", "origin"] = Field(
        "champion", description="Initial weights: the champion's, or the origin of all versions."
    )
    refit: bool = Field(
        True,
        description="After a passed verdict, train once more on all accepted pages, for use; otherwise the mean of the "
        "weights of the folds is used.",
    )
    blend: float = Field(
        0.85, gt=0, le=1, description="Weight interpolation: 0 keeps the initial weights, 1 the trained ones."
    )
    replay: float = Field(0.5, ge=0, lt=1, description="Share of the steps on generated pages.")
    unlabelled: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Share of the steps that learn masked words from pages without labels; 0: none. A run in which no "
        "such page can take part stores 0.",
    )
    absent: float = Field(0.3, ge=0, lt=1, description="Share of negative questions in the other steps.")
    disguised: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of the corrected pages of words that are stretched; smaller shares are misread or ciphered.",
    )
    images: float = Field(0.1, ge=0, le=1, description="Share of the steps that read an image: one page each.")
    pages: int = Field(4, ge=1, description="Pages of a step that reads words only.")
    accumulate: int = Field(
        1, ge=1, description="Times that many pages in a step, a part in each of the processes that train together."
    )
    questions: int = Field(8, ge=1, description="Questions per page in a step.")
    watched: float = Field(
        0.1,
        ge=0,
        lt=0.5,
        description="Share of the documents of a training held out for early stopping; like ones together.",
    )
    patience: int = Field(
        4,
        ge=1,
        description="Checkpoints in a row with a held-out loss clearly above the initial one, after which a run ends.",
    )
    checkpoint_every: int = Field(25, ge=1)
    metrics_every: int = Field(5, ge=1)
    holdout_pages: int = Field(120, ge=1, description="Maximum number of own pages asked.")
    generated_pages: int = Field(40, ge=1, description="Pages of the generated holdout.")

    @field_validator("mode")
    @classmethod
    def _read_earlier_name(cls, mode: str) -> str:
        """Read the name that the mode of runs of earlier versions had, so that they can be reproduced."""
        return "blocks" if mode == "default" else mode


def settings_for(settings: Settings, job_id: str, chosen: dict[str, Any]) -> RunSettings:
    """Return the settings of a run: `chosen` values over the deployment's defaults.

    The seed is derived from the job, so it is known and unique. Raises Refused for an invalid value.
    """
    seed = int.from_bytes(hashlib.sha256(job_id.encode()).digest()[:4], "big") >> 1
    of_deployment = {name: getattr(settings, f"retrain_{name}") for name in OF_DEPLOYMENT}
    return check_settings({"seed": seed, **of_deployment, **chosen})


def check_settings(values: Mapping[str, Any]) -> RunSettings:
    """Return settings from values by name. Raises Refused for an invalid one."""
    if values.get("seed", 0) > MOST_SEED:
        raise Refused(f"The run's setting seed is invalid: at most {MOST_SEED:,} can be stored.")
    try:
        return RunSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"The run's setting {'.'.join(map(str, first['loc']))} is invalid: {first['msg']}.") from None


def stored_settings(stored: Mapping[str, Any]) -> RunSettings:
    """Return the settings in a run's row, without what was determined during the run."""
    return RunSettings.model_validate({name: value for name, value in stored.items() if name not in _BESIDE})


def unlabelled_sentence(stored: Mapping[str, Any]) -> str:
    """Return how many pages without labels took part in a run, or why none did; empty where none was wanted."""
    if UNLABELLED_LIST not in stored:
        return str(stored.get(UNLABELLED_NONE, ""))
    pages, documents = count(stored[UNLABELLED_PAGES], "page"), count(stored[UNLABELLED_DOCUMENTS], "document")
    return f"{pages} without labels, of {documents}, took part: {stored['unlabelled']:.0%} of the steps."


def fold_settings(settings: RunSettings) -> RunSettings:
    """Return the settings of a fold: half of the steps of the weights in use, because it only compares."""
    cycle = settings.cycle or settings.steps
    half = max(1, cycle // 2)
    return settings.model_copy(update={"steps": half * (settings.steps // cycle), "cycle": half})


def unfolded_settings(settings: RunSettings) -> RunSettings:
    """Return the settings of the only training of a run with too few documents for folds: all of them teach.

    Early stopping needs more documents than such a run has.
    """
    return settings.model_copy(update={"watched": 0.0})


def one_cycle(settings: RunSettings) -> RunSettings:
    """Return the settings of a training that nothing tells whether to go on: it ends with its first cycle."""
    return settings.model_copy(update={"steps": settings.cycle or settings.steps})


def refit_settings(settings: RunSettings, handed_in: Sequence[int]) -> RunSettings:
    """Return the settings of the weights in use: all pages teach, for as long as the folds of a run gained.

    `handed_in`: of each fold, the step of the weights that it handed in; empty without folds.
    """
    steps = min(settings.steps, 2 * round(statistics.median(handed_in))) if handed_in else settings.steps
    return settings.model_copy(update={"steps": max(1, steps), "watched": 0.0 if handed_in else settings.watched})
