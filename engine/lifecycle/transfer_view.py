"""A transfer as REST and the page show it."""

from pydantic import BaseModel, Field

from db.tables import Job


class TransferView(BaseModel):
    """A transfer: how far it is, or what it did."""

    id: str = Field(description="Id of its job.")
    status: str = Field(description="waiting, running, done, failed, cancelled or dead (given up).")
    progress: float = Field(description="Share that is done, 0..1.")
    message: str = Field(description="Present step, or the result.")
    move: bool
    to: str = Field(description="Id of the other project.")
    documents: int = Field(description="Number of documents that are there now.")
    stays: list[str] = Field(description="A sentence for each document that was left where it is.")


def transfer_view(job: Job, documents: int) -> TransferView:
    """Return the job of a transfer, with the number of its documents that are there, as the page shows it."""
    done = job.result if job.status == "done" else {}
    return TransferView(
        id=job.id,
        status=job.status,
        progress=job.progress,
        message=done.get("sentence") or job.failure or job.message,
        move=job.payload["move"],
        to=job.payload["to"],
        documents=documents,
        stays=done.get("stays", []),
    )
