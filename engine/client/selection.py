"""The client's methods for surveys, label reviews and automatic answers."""

from engine.client.schemas import AutomaticLine, JobView, LabelReviewLine, PutFirst, StageView, TakenBack
from engine.client.transport import Connection


class Selection:
    """Methods of engine.client.Glossator for the order of the queue and for answers without a person."""

    _at: Connection

    def survey(self, project_id: str) -> JobView:
        """Request a survey (reviewers): the model answers the open tasks in advance and orders the queue."""
        return self._at.post(JobView, f"/projects/{project_id}/survey")

    def put_first(self, document_id: str) -> int:
        """Put the tasks of a document before all others (reviewers), and return their number."""
        return self._at.put(PutFirst, f"/documents/{document_id}/first", {}).tasks

    def label_reviews(self, project_id: str, limit: int | None = 200) -> list[LabelReviewLine]:
        """Return the label review: accepted labels that the model contradicts, with verdicts (reviewers).

        limit: maximum number; None: all of them.
        """
        return self._at.all(LabelReviewLine, f"/projects/{project_id}/label-reviews", limit)

    second_looks = label_reviews  # the name before, which scripts may call

    def stage(self, project_id: str) -> StageView:
        """Return the stage of a project, the measured precision, and the results of people's checks."""
        return self._at.get(StageView, f"/projects/{project_id}/stage")

    def set_stage(self, project_id: str, stage: str, reason: str = "") -> StageView:
        """Set the stage of a project (admins): "assisted", "semi_automatic" or "automatic".

        Raises ServerSaid for "automatic" until the precision is measured.
        """
        return self._at.put(StageView, f"/projects/{project_id}/stage", {"stage": stage, "reason": reason})

    def automatic_answers(self, project_id: str, limit: int | None = 200) -> list[AutomaticLine]:
        """Return the answers that were accepted without a person, newest first (reviewers).

        limit: maximum number; None: all of them.
        """
        return self._at.all(AutomaticLine, f"/projects/{project_id}/automatic-answers", limit)

    def undo_automatic(self, project_id: str) -> int:
        """Take back all automatic answers that no person has answered since (admins), and return their number."""
        return self._at.post(TakenBack, f"/projects/{project_id}/automatic-answers/undo").answers
