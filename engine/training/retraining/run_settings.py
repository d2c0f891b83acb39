"""Settings of a retraining run, stored in its row: a resumed run keeps them."""

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import Refused
from engine.settings import Settings

# quick: the encoders are frozen, so an image is encoded once, its features are cached, and no gradient flows through
# them. Fusion, prompt encoder and both heads are trained, as in SAM's data engine, where decoders are retrained more
# often than encoders (https://arxiv.org/abs/2304.02643, section 4).
Depth = Literal["quick", "full"]


class RunSettings(BaseModel):
    """Settings of one retraining run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(ge=0)
    steps: int = Field(ge=1)
    minutes: float = Field(gt=0, description="Time limit: steps are reduced to fit, as timed at the start.")
    depth: Depth = Field("quick", description="quick: the encoders are frozen. full: all parameters are trained.")
    optimizer: Literal["natural_gradient", "adamw"] = "natural_gradient"
    mode: str = Field("default", description="Name in model.optim.MODES; natural_gradient only.")
    rate: float = Field(5e-4, gt=0, description="Learning rate after the warm-up; for AdamW, half of it works well.")
    matrix_rate: float = Field(
        4.0, gt=0, description="Learning rate of weight matrices, as a multiple of `rate`; natural_gradient only."
    )
    weight_decay: float = Field(0.01, ge=0)
    begin: Literal["champion", "origin"] = Field(
        "champion", description="Initial weights: the champion's, or the origin of all versions."
    )
    blend: float = Field(
        0.85, gt=0, le=1, description="Weight interpolation: 0 keeps the initial weights, 1 the trained ones."
    )
    replay: float = Field(0.5, ge=0, lt=1, description="Share of the steps on generated pages.")
    absent: float = Field(0.3, ge=0, lt=1, description="Share of negative questions in the other steps.")
    disguised: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of the corrected pages of words that are stretched; smaller shares are misread or ciphered.",
    )
    images: float = Field(0.1, ge=0, le=1, description="Share of the steps that read an image: one page each.")
    pages: int = Field(4, ge=1, description="Pages of a step that reads words only.")
    questions: int = Field(8, ge=1, description="Questions per page in a step.")
    watched: float = Field(
        0.1, ge=0, lt=0.5, description="Share of the training documents held out for early stopping."
    )
    patience: int = Field(
        4,
        ge=1,
        description="Checkpoints in a row with a held-out loss clearly above the initial one, after which a run ends.",
    )
    checkpoint_every: int = Field(25, ge=1)
    metrics_every: int = Field(5, ge=1)
    holdout_pages: int = Field(60, ge=1, description="Maximum number of pages asked of a holdout.")
    generated_pages: int = Field(40, ge=1, description="Pages of the generated holdout.")


def settings_for(settings: Settings, job_id: str, chosen: dict[str, Any]) -> RunSettings:
    """Return the settings of a run: `chosen` values over the deployment's defaults.

    The seed is derived from the job, so it is known and unique. Raises Refused for an invalid value.
    """
    seed = int.from_bytes(hashlib.sha256(job_id.encode()).digest()[:4], "big") >> 1
    given = {"seed": seed, "steps": settings.retrain_steps, "minutes": settings.retrain_minutes, **chosen}
    try:
        return RunSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"The run's setting {'.'.join(map(str, first['loc']))} is invalid: {first['msg']}.") from None
