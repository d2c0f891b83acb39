"""Settings of a project, validated."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from db.tables import Project
from engine.crontab import schedule, zone_named

_Plain = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]  # PostgreSQL stores no NUL


class ProjectSettings(BaseModel):
    """Settings of a project, stored as JSON in its row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrain_after: int = Field(
        20, ge=1, le=1_000_000, description="Number of newly accepted answers that start a retraining."
    )
    retrain_automatically: bool = Field(True, description="Automatic retraining by count, age and schedule.")
    retrain_after_days: float = Field(
        0.0, ge=0, le=3650, description="Maximum days that a new answer waits for a retraining; 0: no limit."
    )
    retrain_cron: str = Field(
        "", max_length=120, description='Schedule of retrainings as crontab, as "30 2 * * 1-5"; empty: none.'
    )
    retrain_time_zone: str = Field("UTC", max_length=60, description="Time zone of the schedule, as Europe/Berlin.")
    promotion: Literal["automatic", "by_hand"] = Field(
        "automatic", description="Promotion of a version that passed the gate."
    )
    review_required: bool = Field(False, description="Whether answers of annotators need a review.")
    overlap_share: float = Field(0.0, ge=0, le=1, description="Share of tasks answered by several people.")
    overlap_people: int = Field(2, ge=2, le=3, description="People per overlapping task.")
    unaided_share: float = Field(
        0.5, ge=0, le=1, description="Share of overlapping tasks that are answered without the model's proposal."
    )
    gold_share: float = Field(0.0, ge=0, le=1, description="Share of gold questions, inserted unannounced.")
    selection: Literal["arrival", "random", "model"] = Field(
        "arrival",
        description="Document order: arrival, random, or model (most uncertain first).",
    )
    selection_random_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Share of random documents mixed into the model's selection, for comparison.",
    )
    selection_patience_days: float = Field(
        30,
        gt=0,
        le=3650,
        description="Days after which a waiting document is moved up in the model's selection.",
    )
    precision_target: float = Field(
        0.95, ge=0.5, le=0.999, description="Minimum share of automatic answers that are right."
    )
    precision_answers: int = Field(
        100, ge=20, le=100_000, description="Minimum number of reviewed holdout answers to measure the precision."
    )
    audit_share: float = Field(0.1, ge=0.01, le=1, description="Share of automatic answers sampled for audit.")

    locale: str = Field(
        "",
        max_length=35,
        pattern=r"^([a-z]{2,3}([-_][A-Za-z0-9]{2,8})*)?$",
        description="Locale in which papers print values, as de-DE; empty: not known.",
    )
    conventions: dict[_Plain, _Plain] = Field(
        default_factory=dict,
        max_length=500,
        description='Conventions that decide ambiguous values, as {"date_order": "DMY"}.',
    )

    issuer_conventions: dict[_Plain, dict[_Plain, _Plain]] = Field(
        default_factory=dict,
        max_length=500,
        description="Conventions of single issuers, by name; they go before those of the project.",
    )

    @model_validator(mode="after")
    def _clock_that_comes_due(self) -> "ProjectSettings":
        zone_named(self.retrain_time_zone)
        if self.retrain_cron.strip():
            schedule(self.retrain_cron, self.retrain_time_zone)
        return self


def settings_of(project: Project) -> ProjectSettings:
    """Return a project's settings; missing ones have their defaults."""
    return ProjectSettings.model_validate(project.settings)
