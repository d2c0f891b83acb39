"""Routes for removing questions with their answers into the bin, restoring them, and deleting them for good."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, while_archived
from annotator.deps import CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from engine.fields.field_list import MOST
from engine.lifecycle import question_bin, question_erasing
from engine.lifecycle.bins import MOST_LISTED
from engine.lifecycle.question_bin import QuestionHoldings, RemovedQuestionLine

router = APIRouter(tags=["tasks"], dependencies=[ADMINS])
_QuestionId = Annotated[str, Field(min_length=1, max_length=32)]


class ChosenQuestions(BaseModel):
    """Ids of questions; of fields they are those of the fields."""

    model_config = ConfigDict(extra="forbid")

    questions: Annotated[list[_QuestionId], Field(min_length=1, max_length=MOST)]


class QuestionsToDelete(BaseModel):
    """Ids of questions in the bin; null: all of them."""

    model_config = ConfigDict(extra="forbid")

    questions: Annotated[list[_QuestionId], Field(min_length=1, max_length=MOST)] | None = None


class ChangedQuestions(BaseModel):
    """Ids of the questions that the request has changed."""

    questions: list[str]


class DeletedQuestions(BaseModel):
    """Ids of the questions that are being deleted for good, and a sentence for each whose answers a snapshot keeps."""

    questions: list[str]
    stays: list[str]


@router.get("/projects/{project_id}/questions/{question_id}/holdings")
def question_holdings(project_id: str, question_id: str, workspace: TheWorkspace) -> QuestionHoldings:
    """Return what goes to the bin with a question: numbers of its answers, values and tasks."""
    return question_bin.question_holdings(workspace, project_id, question_id)


@router.post("/projects/{project_id}/questions/remove")
def remove_questions(
    project_id: str, chosen: ChosenQuestions, workspace: TheWorkspace, user: CurrentUser
) -> ChangedQuestions:
    """Remove questions, or fields, into the bin of their project, with their answers, values and tasks. Audited.

    Until their days in the bin are over (`GLOSSATOR_BIN_DAYS`), they can be restored with exactly these answers.
    Nobody can answer them meanwhile, or write a question in the same words: 409. An edit of a removed answer gets 404,
    and the page keeps it. In a large project answers and tasks follow in batches after the answer to this request: see
    `/projects/{project_id}/task-changes`. Snapshots and exports made before stay as they are. 422 when a rule of
    another field names one of the fields. Repeating the request changes nothing.
    """
    return ChangedQuestions(questions=question_bin.remove_questions(workspace, project_id, chosen.questions, user.id))


@router.get(
    "/projects/{project_id}/removed-questions", responses=pages("Number of the questions in the bin, on all pages.")
)
def list_removed_questions(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=MOST_LISTED, description="Maximum number of questions on a page.")
    ] = MOST_LISTED,
) -> list[RemovedQuestionLine]:
    """Return a page of the questions in the bin of a project, last removed first; `deleted_at`: end of their days."""
    page = question_bin.list_removed_questions(workspace, project_id, limit=limit, cursor=paging.cursor)
    return paging.send(page, question_bin.count_removed_questions(workspace, project_id))


@router.post("/projects/{project_id}/removed-questions/restore")
def restore_questions(
    project_id: str, chosen: ChosenQuestions, workspace: TheWorkspace, user: CurrentUser
) -> ChangedQuestions:
    """Restore questions from the bin, with the answers that went with them. Audited.

    Answers that people removed before stay removed. Repeating the request changes nothing.
    """
    return ChangedQuestions(questions=question_bin.restore_questions(workspace, project_id, chosen.questions, user.id))


@router.post("/projects/{project_id}/removed-questions/delete", status_code=202)
@while_archived
def delete_questions(
    project_id: str, chosen: QuestionsToDelete, workspace: TheWorkspace, user: CurrentUser
) -> DeletedQuestions:
    """Delete questions in the bin for good, with all their answers, values, proposals and tasks. Audited.

    They cannot be restored from now on. A worker deletes them within moments. Snapshots keep the answers that they
    hold; `stays` names them. Ids that are not in the bin are ignored.
    """
    emptied = question_erasing.mark_questions(workspace, project_id, chosen.questions, user.id)
    return DeletedQuestions(questions=emptied.questions, stays=emptied.stays)
