"""The settings that a project chooses for itself, checked."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from db.tables import Project
from engine.crontab import schedule, zone_named


class ProjectSettings(BaseModel):
    """What a project chooses for itself; stored as JSON in its row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrain_after: int = Field(
        20, ge=1, le=1_000_000, description="Newly accepted annotations that start a retraining."
    )
    retrain_automatically: bool = Field(
        True, description="Start retrainings without being asked; off: neither count nor age nor clock starts one."
    )
    retrain_after_days: float = Field(
        0.0, ge=0, le=3650, description="Days after which a new answer is not left waiting for others; 0: no limit."
    )
    retrain_cron: str = Field(
        "", max_length=120, description='Crontab expression of the clock that retrains, as "30 2 * * 1-5"; empty: none.'
    )
    retrain_time_zone: str = Field("UTC", max_length=60, description="Time zone of that clock, as Europe/Berlin.")
    promotion: Literal["automatic", "by_hand"] = Field("automatic", description="What a passed gate does.")
    review_required: bool = Field(
        False, description="What an annotator accepts is submitted, and waits for a reviewer."
    )
    overlap_share: float = Field(0.0, ge=0, le=1, description="Share of the tasks that several people answer.")
    overlap_people: int = Field(2, ge=2, le=3, description="How many people answer those.")
    gold_share: float = Field(0.0, ge=0, le=1, description="Share of known answers that are asked unannounced.")
    selection: Literal["arrival", "random", "model"] = Field(
        "arrival",
        description="Which documents people get next: as they came, drawn, or those that the model learns most from.",
    )
    selection_random_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Share of the documents that are drawn beside the model's choice, to compare it with.",
    )
    selection_patience_days: float = Field(
        30,
        gt=0,
        le=3650,
        description="A document that has waited so long gets a place of its own in the model's choice.",
    )
    precision_target: float = Field(
        0.95, ge=0.5, le=0.999, description="Share of the automatic answers that must be right, at least."
    )
    precision_answers: int = Field(
        100, ge=20, le=100_000, description="On how many reviewed answers of holdout documents that must be measured."
    )
    audit_share: float = Field(0.1, ge=0.01, le=1, description="Share of the automatic answers that people check.")

    @model_validator(mode="after")
    def _clock_that_comes_due(self) -> "ProjectSettings":
        zone_named(self.retrain_time_zone)
        if self.retrain_cron.strip():
            schedule(self.retrain_cron, self.retrain_time_zone)
        return self


def settings_of(project: Project) -> ProjectSettings:
    """Return a project's settings; what it never chose has its default."""
    return ProjectSettings.model_validate(project.settings)
