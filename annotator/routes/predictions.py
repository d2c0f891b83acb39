"""Routes for predictions of models of others, which become proposals."""

from fastapi import APIRouter
from pydantic import BaseModel

from annotator.access import REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.scopes import needs_scope
from annotator.work_queues import WorkQueue
from engine.proposers.push import PredictionOutcome, PushedPredictions, push_predictions

router = APIRouter(tags=["annotations"], dependencies=[REVIEWERS])

# A long text is compared with every word of every page: two requests at a time, so that others have a core.
PUSHES = WorkQueue("predictions", at_work=2, waiting=6, come_back=10, of_one=2)


class PushedResult(BaseModel):
    """What became of each prediction, in their order."""

    predictions: list[PredictionOutcome]


@router.post("/documents/{document_id}/predictions")
@needs_scope("annotate")
def push(document_id: str, sent: PushedPredictions, workspace: TheWorkspace, user: CurrentUser) -> PushedResult:
    """Propose answers of another model to people who have not answered yet.

    Plain text is matched to the words of the pages. A later prediction of the same model to the same question replaces
    the earlier one. Answers of people never change, and the own model's figures do not count these proposals.
    """
    with PUSHES.place(user.id) as place, place.turn():
        return PushedResult(predictions=push_predictions(workspace, document_id, sent))
