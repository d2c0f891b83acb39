"""A job as REST, commands and the page show it."""

from datetime import datetime

from pydantic import BaseModel, Field

from db.tables import Job


class JobView(BaseModel):
    """Job: its progress or result. `failure`: error of its last attempt, also while the next one runs."""

    id: str
    kind: str = Field(description="Work of the job, such as retrain, survey or import.")
    status: str = Field(description="waiting, running, done, failed, cancelled or dead (given up).")
    progress: float = Field(description="Share that is done, 0..1.")
    message: str = Field(description="Present step as a sentence, or the result.")
    failure: str = Field(description="Error of the last attempt, also while the next one runs; empty without one.")
    attempts: int = Field(description="Attempts so far.")
    max_attempts: int = Field(description="Attempts after which the job is given up.")
    run_after: datetime = Field(description="Earliest time of the next attempt.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


def job_view(job: Job) -> JobView:
    """Return a job as the page shows it."""
    return JobView.model_validate(job, from_attributes=True)
