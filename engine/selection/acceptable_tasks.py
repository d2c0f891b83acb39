"""Tasks that could be answered automatically: open, untouched, of training documents, with a confident answer."""

from sqlalchemy import ColumnElement, Select, exists, select

from db.statuses import TRAIN
from db.tables import AutomaticAnswer, Document, DocumentGroup, SurveyAnswer, Task
from engine.annotation.survey_answers import fresh
from engine.selection.holdout_precision import THERE
from engine.tasks.opening import priority


def acceptable(which: ColumnElement[bool], version_id: str, threshold: float) -> Select[str, SurveyAnswer]:
    """Return the statement for untouched open tasks of training documents with confident answers.

    Args:
        which: condition on the tasks, as their project.
        version_id: model version that answered.
        threshold: least confidence.
    """
    same = (SurveyAnswer.document_id == Task.document_id) & (SurveyAnswer.question_id == Task.question_id)
    # Withdrawn answers of this version are left to people: the version would repeat them.
    counts = AutomaticAnswer.withdrawn_at.is_(None) | (AutomaticAnswer.model_version_id == version_id)
    before = exists().where(AutomaticAnswer.task_id == Task.id, counts)
    return (
        select(Task.id, SurveyAnswer)
        .join(SurveyAnswer, same & fresh(version_id))
        .join(Document, Document.id == Task.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(
            which,
            Task.closed_at.is_(None),
            Task.wanted == 1,
            Task.gold_revision_id.is_(None),
            DocumentGroup.split == TRAIN,
            DocumentGroup.quarantined_at.is_(None),
            SurveyAnswer.answered >= THERE,
            SurveyAnswer.confidence >= threshold,
            ~priority.is_begun(),
            ~before,
        )
        .order_by(Task.id)
    )
