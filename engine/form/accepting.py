"""Decide about several answers of a document in one request, each by the rules of a revision of its own."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from db.tables import Annotation
from engine.annotation.revisions import RevisionConflict, RevisionRequest, Saved, append_revision
from engine.errors import NotFound, Refused
from engine.fields.field_list import MOST
from engine.workspace import Workspace

Decision = Literal["accept", "reopen"]


class FormAnswer(BaseModel):
    """Answer to decide about, as the person saw it."""

    model_config = ConfigDict(extra="forbid")

    annotation_id: str = Field(max_length=32)
    base: int = Field(ge=0, lt=2**31, description="Revision that the person saw; 0: the model's proposal.")
    prediction_id: str | None = Field(None, max_length=32, description="Proposal that the person saw.")


class FormDecision(BaseModel):
    """Answers of a document to accept or to reopen. Repeating the same `idempotency_key` changes nothing further."""

    model_config = ConfigDict(extra="forbid")

    idempotency_key: str = Field(min_length=8, max_length=64)
    answers: list[FormAnswer] = Field(min_length=1, max_length=MOST)
    seconds: float = Field(0, ge=0, le=86_400, description="Active work on all of them together.")
    images: dict[str, str] = Field(
        default_factory=dict,
        max_length=1000,
        description="Images of the pages as the person saw them (`image` of a page); an answer on a page that was "
        "turned meanwhile is refused.",
    )


class DecidedAnswer(BaseModel):
    """Result for one answer: the stored revision, or the reason why there is none."""

    annotation_id: str
    revision: int | None = Field(description="Number of the stored revision; null where it was refused.")
    status: str | None = Field(description="Status from here on; null where it was refused.")
    refusal: str = Field(description="Why the answer was left as it is; empty where it was not.")
    conflict: bool = Field(description="Whether it was refused because somebody had changed it meanwhile.")


def decide_answers(
    workspace: Workspace, document_id: str, decision: FormDecision, action: Decision, user_id: str
) -> list[DecidedAnswer]:
    """Accept or reopen several answers of a document; each is stored by itself.

    In a project that requires reviews, annotators' answers are submitted. One that was changed meanwhile, or that marks
    nothing, is left as it is with the reason; the others are decided.

    Args:
        workspace: Open workspace.
        document_id: Document of the answers.
        decision: The answers, as the person saw them.
        action: What becomes of them.
        user_id: The person.
    """
    keys = [answer.annotation_id for answer in decision.answers]
    with workspace.database.read() as session:
        chosen = select(Annotation.id).where(Annotation.id.in_(keys), Annotation.document_id == document_id)
        here = set(session.scalars(chosen))
    seconds = decision.seconds / len(decision.answers)
    results = []
    for answer in decision.answers:
        request = RevisionRequest(
            idempotency_key=decision.idempotency_key,
            base=answer.base,
            action=action,
            prediction_id=answer.prediction_id,
            seconds=seconds,
            images=dict(decision.images),
            interactions={"form": 1},
        )
        try:
            if answer.annotation_id not in here:
                raise NotFound("There is no such annotation.")
            saved = append_revision(workspace, answer.annotation_id, request, user_id)
        except Refused as refusal:
            results.append(_failure(answer.annotation_id, refusal))
        else:
            results.append(_success(answer.annotation_id, saved))
    return results


def _success(annotation_id: str, saved: Saved) -> DecidedAnswer:
    return DecidedAnswer(
        annotation_id=annotation_id, revision=saved.revision, status=saved.status, refusal="", conflict=False
    )


def _failure(annotation_id: str, refusal: Refused) -> DecidedAnswer:
    conflict = isinstance(refusal, RevisionConflict)
    return DecidedAnswer(
        annotation_id=annotation_id, revision=None, status=None, refusal=str(refusal), conflict=conflict
    )
