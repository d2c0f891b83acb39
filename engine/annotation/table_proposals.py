"""Propose the other rows of a table, once a person has made or corrected some."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from db.session import Encoded, as_json
from db.tables import Annotation, Question
from engine.accounts import permissions
from engine.annotation.page_answers import build_prediction
from engine.annotation.proposal import Proposal, build_proposal
from engine.annotation.state import MOST_ROWS
from engine.annotation.table_answers import answer_table, document_words, load_tables
from engine.annotation.unaided import check_aided
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.queries import existing
from engine.workspace import Workspace

Numbers = Annotated[list[int], Field(max_length=2000)]


class GivenRow(BaseModel):
    """A row that a person has made or corrected: its words, by column and page."""

    model_config = ConfigDict(extra="forbid")

    cells: dict[str, dict[str, Numbers]] = Field(
        max_length=40, description="Name of the column -> id of the page -> numbers of the words."
    )


def propose_rows(workspace: Workspace, annotation_id: str, user_id: str, rows: Sequence[GivenRow]) -> Proposal:
    """Return a proposal with all rows of a table, the given ones among them; the annotation stays as it is.

    Args:
        workspace: Open workspace.
        annotation_id: Answer to a field that is a table.
        user_id: Person who asks; must be allowed to change the annotation.
        rows: Rows that stay as they are, from the top; none: the table is looked for anew.

    Raises:
        NotFound: The annotation does not exist.
        Forbidden: The user may not change the annotation.
        Refused: The question is no table, is answered without the model, or a row has no words there.
    """
    with workspace.database.read() as session:
        annotation = existing(session, Annotation, annotation_id)
        permissions.check_author(session, annotation, user_id)
        check_aided(session, annotation)
        field = _load_table(session, annotation)
    given = [row.cells for row in rows[:MOST_ROWS]]
    prepared = answer_table(field, document_words(workspace, annotation.document_id), given)
    prompts = {"rows": [row.cells for row in rows]}
    prediction = build_prediction(
        annotation_id,
        prepared.page_id,
        annotation.question_id,
        None,
        prepared.answer,
        prepared,
        prepared.milliseconds,
        prompts,
    )
    prediction.prompts = Encoded(as_json(prompts))  # type: ignore[assignment]
    with workspace.database.write() as session:
        session.add(prediction)
        session.flush()
    return build_proposal(prediction, prepared.answer, None)


def _load_table(session: Session, annotation: Annotation) -> FieldDefinition:
    question = session.get_one(Question, annotation.question_id).text
    field = load_tables(session, annotation.document_id).get(question)
    if field is None:
        raise Refused("The question is no table with columns. Make it one in the tab Questions.")
    return field
