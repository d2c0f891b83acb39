"""What a run chooses, written into its row: a resumed run goes on with the same."""

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.errors import Refused
from engine.settings import Settings
from engine.training.retraining.depth import Depth


class RunSettings(BaseModel):
    """Settings of one retraining."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(ge=0)
    steps: int = Field(ge=1)
    minutes: float = Field(gt=0, description="The steps are cut to what fits into this, as timed at the start.")
    depth: Depth = Field("quick", description="quick: the encoders stay as they are. full: everything learns.")
    optimizer: Literal["natural_gradient", "adamw"] = "natural_gradient"
    mode: str = Field("default", description="Row of the table of model.optim.MODES; natural_gradient only.")
    rate: float = Field(5e-4, gt=0, description="Learning rate after the warm-up; AdamW learns well at half of it.")
    matrix_rate: float = Field(
        4.0, gt=0, description="That of weight matrices, as its multiple; natural_gradient only."
    )
    weight_decay: float = Field(0.01, ge=0)
    begin: Literal["champion", "origin"] = Field(
        "champion", description="Whose weights a run begins with: the champion's, or those that all versions come from."
    )
    blend: float = Field(
        0.85, gt=0, le=1, description="How far the weights handed in lie from those at the beginning to those learned."
    )
    replay: float = Field(0.5, ge=0, lt=1, description="Share of the steps that are taken on generated pages.")
    absent: float = Field(0.3, ge=0, lt=1, description="Share of the other steps' questions that have no answer.")
    disguised: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of the corrected pages of words that are stretched; fewer are misread, fewer in cipher.",
    )
    images: float = Field(0.1, ge=0, le=1, description="Share of the steps that look at the image: one page each.")
    pages: int = Field(4, ge=1, description="Pages of a step that reads words alone.")
    questions: int = Field(8, ge=1, description="Questions a page in a step.")
    watched: float = Field(
        0.1, ge=0, lt=0.5, description="Share of the training documents that are only looked at, to stop early."
    )
    patience: int = Field(
        4,
        ge=1,
        description="Checkpoints in a row that have lost what was known of these at the beginning, after which a run ends.",
    )
    checkpoint_every: int = Field(25, ge=1)
    metrics_every: int = Field(5, ge=1)
    holdout_pages: int = Field(60, ge=1, description="Most pages of a holdout that are asked.")
    generated_pages: int = Field(40, ge=1, description="Pages of the generated holdout.")


def settings_for(settings: Settings, job_id: str, chosen: dict[str, Any]) -> RunSettings:
    """Return the settings of a run: what was `chosen` for it over what the deployment says.

    The seed follows from the job, so that it is known and never the same twice. Refused with a sentence for a value that cannot be.
    """
    seed = int.from_bytes(hashlib.sha256(job_id.encode()).digest()[:4], "big") >> 1
    given = {"seed": seed, "steps": settings.retrain_steps, "minutes": settings.retrain_minutes, **chosen}
    try:
        return RunSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"The run's setting {'.'.join(map(str, first['loc']))} cannot be so: {first['msg']}.") from None
