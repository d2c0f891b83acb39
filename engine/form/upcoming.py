"""Prepare the next document while a person works on the form of this one."""

from pydantic import BaseModel, Field

from db.tables import Document
from engine.annotation.answer_service import AnswerService
from engine.form.asking import prepare_fields
from engine.queries import existing
from engine.tasks.queue.candidates import document_behind


class UpcomingForm(BaseModel):
    """Document whose form the model has answered in advance."""

    document_id: str | None = Field(description="The document; null where no other one waits for this person.")


def prepare_upcoming(service: AnswerService, document_id: str, user_id: str) -> UpcomingForm:
    """Let the model answer the fields of the document that a person would get after this one.

    Nothing is leased or stored: `ask_fields` finds the answers in the memory of this process.

    Raises:
        NotFound: The document does not exist.
    """
    with service.workspace.database.read() as session:
        project_id = existing(session, Document, document_id).project_id
        upcoming = document_behind(session, project_id, user_id, document_id)
    if upcoming is not None:
        prepare_fields(service, upcoming, user_id)
    return UpcomingForm(document_id=upcoming)
