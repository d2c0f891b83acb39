"""Answers and requests of the server. Written by `make client` from the OpenAPI document; change nothing here."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypeAliasType


class Askable(BaseModel):
    """A standard question and, where this person has asked it of the document already, the answer."""

    id: str
    text: str
    annotation_id: str | None


class AskedQuestion(BaseModel):
    """The question of a task."""

    id: str
    text: str


class AuditLine(BaseModel):
    """An entry for people: time, actor, and `what` as one clause."""

    id: str
    created_at: datetime
    actor: str
    project: str | None
    action: str
    subject: str
    what: str
    details: dict[str, Any]


class AuditView(BaseModel):
    """The check of the champion's automatic answers, with the 95 % interval of the share that is right."""

    drawn: int
    checked: int
    right: int
    low: float
    high: float


class Author(BaseModel):
    """A person as others see them."""

    id: str
    name: str


class AutomaticLine(BaseModel):
    """An automatic answer in a list. `verdict`: what a person's answer says of it, None while nobody has answered."""

    id: str
    task_id: str
    document_id: str
    document: str
    question: str
    text: str
    model: str
    confidence: float
    threshold: float
    audit: bool
    verdict: str | None
    withdrawn: bool
    created_at: datetime


class Choice(BaseModel):
    """Finished documents that were chosen alike. The interval holds 95 %; None for fewer than six documents."""

    chosen_by: str
    documents: int
    pages: int
    corrections: int
    corrections_a_page: float
    low: float | None
    high: float | None


class Choices(BaseModel):
    """What the model chose beside what was drawn, and how many corrections a page the choice finds more, with its interval."""

    by: list[Choice]
    more: float | None = None
    """Corrections a page: chosen by the model, less drawn."""
    more_low: float | None = None
    more_high: float | None = None


class DocumentLine(BaseModel):
    """A document in a project's list."""

    id: str
    name: str
    media_type: str
    pages: int
    words: int
    questions: int
    accepted: int
    cover_page_id: str | None
    warnings: list[str]
    same_as: str | None = None
    """The project's first document that has a page of this one."""
    quarantined: bool = False
    """Neither trains nor judges; the warnings say why."""
    created_at: datetime


class EditClear(BaseModel):
    """Mark nothing on a page."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["clear"]
    page: str


class EditNoAnswer(BaseModel):
    """Say that the document does not answer, or take that back."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["no_answer"]
    value: bool


class EditWords(BaseModel):
    """Select and deselect words: their boxes are filled, or emptied as far as no selected word lies there."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["words"]
    page: str
    add: Annotated[list[int], Field(max_length=20000)] = []
    remove: Annotated[list[int], Field(max_length=20000)] = []


class Encoding(BaseModel):
    """Encoding state of a page: encoded, or encoding."""

    status: str


class FiringView(BaseModel):
    """A firing for the API. `created_at` is later than `due_at` where no worker ran at the due time."""

    id: str
    trigger: Literal["clock", "count", "age"]
    due_at: datetime
    outcome: Literal["asked", "busy", "nothing_new", "missed"]
    message: str
    job_id: str | None
    created_at: datetime


class ExportFormat(BaseModel):
    """An export format."""

    name: str
    title: str
    lossy: str
    """Content that the format cannot hold; empty: none."""


class GivenAnswer(BaseModel):
    """Somebody's answer to a task, whatever has become of it."""

    annotation_id: str
    person: str
    status: str
    revision: int


class HeldTask(BaseModel):
    """Who is at work on which question of which document, and until when unless they go on.

    The person is "Somebody else" where their answer will be compared with that of who asks.
    """

    person: str
    document: str
    question: str
    until: datetime


class ImportUnderWay(BaseModel):
    """A running import."""

    id: str
    name: str
    """Name of the file."""
    by: str
    """Name of the user."""
    began_at: datetime
    doing: str
    done: int
    of: int
    """Total of the current step; 0: unknown."""
    stopping: bool
    """Whether it was stopped; it ends at its next step."""


class ImportedSet(BaseModel):
    """Result of an import."""

    format: str
    documents: int
    known: int
    """Documents that existed before."""
    pages: int
    read: int
    """Pages without words, read by OCR."""
    answers: int
    no_answer: int
    """Questions marked as not answered by the document."""
    lost: dict[str, int]
    """Content of the dataset that cannot be stored: count by name."""


class InvitationView(BaseModel):
    """An invitation as admins see it.

    `state`: open, used, expired, withdrawn, or void (its author is no longer admin).
    """

    id: str
    role: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    state: str
    used_by: str | None


class JobView(BaseModel):
    """Long work: how far it is, or how it ended. `failure`: why its last attempt failed, also while the next one runs."""

    id: str
    kind: str
    status: str
    progress: float
    message: str
    failure: str
    attempts: int
    max_attempts: int
    run_after: datetime
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class LeaseView(BaseModel):
    """End of the lease without another heartbeat."""

    lease_until: datetime


class LeasedTask(BaseModel):
    """A task that is the caller's until `lease_until`, or for longer with heartbeats."""

    id: str
    document_id: str
    question: AskedQuestion
    lease_until: datetime


class LookLine(BaseModel):
    """A second look in a list. `sentence`: why; `verdict`: None while nobody has looked."""

    annotation_id: str
    document_id: str
    document: str
    question: str
    author: str
    kind: str
    sentence: str
    model: str
    iou: float
    verdict: str | None
    decided_by: str | None
    created_at: datetime


class Invited(BaseModel):
    """An invitation with its link, which is shown only once."""

    id: str
    role: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    state: str
    used_by: str | None
    url: str


class MadeToken(BaseModel):
    """A new token. It is shown once and not stored."""

    token: str
    scope: Literal["read", "annotate", "admin"]
    days: int


class MasksADay(BaseModel):
    """How many masks one person finished on one day; days and people without any are left out."""

    day: date
    person: str
    masks: int


class Mean(BaseModel):
    """The mean over questions; None where there was nothing to compare."""

    questions: int
    iou: float | None
    word_f1: float | None


class MemberView(BaseModel):
    """A member of a project. Admins of the installation have all rights without membership."""

    user_id: str
    name: str
    role: str
    since: datetime
    disabled: bool


class ModelFigures(BaseModel):
    """The pace of people to whom this model version had proposed the answer."""

    masks: int
    timed: int
    seconds_median: float | None
    seconds_low: float | None
    seconds_high: float | None
    unchanged: int
    unchanged_share: float
    unchanged_low: float
    unchanged_high: float
    model: str
    """Id of the model version."""
    label: str


class ModelName(BaseModel):
    """A model version as people see it."""

    id: str
    label: str


class NextAnswer(BaseModel):
    """The next open answer, or the reason why there is none."""

    annotation_id: str | None
    document_id: str | None = None
    reason: str | None = None


class PageLine(BaseModel):
    """A page of a document. Width and height are pixels of its rendering."""

    id: str
    number: int
    width: int
    height: int
    words: int
    text_source: str


class Pair(BaseModel):
    """How two people agree over the questions that both have answered."""

    people: tuple[str, str]
    questions: int
    iou: float | None
    word_f1: float | None


class Person(BaseModel):
    """A user."""

    id: str
    name: str
    role: str


class PersonAgreement(BaseModel):
    """How one person agrees with all others, and with known answers that they were asked for without knowing."""

    person: str
    questions: int
    iou: float | None
    word_f1: float | None
    gold_questions: int
    gold_iou: float | None


class PersonFigures(BaseModel):
    """The pace of one person."""

    masks: int
    timed: int
    seconds_median: float | None
    seconds_low: float | None
    seconds_high: float | None
    unchanged: int
    unchanged_share: float
    unchanged_low: float
    unchanged_high: float
    person: str


class PrecisionPoint(BaseModel):
    """Answers at or above a confidence: how many, how many right, their share, and what it is at least (95 %, all points at once)."""

    threshold: float
    answers: int
    right: int
    documents: int
    precision: float | None
    low: float


class Project(BaseModel):
    """A project with its counts, its champion (the model in use), and the caller's role."""

    id: str
    name: str
    description: str
    documents: int
    accepted: int
    champion: ModelName
    settings: dict[str, Any]
    role: str


class PutFirst(BaseModel):
    """Number of tasks moved to the front of the queue."""

    tasks: int


class QuestionView(BaseModel):
    """A question as it was put."""

    id: str
    text: str


class QueueDepth(BaseModel):
    """At the end of a day: tasks that wait for an answer, and answers that wait for a reviewer."""

    day: date
    open: int
    submitted: int


class QueueView(BaseModel):
    """How far a project's standard questions are.

    `open`: tasks that still want answers, `mine` of them for this person now; `submitted`: answered, waiting for a verdict;
    `done`: accepted; `automatic`: answered without a person, and drawn for no check; `to_review`: answers that this person could judge; `reason`: why nothing is theirs, else None.
    """

    open: int
    mine: int
    held: list[HeldTask]
    submitted: int
    done: int
    total: int
    to_review: int
    reason: str | None
    automatic: int = 0


class RankedPage(BaseModel):
    """How likely a page answers the question."""

    page_id: str
    answered: float
    score: float


class Recent(BaseModel):
    """A question that people put to this project's documents, and to how many."""

    id: str
    text: str
    times: int


class RefusedFile(BaseModel):
    """A refused file, with the reason."""

    name: str
    reason: str
    sentence: str


class Reliability(BaseModel):
    """How far one person's answers can be relied on, 0..1, from so many comparisons with people and with known answers.

    `sentence`: where somebody disagrees with everybody, who, and how much; else None.
    """

    person: str
    reliability: float
    comparisons: int
    gold_questions: int
    sentence: str | None = None


class ReviewLine(BaseModel):
    """A verdict that was given. `revision`: the one that was judged."""

    reviewer: str
    verdict: str
    quality: bool | None
    completeness: bool | None
    reason: str
    revision: int
    created_at: datetime


class RevisionLine(BaseModel):
    """A revision in an annotation's history. `model`: whose proposal was corrected, where the revision names one."""

    number: int
    action: str
    status: str
    author: str
    seconds: float
    interactions: dict[str, int]
    created_at: datetime
    model: str | None


PredictionId = TypeAliasType("PredictionId", Annotated[str, Field(max_length=32)])
"""The proposal that the edits build on."""


class RunLine(BaseModel):
    """A run in a list. `verdict` is the gate's; empty while the run has not been judged."""

    id: str
    status: str
    parent: str
    challenger: str | None
    challenger_id: str | None
    snapshot_sha256: str
    annotations: int
    verdict: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None


class RunView(BaseModel):
    """A run with its settings and curves."""

    id: str
    status: str
    parent: str
    challenger: str | None
    challenger_id: str | None
    snapshot_sha256: str
    annotations: int
    verdict: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None
    settings: dict[str, Any]
    seed: int
    code_version: str
    metrics: list[dict[str, Any]]


class SchedulerView(BaseModel):
    """The worker that looks at the triggers, since when, and when it last renewed its lease."""

    holder: str
    since: datetime
    heartbeat_at: datetime


class SessionView(BaseModel):
    """A session of a browser, or a token of a program. `current`: the session of this request.

    `scope`: scope of a token; None for browsers. `last_used_at`: last use of a token, up to ten minutes old.
    """

    id: str
    client: str
    address: str
    created_at: datetime
    expires_at: datetime
    current: bool
    scope: Literal["read", "annotate", "admin"] | None = None
    last_used_at: datetime | None = None


class StageView(BaseModel):
    """All of it. `since`, `reason`, `changed_by`: of the newest step; without `changed_by` the project took it by itself."""

    stage: str
    since: datetime | None
    reason: str
    changed_by: str | None
    model: str
    target: float
    least_answers: int
    measured_answers: int
    """Reviewed answers of holdout documents that the precision was measured on."""
    measured_documents: int
    points: list[PrecisionPoint]
    threshold: float | None
    """The lowest confidence that reaches the target; null where none does."""
    blocked: str | None
    """Why nothing can be accepted automatically, in a sentence."""
    would_accept: int
    """Open tasks that would be answered automatically now."""
    automatic: int
    """Automatic answers that stand: neither taken back nor answered by a person."""
    confirmed: int
    corrected: int
    audit: AuditView
    surveyed: int
    """Tasks that the model has answered beforehand."""
    tasks: int


class StandardQuestion(BaseModel):
    """A standard question with its place in the list, from 0."""

    id: str
    text: str
    position: int


class Suggestions(BaseModel):
    """What can be asked: the standard questions in their order, then others by use."""

    standard: list[Askable]
    recent: list[Recent]


class TakenFile(BaseModel):
    """A file that became a document.

    `created`: false when the project had it already. `whole`: false while pages are read.
    """

    name: str
    document_id: str
    created: bool
    pages: int
    words: int
    warnings: list[str]
    whole: bool = True


class TakenBack(BaseModel):
    """Number of withdrawn automatic answers."""

    answers: int


class TaskLine(BaseModel):
    """A task as a data lead sees it. `gold`: the annotation whose accepted revision is the known answer.

    `chosen_by`: what gave its document its place in the queue: "model", "random", "age" or "hand"; None: it came then.
    """

    id: str
    document_id: str
    document: str
    question_id: str
    question: str
    wanted: int
    closed: bool
    gold: str | None
    answers: Annotated[list[GivenAnswer], Field(validate_default=True)] = []
    chosen_by: str | None = None


class TriggersView(BaseModel):
    """A project's triggers: how many untrained answers there are, how old the oldest is, and the schedule."""

    project_id: str
    project: str
    automatic: bool
    accepted: int
    wanted: int
    oldest_at: datetime | None
    wanted_days: float
    cron: str
    time_zone: str
    age_due_at: datetime | None
    clock_due_at: datetime | None
    next_at: datetime | None
    job_id: str | None
    near: str
    scheduler: SchedulerView | None
    firings: list[FiringView]


class Uploaded(BaseModel):
    """Result of each uploaded file."""

    documents: list[TakenFile]
    refused: list[RefusedFile]
    detail: str | None = None


class UserView(BaseModel):
    """A user as admins see them. `role`: admin applies to every project; projects assign all other roles."""

    id: str
    name: str
    role: str
    disabled: bool
    created_at: datetime


class VersionView(BaseModel):
    """A model version with its parent, figures and training data."""

    id: str
    label: str
    number: int
    parent_id: str | None
    champion: bool
    created_at: datetime
    figures: dict[str, Any]
    snapshot_sha256: str | None
    optimizer: dict[str, Any]
    missing: bool
    """Whether its checkpoint is missing from disk: it can neither answer nor be trained."""


class WordMerge(BaseModel):
    """Make one word of several; their texts follow each other without a space, in reading order."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["merge"]
    numbers: Annotated[list[int], Field(max_length=100, min_length=2)]


class WordRemove(BaseModel):
    """Take a word away that is none."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["remove"]
    number: int


class WordRestore(BaseModel):
    """Bring retired words back, instead of those that followed them: what undoing a split or a merge needs."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["restore"]
    numbers: Annotated[list[int], Field(max_length=100)]
    instead: Annotated[list[int], Field(max_length=100)] = []


class WordText(BaseModel):
    """Write another text; the word stays the same word."""

    model_config = ConfigDict(
        extra="forbid",
    )
    text: Annotated[str, Field(max_length=500, min_length=1, pattern="\\S")]
    op: Literal["text"]
    number: int


Action = TypeAliasType("Action", Literal["edit", "accept", "submit", "reopen"])


Box = TypeAliasType("Box", tuple[int, int, int, int])


ChangeKind = TypeAliasType("ChangeKind", Literal["gained", "lost", "better", "worse", "same"])


Point = TypeAliasType("Point", tuple[float, float, bool])


Verdict = TypeAliasType("Verdict", Literal["accepted", "rejected", "fixed"])


class AnnotationLine(BaseModel):
    """An annotation in a list of questions."""

    id: str
    question: QuestionView
    status: str
    head: int
    author: Author
    text: str
    no_answer: bool
    pages: list[str]
    answered: float | None
    score: float | None
    updated_at: datetime | None


class Change(BaseModel):
    """One question: how well the champion answered it ("before") and the challenger ("after").

    gained: it was not found (IoU at most one half) and now is; lost: the other way; for a question without an answer, whether that is
    said. better, worse: found as before, marked otherwise. Ids and names are None for generated pages.
    """

    holdout: str
    kind: ChangeKind
    question: str
    answerable: bool
    before: float
    after: float
    page_id: str
    page_number: int | None = None
    document_id: str | None = None
    document: str | None = None


class Changes(BaseModel):
    """The changes of a run: how many there are of each kind, and those asked for, the largest first."""

    counts: dict[str, dict[str, int]]
    changes: list[Change]


class Document(BaseModel):
    """A document with its pages and the questions asked about it."""

    id: str
    name: str
    project_id: str
    warnings: list[str]
    pages: list[PageLine]
    reading: int | None
    annotations: list[AnnotationLine]


class EditPrompts(BaseModel):
    """The points and boxes placed so far on a page."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["prompts"]
    page: str
    points: Annotated[list[Point], Field(max_length=200)] = []
    boxes: Annotated[list[Box], Field(max_length=200)] = []


class Figures(BaseModel):
    """The figures of a project over a period. Who is no reviewer sees other people's work as "others"."""

    first_day: date
    last_day: date
    masks_a_day: list[MasksADay]
    by_model: list[ModelFigures]
    """Over the project's whole life, oldest version first."""
    people: list[PersonFigures]
    """Over the period, by name."""
    queue: list[QueueDepth]
    """Every day of the period, from the first on which there was a queue."""
    choices: Choices
    """Over the project's whole life: what the model's choice is worth."""


class Me(BaseModel):
    """The current user and the login mode: local or login."""

    user: Person
    auth: str


class NextTask(BaseModel):
    """What to do next. `annotation_id`, `page_id`: the caller's answer and where it is, if there is one already.

    Without a task `reason` says why; a rejected answer to a question of one's own comes without a task, when no task is left.
    """

    task: LeasedTask | None
    annotation_id: str | None
    page_id: str | None
    reason: str | None
    queue: QueueView


class Part(BaseModel):
    """What a word falls into: a text and its box."""

    model_config = ConfigDict(
        extra="forbid",
    )
    text: Annotated[str, Field(max_length=500, min_length=1, pattern="\\S")]
    box: Box


class Patch(BaseModel):
    """A mask as it travels and is stored: row-major run lengths inside a box, starting with zeros (model.masks)."""

    box: Box
    counts: list[int] = []


class ProjectAgreement(BaseModel):
    """All of it. `model`: its proposals against the accepted answers, newest first, at most NEWEST of them.

    `reliability`: of everybody who was compared with others or with known answers, the least reliable first.
    """

    pairs: list[Pair]
    people: list[PersonAgreement]
    between_people: Mean
    model: Mean
    reliability: Annotated[list[Reliability], Field(validate_default=True)] = []


class RetiredWords(BaseModel):
    """Words that were split, merged or removed; old revisions name them. `places`: how many live words stand before each."""

    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    places: list[int]


class WordAdd(BaseModel):
    """A word that the reader had missed."""

    model_config = ConfigDict(
        extra="forbid",
    )
    text: Annotated[str, Field(max_length=500, min_length=1, pattern="\\S")]
    op: Literal["add"]
    box: Box


class WordSplit(BaseModel):
    """Split a word into parts, in reading order."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["split"]
    number: int
    parts: Annotated[list[Part], Field(max_length=50, min_length=2)]


class Words(BaseModel):
    """The words of a page in reading order, one list a property. Boxes are pixels, right and lower edge exclusive.

    `version` counts how often they were mended; `next` is the number that the next new word gets.
    """

    version: int
    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    next: int
    retired: RetiredWords


WordChange = TypeAliasType(
    "WordChange",
    Annotated[WordText | WordSplit | WordMerge | WordAdd | WordRemove | WordRestore, Field(discriminator="op")],
)


class Candidate(BaseModel):
    """One way to answer."""

    words: list[int]
    mask: Patch
    text: str
    score: float


class Contradiction(BaseModel):
    """Why an accepted label is looked at again, and what the model says instead; without words and mask: "not answered here".

    kind: the model marks a place "elsewhere"; it marks one "here" where the label has none; or it is sure of "not_here".
    """

    kind: str
    sentence: str
    model: str
    page_id: str
    words: list[int]
    mask: Patch


class EditMask(BaseModel):
    """Replace what is marked on a page: a proposal, a candidate, an undo."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["mask"]
    page: str
    words: Annotated[list[int], Field(max_length=20000)]
    mask: Patch


class EditPatch(BaseModel):
    """A stroke of the brush (value 1) or of the eraser (value 0). The words stay as they are."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["patch"]
    page: str
    value: Literal[0, 1]
    patch: Patch


class MendRequest(BaseModel):
    """What somebody wants to change. The same `idempotency_key` again is the same save."""

    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[str, Field(max_length=64, min_length=8)]
    base: Annotated[int, Field(ge=0, lt=2147483648)]
    """Version of the words that the person saw."""
    edits: Annotated[list[WordChange], Field(max_length=1000, min_length=1)]


class MendedWords(BaseModel):
    """The words after a save. `saved_version` is the version that this save made, also when it is asked for again."""

    version: int
    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    next: int
    retired: RetiredWords
    saved_version: int
    saved_at: datetime


class NextReview(BaseModel):
    """An answer to judge, the caller's until `lease_until`; without one, `reason` says why. `to_review`: how many wait.

    `second_look`: why an accepted label is looked at again.
    """

    annotation_id: str | None
    document_id: str | None
    page_id: str | None
    lease_until: datetime | None
    reason: str | None
    to_review: int
    second_look: Contradiction | None = None


class PageMark(BaseModel):
    """What is marked on one page: the selected words, the pixels, and the prompts placed so far."""

    words: list[int] = []
    mask: Patch
    points: list[Point] = []
    boxes: list[Box] = []


class Proposal(BaseModel):
    """A prediction with who made it and how long it took."""

    words: list[int]
    mask: Patch
    text: str
    score: float
    candidates: Annotated[list[Candidate], Field(validate_default=True)] = []
    ranked: Annotated[list[RankedPage], Field(validate_default=True)] = []
    prediction_id: str
    page_id: str
    answered: float
    milliseconds: float
    model: ModelName


Edit = TypeAliasType(
    "Edit",
    Annotated[EditWords | EditPatch | EditMask | EditPrompts | EditClear | EditNoAnswer, Field(discriminator="op")],
)


class AnnotationState(BaseModel):
    """The whole answer of a document to a question. With `no_answer`, masks that are left do not count."""

    no_answer: bool = False
    pages: Annotated[dict[str, PageMark], Field(validate_default=True)] = {}


class AnnotationView(BaseModel):
    """An annotation with its newest state; with `head` 0 that is the model's proposal."""

    id: str
    document_id: str
    question: QuestionView
    status: str
    head: int
    author: Author
    editor: Author | None
    updated_at: datetime | None
    state: AnnotationState
    text: str
    proposal: Proposal | None
    ranked: Annotated[list[RankedPage], Field(validate_default=True)] = []
    existing: bool = False


class ReviewRequest(BaseModel):
    """A verdict on revision `base`. The same `idempotency_key` again is the same verdict."""

    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[str, Field(max_length=64, min_length=8)]
    base: Annotated[int, Field(ge=1, lt=2147483648)]
    """The revision that was judged."""
    verdict: Verdict
    quality: bool | None = None
    """Are the pixels right?"""
    completeness: bool | None = None
    """Is nothing missing?"""
    reason: Annotated[str, Field(max_length=5000)] = ""
    """What to do better; a rejection needs one."""
    edits: Annotated[list[Edit], Field(max_length=1000, validate_default=True)] = []
    """What the reviewer mended: `fixed` alone."""
    seconds: Annotated[float, Field(ge=0.0, le=86400.0)] = 0
    """The reviewer's active work."""


class RevisionRequest(BaseModel):
    """What somebody wants to save. The same `idempotency_key` again is the same revision."""

    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[str, Field(max_length=64, min_length=8)]
    base: Annotated[int, Field(ge=0, lt=2147483648)]
    """Revision that the person saw; 0: only the model had spoken."""
    action: Action = "edit"
    edits: Annotated[list[Edit], Field(max_length=1000, validate_default=True)] = []
    prediction_id: PredictionId | None = None
    """The proposal that the edits build on."""
    seconds: Annotated[float, Field(ge=0.0, le=86400.0)] = 0
    """Active work since the revision before."""
    interactions: Annotated[dict[Annotated[str, StringConstraints(max_length=40)], int], Field(max_length=50)] = {}
    """Tool: how often used."""


class Saved(BaseModel):
    """A revision that is on disk, with the text under it."""

    revision: int
    status: str
    saved_at: datetime
    state: AnnotationState
    text: str
