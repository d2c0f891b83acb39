"""Define the domain as typed tables, one concept a file.

Annotations are append-only revisions (`annotations.py`). Only states are updated in place: the head of an annotation,
the progress of a job, a lease.
"""

from db.tables.annotations import Annotation, Lease, PartAnswer, Prediction, Question, Review, Revision, Task, TaskCount
from db.tables.changes import Change
from db.tables.documents import Document, DocumentGroup, Page, PageWord, WordEdit
from db.tables.figures import DocumentFigures, FinishedDocument, FinishedMask, MaskCount, ProjectFigures, QueueDay
from db.tables.learning import Firing, Job, ModelVersion, Promotion, Run, RunMetric, Snapshot
from db.tables.people import AuditEntry, Invitation, LoginAttempt, LoginSession, Member, Project, User
from db.tables.search import DocumentText
from db.tables.selection import (
    AutomaticAnswer,
    DocumentSignature,
    LabelReview,
    LookCount,
    StageChange,
    SurveyAnswer,
    WaitingLook,
)
from db.tables.signatures import PageSignature, SignatureBand
from db.tables.task_changes import TaskChange

__all__ = [
    "Annotation",
    "AuditEntry",
    "AutomaticAnswer",
    "Change",
    "Document",
    "DocumentFigures",
    "DocumentGroup",
    "DocumentSignature",
    "DocumentText",
    "FinishedDocument",
    "FinishedMask",
    "Firing",
    "Invitation",
    "Job",
    "LabelReview",
    "Lease",
    "LoginAttempt",
    "LoginSession",
    "LookCount",
    "MaskCount",
    "Member",
    "ModelVersion",
    "Page",
    "PageSignature",
    "PageWord",
    "PartAnswer",
    "Prediction",
    "Project",
    "ProjectFigures",
    "Promotion",
    "Question",
    "QueueDay",
    "Review",
    "Revision",
    "Run",
    "RunMetric",
    "SignatureBand",
    "Snapshot",
    "StageChange",
    "SurveyAnswer",
    "Task",
    "TaskChange",
    "TaskCount",
    "User",
    "WaitingLook",
    "WordEdit",
]
