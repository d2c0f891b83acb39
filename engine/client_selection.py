"""The Python client's part of what the model says unasked: surveys, second looks, the stage, automatic answers."""

from pydantic import BaseModel

from engine.connection import Connection
from engine.selection.auto_accept import AutomaticLine
from engine.selection.label_review import LookLine
from engine.selection.stage_view import StageView
from engine.training.retraining.views import JobView


class _Count(BaseModel):
    answers: int = 0
    tasks: int = 0


class Selection:
    """What engine.client.Glossator can do with what comes next, and with what needs no person."""

    _at: Connection

    def survey(self, project_id: str) -> JobView:
        """Ask for a survey (reviewers): the model answers beforehand, and the queue is put in order."""
        return self._at.post(JobView, f"/projects/{project_id}/survey")

    def put_first(self, document_id: str) -> int:
        """Put the tasks of a document before all others (reviewers); return how many they are."""
        return self._at.put(_Count, f"/documents/{document_id}/first", {}).tasks

    def second_looks(self, project_id: str, limit: int = 200) -> list[LookLine]:
        """Return accepted labels that the model contradicts, and what became of those that were looked at (reviewers)."""
        return self._at.get(list[LookLine], f"/projects/{project_id}/second-looks", limit=limit)

    def stage(self, project_id: str) -> StageView:
        """Return a project's stage, the precision that was measured, and what people found when they checked."""
        return self._at.get(StageView, f"/projects/{project_id}/stage")

    def set_stage(self, project_id: str, stage: str, reason: str = "") -> StageView:
        """Bring a project to "assisted", "semi_automatic" or "automatic" (admins); the last is refused until it was measured."""
        return self._at.put(StageView, f"/projects/{project_id}/stage", {"stage": stage, "reason": reason})

    def automatic_answers(self, project_id: str, limit: int = 200) -> list[AutomaticLine]:
        """Return the answers that were accepted without a person, newest first (reviewers)."""
        return self._at.get(list[AutomaticLine], f"/projects/{project_id}/automatic-answers", limit=limit)

    def undo_automatic(self, project_id: str) -> int:
        """Take back all automatic answers that no person has answered since (admins); return how many they were."""
        return self._at.post(_Count, f"/projects/{project_id}/automatic-answers/undo").answers
