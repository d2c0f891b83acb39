"""Routes for standard questions and suggested questions."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS, REVIEWERS
from annotator.deps import QUESTION, CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine.projects import projects
from engine.tasks import asked_questions, standard_questions
from engine.tasks.asked_questions import ListedQuestion
from engine.tasks.standard_questions import StandardQuestion, Suggestions

router = APIRouter(tags=["tasks"], dependencies=[MEMBERS])


class QuestionList(BaseModel):
    """The standard questions of a project in their order."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"questions": ["What is the invoice number?", "What is the total?"]}]},
    )

    questions: list[Annotated[str, Field(json_schema_extra=QUESTION)]] = Field(max_length=standard_questions.MOST)
    before: list[str] | None = Field(
        default=None, description="The list before the change; 409 when the stored list differs."
    )


@router.get("/projects/{project_id}/standard-questions")
@needs_scope("read")
def list_standard_questions(project_id: str, workspace: TheWorkspace) -> list[StandardQuestion]:
    """Return the standard questions of a project, in order."""
    projects.project_by_id(workspace, project_id)
    return standard_questions.standard_questions(workspace, project_id)


@router.put("/projects/{project_id}/standard-questions", dependencies=[REVIEWERS])
def replace_standard_questions(
    project_id: str, wanted: QuestionList, workspace: TheWorkspace, user: CurrentUser
) -> list[StandardQuestion]:
    """Replace the standard questions.

    Every document gets a task for each; tasks of removed questions are closed. In a large project this goes on after
    the answer: see `/projects/{project_id}/task-changes`.
    """
    return standard_questions.replace_standard_questions(
        workspace, project_id, wanted.questions, user.id, wanted.before
    )


@router.get("/projects/{project_id}/questions")
@needs_scope("read")
def suggest(project_id: str, workspace: TheWorkspace, user: CurrentUser, document_id: str | None = None) -> Suggestions:
    """Return suggested questions: standard questions with the caller's answers, then others by frequency."""
    projects.project_by_id(workspace, project_id)
    return standard_questions.suggestions(workspace, project_id, user.id, document_id)


@router.get(
    "/projects/{project_id}/asked-questions", responses=pages("Number of the questions that `q` finds, on all pages.")
)
@needs_scope("read")
def list_asked_questions(
    project_id: str,
    workspace: TheWorkspace,
    user: CurrentUser,
    paging: ThePaging,
    q: Annotated[
        str, Query(max_length=200, description="Only questions that contain each of these words, in any case.")
    ] = "",
    sort: Annotated[
        asked_questions.Sort, Query(description="Order: those of most documents first, or by text.")
    ] = "-documents",
    limit: Annotated[
        int, Query(ge=1, le=asked_questions.MOST_LISTED, description="Maximum number of questions on a page.")
    ] = 100,
) -> list[ListedQuestion]:
    """Return a page of the questions that were asked of documents, with the number of the documents of each.

    Where answers of others are hidden from the caller (overlap, gold questions), standard questions count as asked of
    all documents, and the order is by text. A page has 100 questions, and with `limit` 1,000 at most.
    """
    projects.project_by_id(workspace, project_id)
    page = asked_questions.asked_questions(
        workspace, project_id, query=q, sort=sort, limit=limit, cursor=paging.cursor, viewer_id=user.id
    )
    return paging.send(page, asked_questions.count_asked(workspace, project_id, q, user.id))
