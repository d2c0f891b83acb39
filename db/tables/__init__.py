"""Define the domain as typed tables, one concept a file.

Annotations are append-only revisions (`annotations.py`). Only states are updated in place: the head of an annotation,
the progress of a job, a lease.
"""

from db.tables.annotations import (
    Annotation,
    Lease,
    OutsideAnswer,
    PartAnswer,
    Prediction,
    Question,
    Review,
    Revision,
    Task,
    TaskCount,
)
from db.tables.bin import RemovedDocument, RemovedProject, RemovedQuestion
from db.tables.changes import Change, FollowerPosition, SkippedChange
from db.tables.documents import (
    BucketObject,
    Document,
    DocumentGroup,
    Page,
    PageWidget,
    PageWord,
    ReplacedImage,
    WordEdit,
)
from db.tables.extraction import ExtractionCallback
from db.tables.fields import FieldVersion, ProjectField
from db.tables.figures import (
    COMPARED_CHOICES,
    EVERYBODY,
    AskedDocument,
    DocumentFigures,
    FinishedDocument,
    FinishedMask,
    MaskCount,
    ProjectFigures,
    QueueDay,
    QueueDocument,
    ReviewCount,
    WaitingReview,
)
from db.tables.learning import Firing, Job, ModelVersion, Promotion, Run, RunMetric, Snapshot
from db.tables.people import AuditEntry, Identity, Invitation, LoginAttempt, LoginSession, Member, Project, User
from db.tables.proposers import OutsideModel, OutsideReading, Proposer
from db.tables.quotas import Quota
from db.tables.search import DocumentText
from db.tables.second_factors import LoginStep, RecoveryCode, SecondFactor
from db.tables.selection import (
    AutomaticAnswer,
    DocumentSignature,
    LabelReview,
    StageChange,
    SurveyAnswer,
)
from db.tables.signatures import PageSignature, SignatureBand
from db.tables.skips import LeftTask, Skip
from db.tables.task_changes import TaskChange
from db.tables.transfers import TransferredDocument
from db.tables.values import ANY_FIELD, BrokenRules, FieldValue, ValueCount, ValueFlag
from db.tables.webhooks import Webhook, WebhookDelivery, WebhookSecret

__all__ = [
    "ANY_FIELD",
    "COMPARED_CHOICES",
    "EVERYBODY",
    "Annotation",
    "AskedDocument",
    "AuditEntry",
    "AutomaticAnswer",
    "BrokenRules",
    "BucketObject",
    "Change",
    "Document",
    "DocumentFigures",
    "DocumentGroup",
    "DocumentSignature",
    "DocumentText",
    "ExtractionCallback",
    "FieldValue",
    "FieldVersion",
    "FinishedDocument",
    "FinishedMask",
    "Firing",
    "FollowerPosition",
    "Identity",
    "Invitation",
    "Job",
    "LabelReview",
    "Lease",
    "LeftTask",
    "LoginAttempt",
    "LoginSession",
    "LoginStep",
    "MaskCount",
    "Member",
    "ModelVersion",
    "OutsideAnswer",
    "OutsideModel",
    "OutsideReading",
    "Page",
    "PageSignature",
    "PageWidget",
    "PageWord",
    "PartAnswer",
    "Prediction",
    "Project",
    "ProjectField",
    "ProjectFigures",
    "Promotion",
    "Proposer",
    "Question",
    "QueueDay",
    "QueueDocument",
    "Quota",
    "RecoveryCode",
    "RemovedDocument",
    "RemovedProject",
    "RemovedQuestion",
    "ReplacedImage",
    "Review",
    "ReviewCount",
    "Revision",
    "Run",
    "RunMetric",
    "SecondFactor",
    "SignatureBand",
    "Skip",
    "SkippedChange",
    "Snapshot",
    "StageChange",
    "SurveyAnswer",
    "Task",
    "TaskChange",
    "TaskCount",
    "TransferredDocument",
    "User",
    "ValueCount",
    "ValueFlag",
    "WaitingReview",
    "Webhook",
    "WebhookDelivery",
    "WebhookSecret",
    "WordEdit",
]
