"""Requests and answers of the server. Written by `make client` from the OpenAPI document; do not edit."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypeAliasType


class Askable(BaseModel):
    """Standard question, and this person's annotation of it in the document, if any."""

    id: str
    text: str
    annotation_id: str | None


class AskedQuestion(BaseModel):
    """Question of a task."""

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
    """Audit of the champion's automatic answers, with the 95 % interval of the share that is right."""

    drawn: int
    """Automatic answers drawn for a check."""
    checked: int
    """Those that a person has answered."""
    right: int
    """Those that the person confirmed."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""


class Author(BaseModel):
    """Author of an answer, by display name."""

    id: str
    name: str


class AutomaticLine(BaseModel):
    """Automatic answer in a list; `verdict` is None until a person answers the question."""

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


class BinLine(BaseModel):
    """A document in the bin: its name, pages and answers, who removed it and when, and when it will be deleted."""

    id: str
    name: str
    pages: int
    answers: int
    removed_by: str | None
    removed_at: datetime
    deleted_at: datetime


class BrokenRule(BaseModel):
    """A broken rule."""

    field: str
    sentence: str


class CallbackSecretView(BaseModel):
    """Whether a project has a secret for callbacks, and since when."""

    exists: bool
    created_at: datetime | None


class Cell(BaseModel):
    """Place of a value in a table: its row from 0, and the name of its column."""

    row: int
    column: str


class CellView(BaseModel):
    """What the answer that counts says: accepted over fixed, submitted, draft, rejected, automatic, proposal."""

    annotation_id: str | None
    """A person's answer; null without any."""
    page_id: str | None
    """First marked page."""
    status: str
    """Status of the answer; "automatic", "proposal" (of a survey), or "" without any."""
    state: str
    """"value", "absent" (not in the document), "empty" (no answer), "ambiguous" or "unreadable"."""
    printed: str
    """Words of the marks, as they are printed; of a long text the beginning."""
    text: str
    """The same, or as a person corrected it."""
    shown: str
    """Normalised values, for people."""
    values: list[str | int | bool | dict[str, str | None] | None]
    """Normalised values in order; null for one that cannot be read."""
    changed: bool
    """Whether a person changed the mark or the text."""
    broken: bool
    """Whether a rule of the field is broken."""
    confidence: float | None
    """Confidence of a proposal or an automatic answer, 0..1."""
    validated_by: str
    """"person", "rule" (every rule of the field is kept) or "nothing"."""


class ChangeLine(BaseModel):
    """What changed in a project."""

    project_id: str | None
    """Project; null: it concerns all projects, or the users of the server."""
    topic: Literal[
        "documents",
        "questions",
        "tasks",
        "answers",
        "figures",
        "values",
        "jobs",
        "runs",
        "models",
        "projects",
        "members",
        "users",
    ]
    """documents, questions, tasks (queue, leases), answers, figures (numbers of documents), values (rows of the table of values), jobs, runs, models, projects (name, settings, stage), members, or users (all for admins of the server, oneself for others)."""
    subjects: list[str] | None
    """Ids of what changed: documents (also for answers, figures and values), jobs, runs, models, users; null: any of them."""


class ChangedDocuments(BaseModel):
    """Ids of the documents that the request has changed."""

    documents: list[str]


class ChangedQuestions(BaseModel):
    """Ids of the questions that the request has changed."""

    questions: list[str]


class ChangesView(BaseModel):
    """Changes since a cursor. `all`: they are not known any more, so everything may have changed."""

    next: int
    """Cursor for the next request."""
    all: bool = False
    changes: Annotated[list[ChangeLine], Field(validate_default=True)] = []


class Choice(BaseModel):
    """Finished documents with the same selection reason; 95 % interval, None for fewer than six documents."""

    chosen_by: str
    documents: int
    pages: int
    corrections: int
    corrections_a_page: float
    low: float | None
    high: float | None


class Choices(BaseModel):
    """Figures by selection reason, and the difference of model and random choice with its interval."""

    by: list[Choice]
    more: float | None = None
    """Corrections per page: chosen by the model, minus random."""
    more_low: float | None = None
    more_high: float | None = None


class Conventions(BaseModel):
    """Conventions by which ambiguous values of a project are read."""

    conventions: dict[str, str]
    issuers: dict[str, dict[str, str]]
    """Conventions of single issuers, by name; they go first."""


class DecidedAnswer(BaseModel):
    """Result for one answer: the stored revision, or the reason why there is none."""

    annotation_id: str
    revision: int | None
    """Number of the stored revision; null where it was refused."""
    status: str | None
    """Status from here on; null where it was refused."""
    refusal: str
    """Why the answer was left as it is; empty where it was not."""
    conflict: bool
    """Whether it was refused because somebody had changed it meanwhile."""


class DeletedProject(BaseModel):
    """Id of a project that is being deleted for good, and sentences on what stays, with the reason."""

    id: str
    stays: list[str]


class DeletedQuestions(BaseModel):
    """Ids of the questions that are being deleted for good, and a sentence for each whose answers a snapshot keeps."""

    questions: list[str]
    stays: list[str]


class DeliveryView(BaseModel):
    """A delivery: a message to one address, and how its sending went."""

    id: str
    webhook_id: str | None
    """Its webhook; null: a callback of one request."""
    url: str
    event: str
    state: str
    """waiting, sent or failed."""
    attempts: int
    """Attempts since it was written or sent again."""
    code: int | None
    """HTTP status of the last answer; null without one."""
    error: str
    """Why the last attempt failed; empty otherwise."""
    created_at: datetime
    tried_at: datetime | None
    """Time of the last attempt."""
    next_at: datetime | None
    """Time of the next attempt; null when none follows."""
    content: bool
    """Whether its content is still there, so that it can be sent again."""


class DocumentLine(BaseModel):
    """Document in a project's list."""

    id: str
    name: str
    media_type: str
    pages: int
    words: int
    questions: int
    """Questions of the document: the standard ones, and others that were asked."""
    accepted: int
    """Those of its questions that have an accepted answer."""
    cover_page_id: str | None
    cover_image: str | None = None
    """Version of its image, for addresses: another once it was turned."""
    warnings: list[str]
    same_as: str | None = None
    """The project's first document with a page like one of this document."""
    quarantined: bool = False
    """Excluded from training and evaluation; the warnings give the reason."""
    created_at: datetime


class DocumentTrace(BaseModel):
    """What holds a document, or has learned from it.

    Attributes:
        kind: Kind of the holder.
        id: Its id; of an export, that of its entry in the audit trail.
        sentence: What it holds, or how it learned.
        learned: Whether it has learned from the document, itself or the version that it is built on.
        at: When it was made.
    """

    kind: Literal["snapshot", "export", "run", "model", "copy"]
    id: str
    sentence: str
    learned: bool
    at: datetime


class DocumentTraces(BaseModel):
    """Some traces of a document, the newest first; `total`: number of all of them."""

    document_id: str
    name: str
    total: int
    traces: list[DocumentTrace]


class EditAddValue(BaseModel):
    """Insert a value without marks at a place; the values from there on move up."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["add_value"]
    cell: Cell | None = None
    """Its place in a table."""


class EditCell(BaseModel):
    """Put a value into a cell of a table, or take it out of the table (null)."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["cell"]
    cell: Cell | None


class EditClear(BaseModel):
    """Clear the mark of a page."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["clear"]
    page: str


class EditNoAnswer(BaseModel):
    """Set or clear "not in the document"."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["no_answer"]
    value: bool


class EditRemoveValue(BaseModel):
    """Remove a value with its marks; the values behind it move down."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["remove_value"]


Text = TypeAliasType("Text", Annotated[str, Field(max_length=2000)])


class EditText(BaseModel):
    """Correct the printed text of a value, or take the correction back (null); a picked reading goes with it."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["text"]
    text: Text | None


class EditWords(BaseModel):
    """Select and deselect words: fills their boxes, or clears them except where a selected word lies."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["words"]
    page: str
    add: Annotated[list[int], Field(max_length=20000)] = []
    remove: Annotated[list[int], Field(max_length=20000)] = []


class EmptiedBin(BaseModel):
    """Ids of the documents that are being deleted for good, and a sentence for each that stays, with the reason."""

    documents: list[str]
    stays: list[str]


class Encoding(BaseModel):
    """Encoding state of a page."""

    status: str
    """encoded, encoding, or loading: right after its start, a server loads the networks first."""


class Enrolment(BaseModel):
    """A secret for an app, which a code has yet to confirm.

    `address`: the secret as otpauth://. `qr`: a picture of that address, as a data URI.
    """

    secret: str
    address: str
    qr: str


class ErasedPerson(BaseModel):
    """The id, the label in place of the name, and a sentence for each copy that still has the name."""

    id: str
    name: str
    stays: list[str] = []


class ExportView(BaseModel):
    """An export that runs, has failed within a day, or whose file is kept."""

    id: str
    """The id of its job."""
    format: str
    title: str
    """The format, for people."""
    chosen: str
    """The filters, for people; empty: all accepted answers."""
    by: str
    """User who started it."""
    asked_at: datetime
    state: Literal["waiting", "running", "done", "failed", "stopped"]
    stopping: bool
    """Whether it was stopped; it ends at its next step."""
    progress: float
    """Share done, 0..1."""
    message: str
    """Its present step, its result, or why it failed."""
    answers: int | None
    """Once they are written."""
    bytes: int | None
    """Size of the zip file, once it is whole."""
    kept_until: datetime | None
    """The file is deleted then."""


class ExtractedPaper(BaseModel):
    """The paper that the values are from."""

    id: str | None
    """Document; null where nothing was stored."""
    name: str
    sha256: str
    pages: int


class ExtractionBegun(BaseModel):
    """A paper whose pages are still being read."""

    document_id: str
    pages_read: int
    pages: int
    detail: str = "The pages of this document are still being read. Ask again for its values."


class FieldAt(BaseModel):
    """A version of a field, with who made it."""

    number: int
    definition: dict[str, Any]
    person: str | None
    created_at: datetime


class FieldChange(BaseModel):
    """A change of the list, before it is saved.

    Attributes:
        name: Name of the field, the new one.
        kind: "added", "changed" or "removed".
        documents: Number of documents whose answers it touches.
        sentence: What it does to them.
    """

    name: str
    kind: str
    documents: int
    sentence: str


FieldType = TypeAliasType(
    "FieldType",
    Literal[
        "string",
        "number",
        "integer",
        "currency",
        "date",
        "time",
        "boolean",
        "choice",
        "phone",
        "country",
        "address",
        "signature",
        "region",
        "table",
    ],
)
"""Type of a field; the comment beside each says what its normalised value is, as JSON."""


class FiringView(BaseModel):
    """A firing for the API. `created_at` is later than `due_at` where no worker ran at the due time."""

    id: str
    trigger: Literal["clock", "count", "age"]
    due_at: datetime
    outcome: Literal["asked", "busy", "nothing_new", "missed"]
    message: str
    job_id: str | None
    created_at: datetime


class FlagCount(BaseModel):
    """Number of documents that a filter finds."""

    field: str | None
    """Name of the field; null: any field."""
    flag: Literal[
        "empty",
        "absent",
        "ambiguous",
        "unreadable",
        "proposed",
        "unsure",
        "broken",
        "changed",
        "accepted",
        "unaccepted",
    ]
    documents: int


class ExportFormat(BaseModel):
    """An export format."""

    name: str
    title: str
    lossy: str
    """Content that the format cannot hold; empty: none."""


class GivenAnswer(BaseModel):
    """Answer of a person to a task, in any status."""

    annotation_id: str
    person: str
    status: str
    revision: int


class GoldState(BaseModel):
    """Gold answer of the task that an answer belongs to; `task_id` is None where no standard question is asked so.

    `annotation_id`, `revision`, `author`: the gold answer, which may be another person's; None without one.
    """

    task_id: str | None
    annotation_id: str | None = None
    revision: int | None = None
    author: str | None = None


class HeldTask(BaseModel):
    """Task that somebody holds, and the end of the lease.

    A task of which others' answers are hidden from the viewer is not among them: it would announce such an answer.
    """

    person: str
    document: str
    question: str
    until: datetime


class ImportUnderWay(BaseModel):
    """An import that has not ended."""

    id: str
    """The id of its job."""
    name: str
    """The file."""
    by: str
    """User who started it."""
    began_at: datetime
    doing: str
    done: int
    of: int
    """Total number; 0 while it is unknown."""
    stopping: bool
    """Whether it was stopped; it ends at its next step."""


class ImportedSet(BaseModel):
    """Counts of an import: new and known documents, pages, answers, and what was left out."""

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
    proposals: int = 0
    """Answers of models, which people are shown as proposals."""
    lost: dict[str, int]
    """Number of entries left out, by kind, such as automatic answers."""
    bad: int = 0
    """Number of entries with an error that were left out."""
    bad_entries: list[str] = []
    """Sentences on the first 20 of them."""


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


class Issuer(BaseModel):
    """Issuer of a document."""

    issuer: str | None
    """Name, as a person accepted it; null where it is not known."""


class JobView(BaseModel):
    """Job: its progress or result. `failure`: error of its last attempt, also while the next one runs."""

    id: str
    kind: str
    """Work of the job, such as retrain, survey or import."""
    status: str
    """waiting, running, done, failed, cancelled or dead (given up)."""
    progress: float
    """Share that is done, 0..1."""
    message: str
    """Present step as a sentence, or the result."""
    failure: str
    """Error of the last attempt, also while the next one runs; empty without one."""
    attempts: int
    """Attempts so far."""
    max_attempts: int
    """Attempts after which the job is given up."""
    run_after: datetime
    """Earliest time of the next attempt."""
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class LabelReviewLine(BaseModel):
    """Label review in a list; `sentence` gives the reason, `verdict` is None until decided."""

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


class LeaseView(BaseModel):
    """End of the lease without another heartbeat."""

    lease_until: datetime


class LeasedTask(BaseModel):
    """Task leased to the caller until `lease_until`; heartbeats extend the lease."""

    id: str
    document_id: str
    question: AskedQuestion
    lease_until: datetime


class ListedChoice(BaseModel):
    """One choice of a list, with other printed names of it."""

    value: str
    names: list[str] = []


class ListedQuestion(BaseModel):
    """A question that was asked in a project.

    documents: number of the documents that it was asked of; removed answers do not count.
    standard: whether it is a standard question.
    """

    id: str
    text: str
    documents: int
    standard: bool


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


class MadeSecret(BaseModel):
    """A new secret. It is shown only once."""

    secret: str


class MadeToken(BaseModel):
    """A new token. It is shown once and not stored."""

    token: str
    scope: Literal["read", "extract", "annotate", "admin"]
    days: int


class MasksADay(BaseModel):
    """Masks that one person finished on one day; zero rows are left out."""

    day: date
    person: str
    masks: int


class Mean(BaseModel):
    """Mean agreement over questions; None when nothing was compared.

    Attributes:
        questions: Number of comparisons.
        iou: Of the pixels.
        word_f1: Of the words.
        typed: Number of comparisons of values of a typed field.
        value_equal: Share of equal values as the type of the field, over those.
        value_exact: Share of equal texts but for case and white space, over all answers with text.
        value_anls: Similarity of the texts, over the same.
        equal_elsewhere: Number of comparisons with equal values at different places (IoU below AGREED).
        other_value_here: Number of comparisons with different values at the same place.
    """

    questions: int
    iou: float | None
    word_f1: float | None
    typed: int = 0
    value_equal: float | None = None
    value_exact: float | None = None
    value_anls: float | None = None
    equal_elsewhere: int = 0
    other_value_here: int = 0


class MemberView(BaseModel):
    """A member of a project. Admins of the installation have all rights without membership."""

    user_id: str
    name: str
    role: str
    since: datetime
    disabled: bool


class ModelFigures(BaseModel):
    """Pace of people to whom this model version proposed the answer."""

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
    outside: bool = False
    """Whether it is a model of others."""


class ModelName(BaseModel):
    """Model with its display label."""

    id: str | None
    """Id of the model version; null for a model of others."""
    label: str


class MadeWebhook(BaseModel):
    """A new webhook. `secret` is shown once."""

    id: str
    url: str
    events: list[str]
    enabled: bool
    off_reason: str
    failing_since: datetime | None
    created_by: str
    created_at: datetime
    secret: str


class NextAnswer(BaseModel):
    """The next open answer, or the reason why there is none."""

    annotation_id: str | None
    document_id: str | None = None
    reason: str | None = None


class NotBeforeRule(BaseModel):
    """The date or time is not before that of another field."""

    rule: Literal["not_before"]
    field: str
    """Key for programs: small letters, digits and _."""


class OtherAnswer(BaseModel):
    """Another person's answer to the same question of the same document, beside the one under review.

    `relation`: equal (the same words, or the same pixels where no word is marked, and the same said of their text; or
    the same date, amount or other typed value at any place), similar (it overlaps, or has the same text at another
    place), contradicts (another value or text, or only one of both marks anything).
    """

    annotation_id: str
    author: str
    status: str
    text: str
    """Words of the answer, as a person corrected them; empty when it marks none."""
    no_answer: bool
    relation: Literal["equal", "similar", "contradicts"]


class OutsideModelView(BaseModel):
    """A version of a model of others that has proposed answers here, and what its requests took."""

    name: str
    version: str
    prompt: str
    """What it was told; empty where another program sent its predictions."""
    requests: int
    """Answered requests."""
    tokens_in: int
    """Tokens read, as its server counts them."""
    tokens_out: int
    """Tokens written, as its server counts them."""
    milliseconds: int
    """Of all requests together."""
    created_at: datetime


class PageLine(BaseModel):
    """Page of a document; width and height are pixels of its rendering."""

    id: str
    number: int
    """Number in the document, from 1."""
    width: int
    height: int
    words: int
    """Number of its words."""
    text_source: str
    """Source of the words: layer (of the PDF), ocr, layer+ocr (OCR read what the layer lacks), given (by an import) or none."""
    image: str
    """Version of its image: another once the page was turned."""


class Pair(BaseModel):
    """Agreement of two people over the questions that both answered; `value_equal` as of `Mean`."""

    people: tuple[str, str]
    questions: int
    iou: float | None
    word_f1: float | None
    value_equal: float | None = None


class PatternRule(BaseModel):
    """The whole normalised value fits a regular expression."""

    rule: Literal["pattern"]
    pattern: str


class Person(BaseModel):
    """A user."""

    id: str
    name: str
    role: str


class PersonAgreement(BaseModel):
    """Agreement of a person with all others, and with unannounced gold answers.

    Attributes:
        person: Name.
        questions: Number of comparisons with others.
        iou: With others.
        word_f1: With others.
        gold_questions: Number of gold questions answered.
        gold_iou: With the gold answers.
        value_equal: Share of values equal to those of others, over typed fields.
        gold_right: Share of gold questions answered right: by value in a typed field, else by mark.
    """

    person: str
    questions: int
    iou: float | None
    word_f1: float | None
    gold_questions: int
    gold_iou: float | None
    value_equal: float | None = None
    gold_right: float | None = None


class PersonFigures(BaseModel):
    """Pace of one person."""

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


class PickedReading(BaseModel):
    """Reading of an ambiguous text that a person picked (engine.fields.normalisation)."""

    value: str | int | bool | dict[str, str | None]
    convention: dict[str, str] = {}


class PrecisionPoint(BaseModel):
    """Precision of answers at or above a confidence; `low` is the simultaneous 95 % lower bound."""

    threshold: float
    """The confidence, 0..1."""
    answers: int
    """Reviewed answers at or above it."""
    right: int
    """Right answers among them."""
    documents: int
    """Documents of these answers."""
    precision: float | None
    """Share of right answers; null without answers."""
    low: float
    """Lower bound of the precision at 95 %, valid for all points at once."""


class PredictionOutcome(BaseModel):
    """What became of a prediction."""

    question: str
    outcome: Literal["proposed", "answered", "not_found"]
    """proposed: people see it; answered: a person has answered the question, and nothing was stored; not_found: no page prints the text, and nothing was stored."""
    page: int | None
    """Page that the proposal marks; null without one."""
    text: str
    """Words that the proposal marks; of a text that was not found, that text."""
    places: int
    """Number of places offered on the page."""


class ProjectName(BaseModel):
    """Name of a project."""

    id: str
    name: str


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
    archived_at: datetime | None = None
    """Since then nothing in it can be changed."""


class ProposerView(BaseModel):
    """The model of others that a project asks, without its key."""

    kind: Literal["openai", "http"]
    url: str
    model: str
    prompt: str
    has_key: bool
    alone: bool
    automatic: bool
    number: int
    """Number of the settings; it rises with address, model and prompt."""
    changed_by: str
    changed_at: datetime


class PrunedVersion(BaseModel):
    """A version whose weights are deleted, or would be."""

    id: str
    label: str
    files: int
    """Number of its checkpoints on disk: the one in use, those of folds, and their mean."""
    bytes: int


class PushedResult(BaseModel):
    """What became of each prediction, in their order."""

    predictions: list[PredictionOutcome]


class PutFirst(BaseModel):
    """Number of tasks moved to the front of the queue."""

    tasks: int


class QuestionAgreement(BaseModel):
    """Agreement between people over one question; `type` of its field, None where it is none."""

    question_id: str
    question: str
    type: FieldType | None
    between_people: Mean


class QuestionHoldings(BaseModel):
    """What goes to the bin with a question.

    Attributes:
        id: Id of the question.
        text: The question.
        answers: Answers of people, in any state; removed ones do not count.
        people: Their authors.
        values: Documents that have a value of the field.
        tasks: Tasks of the question.
    """

    id: str
    text: str
    answers: int
    people: int
    values: int
    tasks: int


class QuestionView(BaseModel):
    """Question with its text."""

    id: str
    text: str


class QueueDepth(BaseModel):
    """Depth at the end of a day: tasks without enough answers, and answers without a verdict."""

    day: date
    open: int
    submitted: int


class QueueView(BaseModel):
    """Progress of a project's standard questions.

    - `open`: tasks that need answers; `mine`: those that this person may take now; `in_progress`: those that somebody
      holds. All but `mine` and `in_progress` add up to `total`.
    - `submitted`: answers that wait for a verdict; `done`: accepted answers.
    - `skipped`: tasks that somebody could not answer, which wait for a reviewer; `dismissed`: those that cannot be
      answered.
    - `automatic`: tasks answered automatically and not drawn for a check.
    - `to_review`: answers that this person may review.
    - `reason`: why nothing is left for this person, else None.
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
    in_progress: int = 0
    skipped: int = 0
    dismissed: int = 0


class QueuedDelivery(BaseModel):
    """Id of a delivery that waits to be sent."""

    id: str


class RangeRule(BaseModel):
    """The value is neither below `least` nor above `most`: numbers, amounts, dates and times as they are normalised."""

    rule: Literal["range"]
    least: str | None = None
    most: str | None = None


class RankedPage(BaseModel):
    """Scores of a page for a question: probability that it answers, and predicted IoU."""

    page_id: str
    answered: float
    """Probability that the page answers."""
    score: float
    """Predicted IoU of its proposal, 0..1."""


class ReadingView(BaseModel):
    """A reading of an ambiguous text, for a person to pick."""

    value: str | int | bool | dict[str, str | None]
    words: str
    """The convention in words."""
    convention: dict[str, str]
    """What to remember where this reading is picked."""


class Recent(BaseModel):
    """Question that people asked in this project, and its number of documents."""

    id: str
    text: str
    times: int


class RecoveryCodes(BaseModel):
    """Recovery codes, shown once."""

    recovery_codes: list[str]


class RefusedFile(BaseModel):
    """A refused file, with the reason."""

    name: str
    reason: str
    sentence: str


class Reliability(BaseModel):
    """Reliability of a person's answers, 0..1, with the numbers of comparisons behind it.

    `sentence`: names the person when they disagree with everybody else, or answer in haste; otherwise None.
    `hasty_share`: share of their answers that took less than HASTY_SECONDS.
    """

    person: str
    reliability: float
    comparisons: int
    gold_questions: int
    sentence: str | None = None
    hasty_share: float = 0.0


class RemovedProjectLine(BaseModel):
    """A project in the bin: its name and documents, who removed it and when, and when it will be deleted.

    `erasing`: it is being deleted, and cannot be restored.
    """

    id: str
    name: str
    documents: int
    removed_by: str | None
    removed_at: datetime
    deleted_at: datetime
    erasing: bool


class RemovedQuestionLine(BaseModel):
    """A question in the bin: its answers and tasks, who removed it and when, and when it will be deleted.

    `standard`: whether it was a standard question.
    """

    id: str
    text: str
    standard: bool
    answers: int
    tasks: int
    removed_by: str | None
    removed_at: datetime
    deleted_at: datetime


class ReviewLine(BaseModel):
    """Verdict that was given; `revision` is the judged revision."""

    reviewer: str
    verdict: str
    quality: bool | None
    completeness: bool | None
    reason: str
    revision: int
    becomes_label: bool
    created_at: datetime


class RevisionLine(BaseModel):
    """Revision in the history of an annotation; `model` is the version whose proposal it corrects."""

    number: int
    action: str
    status: str
    author: str
    seconds: float
    interactions: dict[str, int]
    created_at: datetime
    model: str | None


PredictionId = TypeAliasType("PredictionId", Annotated[str, Field(max_length=32)])
"""Proposal that the edits build on."""


class RunLine(BaseModel):
    """Run in a list; `verdict` is the gate's, empty before judging."""

    id: str
    status: str
    """running, judged, failed or cancelled."""
    parent: str
    """Label of the version that the run began with: the champion of that moment."""
    challenger: str | None
    """Label of the retrained version; null before the training ended."""
    challenger_id: str | None
    """Id of the retrained version."""
    snapshot_sha256: str
    """Snapshot that the run learned from."""
    annotations: int
    """Answers in the snapshot."""
    verdict: dict[str, Any]
    """The gate's verdict: passed, sentence and figures; empty before judging."""
    created_at: datetime
    finished_at: datetime | None


class RunView(BaseModel):
    """Run with its settings and curves."""

    id: str
    status: str
    """running, judged, failed or cancelled."""
    parent: str
    """Label of the version that the run began with: the champion of that moment."""
    challenger: str | None
    """Label of the retrained version; null before the training ended."""
    challenger_id: str | None
    """Id of the retrained version."""
    snapshot_sha256: str
    """Snapshot that the run learned from."""
    annotations: int
    """Answers in the snapshot."""
    verdict: dict[str, Any]
    """The gate's verdict: passed, sentence and figures; empty before judging."""
    created_at: datetime
    finished_at: datetime | None
    settings: dict[str, Any]
    """Settings of the run, such as depth, steps and blend."""
    seed: int
    """Seed of every random choice."""
    code_version: str
    """Version of the program that trained."""
    length: str
    """What a longer run is expected to bring, as sentences; empty before the verdict."""
    unlabelled: str
    """Number of pages without labels that took part, or why none did, as a sentence; empty where none was wanted."""
    metrics: list[dict[str, Any]]
    """Points of the curves: the step, and figures by name."""


class SchedulerView(BaseModel):
    """The worker that looks at the triggers, since when, and when it last renewed its lease."""

    holder: str
    since: datetime
    heartbeat_at: datetime


class SecondFactorView(BaseModel):
    """A person's second factor. `since`: None without one. `required`: the server asks for one of this person."""

    since: datetime | None
    required: bool
    recovery_codes: int


class SessionView(BaseModel):
    """A session of a browser, or a token of a program. `current`: the session of this request.

    `scope`: scope of a token; None for browsers. `last_used_at`: last use, up to ten minutes old; in a browser, that of
    the person, not of the open page.
    """

    id: str
    client: str
    address: str
    created_at: datetime
    expires_at: datetime
    current: bool
    scope: Literal["read", "extract", "annotate", "admin"] | None = None
    last_used_at: datetime | None = None


class SkipLine(BaseModel):
    """Skip of a task: who, why, and what a reviewer decided.

    - `reason`: "unreadable", "not_sure", "wrong_document" or "other"; `note`: the person's words.
    - `verdict`: "returned", "dismissed" or "withdrawn"; None: it waits. `remark` and `decided_by` are the reviewer's.
    - `waits`: whether a reviewer has to decide; false once the task was answered.
    - `annotation_id`: the person's draft, if there is one.
    """

    id: str
    task_id: str
    document_id: str
    document: str
    question: str
    person: str
    reason: str
    note: str
    created_at: datetime
    waits: bool
    verdict: str | None
    remark: str
    decided_by: str | None
    decided_at: datetime | None
    annotation_id: str | None


class SnapshotLine(BaseModel):
    """Snapshot in a list."""

    id: str
    sha256: str
    splits: list[str]
    """Splits that it took; empty for all."""
    annotations: int
    documents: int
    left_out: dict[str, int]
    """Name of a check: how many answers failed it."""
    reduced: int
    """Answers of people that weigh less than 1."""
    weightless: int
    """Answers of weight 0."""
    created_at: datetime
    needed: str
    """Sentence that names the run or model that needs it; empty: it can be removed."""


class SpaceView(BaseModel):
    """What a project holds, or a person has uploaded."""

    documents: int
    megabytes: float
    """Size of the files, as they were uploaded."""
    most_documents: int | None
    """Quota; null: no limit."""
    most_megabytes: float | None
    """Quota; null: no limit."""
    own: bool
    """Whether the quota was set for this project or person; else it is the settings'."""
    sentence: str
    """What people are told from 80 % of a quota on; empty before."""


class SpacesView(BaseModel):
    """The space of a project, and that of the person who asks, over all projects and their bins."""

    project: SpaceView
    person: SpaceView


class StageView(BaseModel):
    """Stage of a project. `since`, `reason`, `changed_by`: of its latest change, None if automatic."""

    stage: str
    """assisted, semi-automatic or automatic."""
    since: datetime | None
    """Time of the latest change; null without one."""
    reason: str
    """Reason of the latest change."""
    changed_by: str | None
    """User who made it; null for an automatic change."""
    model: str
    """Label of the model in use."""
    target: float
    """Precision that automatic answers must reach."""
    least_answers: int
    """Reviewed answers needed to measure the precision."""
    measured_answers: int
    """Reviewed answers of holdout documents behind the measured precision."""
    measured_documents: int
    """Documents of these answers."""
    points: list[PrecisionPoint]
    """Precision by confidence."""
    threshold: float | None
    """Lowest confidence that reaches the target; null when none does."""
    blocked: str | None
    """Reason why no answer can be accepted automatically, as a sentence."""
    would_accept: int
    """Open tasks that would be answered automatically now."""
    automatic: int
    """Automatic answers in force: neither withdrawn nor answered by a person."""
    confirmed: int
    """Automatic answers that a person confirmed."""
    corrected: int
    """Automatic answers that a person fixed."""
    audit: AuditView
    surveyed: int
    """Tasks that the survey has answered."""
    tasks: int
    """Tasks of the project."""


class StandardQuestion(BaseModel):
    """Standard question with its position in the list, from 0."""

    id: str
    text: str
    position: int


class Suggestions(BaseModel):
    """Suggested questions: standard ones in their order, then others by use."""

    standard: list[Askable]
    recent: list[Recent]


class SumRule(BaseModel):
    """The value is the sum of other fields of the paper, up to `tolerance`."""

    rule: Literal["sum"]
    of: list[str]
    tolerance: float = 0.005


class TableCounts(BaseModel):
    """Numbers of documents: of the project, and by filter; filters that find none are left out."""

    documents: int
    counts: list[FlagCount]


class TableRow(BaseModel):
    """A document with its cells by name of the field; cells that were not derived yet are left out."""

    document_id: str
    name: str
    created_at: datetime
    broken: int
    """Number of broken rules."""
    rules: list[BrokenRule]
    """The first broken rules."""
    cells: dict[str, CellView]


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
    """Task in a list; `gold` is the annotation whose accepted revision is the gold answer.

    `chosen_by`: how its document got its queue position: "model", "random", "age" or "hand"; None: by arrival.
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


class TaskProgress(BaseModel):
    """A change that tasks follow: how many documents have followed, of all; `sentence` says so."""

    kind: str
    sentence: str
    done: int
    total: int
    asked_by: str | None
    asked_at: datetime
    finished_at: datetime | None


class TransferPreview(BaseModel):
    """What a transfer would do."""

    documents: int
    fields: list[str]
    """Names of fields that the other project does not have."""
    may_add: bool
    """Whether the caller may add them there."""
    sentences: list[str]
    """What comes along, and what stays behind."""


class TransferView(BaseModel):
    """A transfer: how far it is, or what it did."""

    id: str
    """Id of its job."""
    status: str
    """waiting, running, done, failed, cancelled or dead (given up)."""
    progress: float
    """Share that is done, 0..1."""
    message: str
    """Present step, or the result."""
    move: bool
    to: str
    """Id of the other project."""
    documents: int
    """Number of documents that are there now."""
    stays: list[str]
    """A sentence for each document that was left where it is."""


class TriggersView(BaseModel):
    """A project's triggers: how many untrained answers there are, how old the oldest is, and the schedule."""

    project_id: str
    project: str
    automatic: bool
    """Whether retrainings start by themselves."""
    accepted: int
    """Accepted answers that no run has learned from."""
    wanted: int
    """Number of them that starts a retraining."""
    oldest_at: datetime | None
    """Time of the oldest of them; null without any."""
    wanted_days: float
    """Age in days of the oldest that starts a retraining; 0: age starts none."""
    cron: str
    """Schedule in cron's notation; empty: none."""
    time_zone: str
    """Time zone of the schedule."""
    age_due_at: datetime | None
    """Time at which age starts a retraining."""
    clock_due_at: datetime | None
    """Next time of the schedule."""
    next_at: datetime | None
    """The earlier of the two times; null without any."""
    job_id: str | None
    """Id of the retraining that waits or runs; null without one."""
    near: str
    """Progress towards the next retraining, as a sentence."""
    scheduler: SchedulerView | None
    """The worker that checks the triggers; null when none runs."""
    firings: list[FiringView]
    """Newest firings first."""


class TurnedPage(BaseModel):
    """Page after a turn; `reading` is the job that reads it again, where its words are by OCR."""

    page: PageLine
    reading: JobView | None


class UndoneTransfer(BaseModel):
    """Ids of the documents that are back, and a sentence for each that is not, with the reason."""

    documents: list[str]
    stays: list[str]


class UpcomingForm(BaseModel):
    """Document whose form the model has answered in advance."""

    document_id: str | None
    """The document; null where no other one waits for this person."""


class UpcomingTask(BaseModel):
    """Task that the caller would get next; it is not leased, so somebody else may get it first."""

    id: str
    document_id: str
    question: AskedQuestion
    annotation_id: str | None
    page_id: str | None


class Uploaded(BaseModel):
    """Result of each uploaded file."""

    documents: list[TakenFile]
    refused: list[RefusedFile]
    detail: str | None = None


class UserView(BaseModel):
    """A user as admins see them. `role`: admin applies to every project; projects assign all other roles.

    `second_factor`: whether the user has set one up. `erased`: the name is a label, and nobody can log in by it.
    """

    id: str
    name: str
    role: str
    disabled: bool
    created_at: datetime
    second_factor: bool
    erased: bool


class ValueConfidence(BaseModel):
    """How sure reading and model are."""

    reading: float | None
    """Lowest confidence of reading of the words; null: no OCR read them."""
    answer: float | None
    """Predicted IoU of the mark; null for a person's answer."""
    answered: float | None
    """Probability that the paper answers; null for a person's answer."""


class ValueView(BaseModel):
    """A value of an answer, as the type of its field."""

    printed: str
    """Words of its marks, as they are printed."""
    text: str
    """The printed text, or as a person corrected it."""
    corrected: bool
    """Whether a person corrected the text or picked the reading."""
    value: str | int | bool | dict[str, str | None] | None
    """Normalised value; null where the text is ambiguous or unreadable."""
    rule: str
    """Rule that made the value; `person` for a picked reading."""
    readings: list[ReadingView]
    """Readings of an ambiguous text."""
    reason: str
    """Why the text cannot be read as the field's type."""
    cell: Cell | None = None
    """Its place in a table."""


class VersionView(BaseModel):
    """A model version with its parent, figures and training data."""

    id: str
    label: str
    """Short name for people."""
    number: int
    """Number within the project; 0: the version that it started with."""
    parent_id: str | None
    """Version that its training began with; null for the first."""
    champion: bool
    """Whether it is the model in use."""
    created_at: datetime
    figures: dict[str, Any]
    """Figures of its verdict, by holdout; of a version that no run has made, those of the newest verdict against it."""
    snapshot_sha256: str | None
    """Snapshot that it learned from; null for the first."""
    optimizer: dict[str, Any]
    """Optimizer and settings of its training."""
    missing: bool
    """Whether its checkpoint is missing from disk: it can neither answer nor be trained."""


class WebhookView(BaseModel):
    """A webhook as reviewers see it.

    `off_reason`: why Glossator switched it off; empty otherwise. `failing_since`: first failed attempt since the last
    success.
    """

    id: str
    url: str
    events: list[str]
    enabled: bool
    off_reason: str
    failing_since: datetime | None
    created_by: str
    created_at: datetime


class WordMerge(BaseModel):
    """Merge words into one; their texts are joined without spaces, in reading order."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["merge"]
    numbers: Annotated[list[int], Field(max_length=100, min_length=2)]


class WordRemove(BaseModel):
    """Remove a word that OCR invented."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["remove"]
    number: int


class WordRestore(BaseModel):
    """Restore retired words in place of their successors: the undo of a split or a merge."""

    model_config = ConfigDict(
        extra="forbid",
    )
    op: Literal["restore"]
    numbers: Annotated[list[int], Field(max_length=100)]
    instead: Annotated[list[int], Field(max_length=100)] = []


class WordText(BaseModel):
    """Replace the text of a word, or confirm it as it stands. Its number stays, and it is doubtful no more."""

    model_config = ConfigDict(
        extra="forbid",
    )
    text: Annotated[str, Field(max_length=500, min_length=1, pattern="\\S")]
    op: Literal["text"]
    number: int
    doubtful: bool = False
    """Undo: the confidence of the OCR in this word comes back."""


Action = TypeAliasType("Action", Literal["edit", "accept", "submit", "reopen"])


Box = TypeAliasType("Box", tuple[int, int, int, int])


ChangeKind = TypeAliasType("ChangeKind", Literal["gained", "lost", "better", "worse", "same"])


Point = TypeAliasType("Point", tuple[float, float, bool])


SkipDecision = TypeAliasType("SkipDecision", Literal["returned", "dismissed"])


SkipReason = TypeAliasType("SkipReason", Literal["unreadable", "not_sure", "wrong_document", "other"])


Verdict = TypeAliasType("Verdict", Literal["accepted", "rejected", "fixed"])


class AnnotationLine(BaseModel):
    """Annotation as a row in a list of questions."""

    id: str
    question: QuestionView
    status: str
    """draft, submitted, accepted, rejected or fixed."""
    head: int
    """Number of the newest revision; 0: nothing was saved yet."""
    author: Author
    text: str
    """Text of the answer as a person corrected it, else its words; values are joined by ·."""
    no_answer: bool
    """Whether the answer is: not answered in this document."""
    pages: list[str]
    """Ids of the marked pages."""
    answered: float | None
    """Probability, by the model, that the document answers; null without a proposal."""
    score: float | None
    """Predicted IoU of the proposal, 0..1; null without one."""
    updated_at: datetime | None
    """Time of the newest revision."""
    gold: bool = False
    """Known answer of a gold question. Only reviewers are told."""


class Change(BaseModel):
    """Change of one question: score of the champion ("before") and of the challenger ("after").

    - gained, lost: found (IoU above one half) now or before only; for an unanswerable question, declined.
    - better, worse: found or missed both times, with another IoU.

    Ids and names are None for generated pages.
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
    """Changes of a run: counts by kind, and the requested ones, largest first."""

    counts: dict[str, dict[str, int]]
    changes: list[Change]


class Citation(BaseModel):
    """Place of a value on a page."""

    page: int
    """Number of the page."""
    width: int
    """Pixels of the page as it was read."""
    height: int
    box: tuple[float, float, float, float]
    """x0, y0, x1, y1 in shares of the page."""
    box_pixels: Box
    words: list[int]
    """Numbers of the marked words of the page."""


Rules = TypeAliasType(
    "Rules", Annotated[PatternRule | RangeRule | SumRule | NotBeforeRule, Field(discriminator="rule")]
)


class ColumnDefinition(BaseModel):
    """Column of a table, or a field alone: a question, and the type of its value."""

    name: str
    """Key for programs: small letters, digits and _."""
    question: str
    """Asked of the model and shown to people; of a column, its heading on the papers."""
    type: FieldType = "string"
    guideline: str = ""
    """Markdown, shown beside the task."""
    required: bool = False
    """Whether every paper, or every row of a table, must have a value."""
    examples: list[str] = []
    choices: Annotated[list[ListedChoice], Field(validate_default=True)] = []
    """Of a field of type choice."""
    currency: str | None = None
    """ISO 4217 code of amounts printed without a currency."""
    country: str | None = None
    """ISO 3166-1 code of phone numbers printed without a country."""
    rules: Annotated[list[Rules], Field(validate_default=True)] = []


class ColumnView(BaseModel):
    """Column of a table, in short."""

    name: str
    question: str
    type: FieldType


class Correction(BaseModel):
    """What a person said of a value's text; the words of the page stay as they are.

    It goes with the words: once other words are marked, it is dropped.
    """

    text: str | None = None
    """Printed text as a person corrected it."""
    reading: PickedReading | None = None
    """Reading that a person picked."""


class DocumentView(BaseModel):
    """Document with its pages."""

    id: str
    name: str
    project_id: str
    warnings: list[str]
    pages: list[PageLine]
    reading: int | None
    """Expected number of pages while they are being read, or will be."""
    cut_off: bool = False
    """Reading ended early, so pages are missing; it can be resumed."""


class Document(BaseModel):
    """A document with its pages and the questions asked about it."""

    id: str
    name: str
    project_id: str
    warnings: list[str]
    pages: list[PageLine]
    reading: int | None
    """Expected number of pages while they are being read, or will be."""
    cut_off: bool = False
    """Reading ended early, so pages are missing; it can be resumed."""
    annotations: list[AnnotationLine]


class EditPrompts(BaseModel):
    """Points and boxes placed so far on a page."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["prompts"]
    page: str
    points: Annotated[list[Point], Field(max_length=200)] = []
    boxes: Annotated[list[Box], Field(max_length=200)] = []


class EditReading(BaseModel):
    """Pick a reading of a value's text, or take the pick back (null)."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["reading"]
    reading: PickedReading | None


class ExtractedValue(BaseModel):
    """A value of a field. The names and meanings are those of the export `values`."""

    value: str | int | bool | dict[str, str | None] | None
    """Normalised value; null where the text is ambiguous, or cannot be read."""
    rule: str
    """How the value was made of the printed text."""
    locale: str | None
    """Locale that the value depends on."""
    readings: list[ReadingView]
    """Possible values of an ambiguous text."""
    reason: str
    """Why there is no value."""
    answered: bool
    """Whether the paper answers."""
    printed: str
    """Words of the mark, as they are printed."""
    text: str
    """The printed text, or as a person corrected it."""
    pages: list[Citation]
    confidence: ValueConfidence
    validated_by: Literal["person", "rule", "nothing"]
    """What stands for the value."""
    cell: Cell | None = None
    """Its place in a table."""


class FieldDefinition(BaseModel):
    """What a project wants of every paper: a question, and the type of its value."""

    name: str
    """Key for programs: small letters, digits and _."""
    question: str
    """Asked of the model and shown to people; of a column, its heading on the papers."""
    type: FieldType = "string"
    guideline: str = ""
    """Markdown, shown beside the task."""
    required: bool = False
    """Whether every paper, or every row of a table, must have a value."""
    examples: list[str] = []
    choices: Annotated[list[ListedChoice], Field(validate_default=True)] = []
    """Of a field of type choice."""
    currency: str | None = None
    """ISO 4217 code of amounts printed without a currency."""
    country: str | None = None
    """ISO 3166-1 code of phone numbers printed without a country."""
    rules: Annotated[list[Rules], Field(validate_default=True)] = []
    several: bool = False
    """Whether a paper may have several values."""
    issuer: bool = False
    """Whether the value says who issued the paper; conventions can be remembered for an issuer."""
    confidence: float | None = None
    """Confidence from which a value counts without people; empty: the project's."""
    columns: Annotated[list[ColumnDefinition], Field(validate_default=True)] = []
    """Of a field of type table. Rules of a column are about the cells of one row."""


class FieldView(BaseModel):
    """Field of a question, in short."""

    name: str
    type: FieldType
    several: bool
    columns: Annotated[list[ColumnView], Field(validate_default=True)] = []


class Figures(BaseModel):
    """Figures of a project over a period. Annotators see other people's work as "others", or their own alone."""

    own_alone: bool = False
    """Whether these are the caller's own figures: answers of others are hidden from them."""
    time_zone: str = "UTC"
    """Whose days the masks are counted on."""
    first_day: date
    last_day: date
    as_of: datetime
    """All work until then is counted; the present time when nothing lags."""
    masks_a_day: list[MasksADay]
    by_model: list[ModelFigures]
    """Over the project's whole life, oldest version first; then models of others."""
    people: list[PersonFigures]
    """Over the period, by name."""
    queue: list[QueueDepth]
    """Every day of the period, from the first on which there was a queue."""
    choices: Choices
    """Over the project's whole life: gain of the model's choice."""


class FormMark(BaseModel):
    """Place of a value on a page."""

    page_id: str
    box: Box
    place: int
    """Number of the value among `values`."""


class Me(BaseModel):
    """The current user and the login mode: local or login.

    `password`: whether the person has a password here, and may log in with it; else single sign-on knows them.
    """

    user: Person
    auth: str
    password: bool


class NextTask(BaseModel):
    """Next task; `annotation_id` and `page_id` name the caller's existing answer and its page.

    Without a task, `reason` explains why. A rejected answer to the caller's own question comes without a task, when no
    task is left.
    """

    task: LeasedTask | None
    annotation_id: str | None
    page_id: str | None
    reason: str | None
    queue: QueueView


class Part(BaseModel):
    """Part of a split word: text and box."""

    model_config = ConfigDict(
        extra="forbid",
    )
    text: Annotated[str, Field(max_length=500, min_length=1, pattern="\\S")]
    box: Box


class Patch(BaseModel):
    """Mask as sent and stored: row-major run lengths inside a box, starting with zeros (model.masks)."""

    box: Box
    counts: list[int] = []


class ProjectAgreement(BaseModel):
    """Agreement figures of a project; `model` compares proposals with at most NEWEST accepted answers.

    `between_people`, apart: `without_proposal`, where neither of two people was shown one, which is the sounder figure,
    and `with_proposal`. `reliability`: of everybody who was compared with others or with gold answers, or answers in
    haste, the least reliable first. `by_question`: at most MOST_QUESTIONS, those with the least agreement first.
    """

    pairs: list[Pair]
    people: list[PersonAgreement]
    between_people: Mean
    model: Mean
    reliability: Annotated[list[Reliability], Field(validate_default=True)] = []
    with_proposal: Mean
    without_proposal: Mean
    by_question: Annotated[list[QuestionAgreement], Field(validate_default=True)] = []


class ProposedCell(BaseModel):
    """Cell of a proposed table."""

    row: int
    """Number of its row, from 0."""
    column: str
    """Name of its column."""
    page_id: str
    words: list[int]
    """Numbers of its words."""
    mask: Patch
    text: str
    """Its words, joined."""


class ProposerState(BaseModel):
    """What a project asks of models of others, and what it may ask."""

    proposer: ProposerView | None
    """null: the project asks no model of others."""
    addresses: list[str]
    """Servers that the administrator allows (GLOSSATOR_PROPOSER_ADDRESSES)."""
    prompt: str
    """Prompt of a model without one of its own."""
    job: JobView | None
    """The newest job that asked it about documents."""
    models: list[OutsideModelView]
    """Versions that have proposed answers, the ten newest."""


class ReadyFields(BaseModel):
    """A ready set of fields."""

    name: str
    title: str
    about: str
    fields: list[FieldDefinition]


class RetiredWords(BaseModel):
    """Split, merged and removed words, kept for old revisions. `places`: live words before each."""

    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    doubtful: list[int]
    places: list[int]


class StoredField(BaseModel):
    """A field of a project."""

    name: str
    """Key for programs: small letters, digits and _."""
    question: str
    """Asked of the model and shown to people; of a column, its heading on the papers."""
    type: FieldType = "string"
    guideline: str = ""
    """Markdown, shown beside the task."""
    required: bool = False
    """Whether every paper, or every row of a table, must have a value."""
    examples: list[str] = []
    choices: Annotated[list[ListedChoice], Field(validate_default=True)] = []
    """Of a field of type choice."""
    currency: str | None = None
    """ISO 4217 code of amounts printed without a currency."""
    country: str | None = None
    """ISO 3166-1 code of phone numbers printed without a country."""
    rules: Annotated[list[Rules], Field(validate_default=True)] = []
    several: bool = False
    """Whether a paper may have several values."""
    issuer: bool = False
    """Whether the value says who issued the paper; conventions can be remembered for an issuer."""
    confidence: float | None = None
    """Confidence from which a value counts without people; empty: the project's."""
    columns: Annotated[list[ColumnDefinition], Field(validate_default=True)] = []
    """Of a field of type table. Rules of a column are about the cells of one row."""
    id: str
    """Id of its question."""
    version: int
    """Number of its newest version, from 1."""
    position: int
    """Place in the list, from 0."""


class WordAdd(BaseModel):
    """Add a word that OCR missed."""

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
    """Words of a page in reading order, one list a property; boxes are pixels, x1 and y1 exclusive.

    `version` counts saves; `next` is the number of the next new word. `doubtful`: numbers of words that OCR read with
    low confidence and that nobody has written or confirmed since.
    """

    version: int
    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    doubtful: list[int]
    next: int
    retired: RetiredWords


WordChange = TypeAliasType(
    "WordChange",
    Annotated[WordText | WordSplit | WordMerge | WordAdd | WordRemove | WordRestore, Field(discriminator="op")],
)


class Candidate(BaseModel):
    """One candidate answer."""

    words: list[int]
    """Numbers of its words."""
    mask: Patch
    text: str
    """Its words, joined."""
    score: float
    """Predicted IoU, 0..1."""
    place: str = ""
    """What tells this place apart where the page prints the key again, as the heading above it."""


class Contradiction(BaseModel):
    """Contradiction of an accepted label by the model, with the model's own mark.

    `kind`: "elsewhere" (the model marks another place), "here" (it marks one, the label none), "not_here" (it is
    confident that the document does not answer; without words and mask), "words" (no model: the page was read again,
    and words that the label names are gone; without words and mask).
    """

    kind: str
    sentence: str
    model: str
    page_id: str
    words: list[int]
    mask: Patch


class EditMask(BaseModel):
    """Replace the mark of a page: by a proposal, a candidate, or an undo."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["mask"]
    page: str
    words: Annotated[list[int], Field(max_length=20000)]
    mask: Patch


class EditPatch(BaseModel):
    """Stroke of the brush (value 1) or of the eraser (value 0); selected words stay."""

    model_config = ConfigDict(
        extra="forbid",
    )
    place: Annotated[int, Field(ge=0, lt=4000)] = 0
    """Place of the value among the answer's, from 0."""
    op: Literal["patch"]
    page: str
    value: Literal[0, 1]
    patch: Patch


class EditedWords(BaseModel):
    """Words after a save; `saved_version` is the version of this save, also when it is repeated."""

    version: int
    numbers: list[int]
    boxes: list[Box]
    texts: list[str]
    lines: list[int]
    doubtful: list[int]
    next: int
    retired: RetiredWords
    saved_version: int
    saved_at: datetime


class ExtractedField(BaseModel):
    """A field with its values."""

    type: FieldType
    question: str
    status: str
    """proposal: the model's answer; automatic: accepted without a person; else the status of a person's answer."""
    values: list[ExtractedValue]
    """Of a table: its cells, row by row."""
    rows: list[dict[str, str | int | bool | dict[str, str | None] | None]] | None = None
    """Of a table: its rows as plain values, by the name of the column."""
    broken_rules: list[str]
    """Rules that the values break, as sentences."""
    unsure: list[str]
    """Why a person should look at it, as sentences; empty where nobody needs to."""


class Extraction(BaseModel):
    """Values of a paper, by the names of the fields."""

    format: Literal["glossator-extraction/1"] = "glossator-extraction/1"
    document: ExtractedPaper
    model_version: str
    """Id of the model version that answered."""
    model: str
    """Name of that version for people."""
    locale: str | None
    """BCP 47 locale of the project."""
    fields: dict[str, ExtractedField]
    warnings: list[str]
    """What reading the paper says, as sentences."""
    unsure: list[str]
    """Names of the fields that a person should look at."""


class FormField(BaseModel):
    """Field of a form with the answer of one person."""

    question_id: str
    name: str
    """Key for programs."""
    question: str
    type: FieldType
    required: bool
    annotation_id: str | None
    """Id of the person's answer; null until the field is asked."""
    head: int
    """Number of the newest revision; 0: nothing was saved yet."""
    status: str | None
    """Status of the answer; null until the field is asked."""
    prediction_id: str | None
    """The newest proposal of the model; null without one."""
    confidence: float | None
    """Confidence of the model, 0..1; null without a proposal of it, and once a person saved."""
    accepted_from: float | None
    """Confidence from which a value counts without people: the field's, else the project's; null without either."""
    no_answer: bool
    """Whether the answer is: not answered in this document."""
    unaided: bool
    """It is answered without the model, to measure agreement."""
    values: list[ValueView]
    marks: list[FormMark]
    broken: list[str]
    """Rules that the values break, as sentences."""


class FormView(BaseModel):
    """All fields of a project in their order, with one person's answers of a document."""

    document_id: str
    fields: list[FormField]
    left: int
    """Number of fields that nobody has asked yet for this person; ask again for more."""


class NextReview(BaseModel):
    """Answer to judge, leased until `lease_until`; without one, `reason` explains why.

    `to_review`: number of waiting answers. `others`: other people's answers to the same question, which the reviewer
    sees beside this one. `label_review`: why an accepted label is reviewed; `second_look`: the same,
    by the name before.
    """

    annotation_id: str | None
    document_id: str | None
    page_id: str | None
    lease_until: datetime | None
    reason: str | None
    to_review: int
    label_review: Contradiction | None = None
    others: Annotated[list[OtherAnswer], Field(validate_default=True)] = []
    second_look: Contradiction | None = None


class PageMark(BaseModel):
    """Mark on one page: the selected words, the pixels, and the prompts."""

    words: list[int] = []
    mask: Patch
    points: list[Point] = []
    boxes: list[Box] = []


class Proposal(BaseModel):
    """Prediction with its model version and the time it took, in milliseconds."""

    words: list[int]
    """Numbers of its words."""
    mask: Patch
    text: str
    """Its words, joined."""
    score: float
    """Predicted IoU, 0..1."""
    place: str = ""
    """What tells this place apart where the page prints the key again, as the heading above it."""
    candidates: Annotated[list[Candidate], Field(validate_default=True)] = []
    """Other proposals: up to 3, best first. If the key is repeated: up to 8, from the top of the page."""
    repeated: int = 0
    """How often the page prints the key of the question, from 2; 0 otherwise."""
    ranked: Annotated[list[RankedPage], Field(validate_default=True)] = []
    source: Literal["model", "form", "outside", "table"] = "model"
    """What answers: the model, the field of the PDF's form that the question names, a model of others whose prediction was sent here, or the layout of the words, which makes the cells of a table."""
    proposer: str = ""
    """Name and version of the model of others; empty for others."""
    cells: Annotated[list[ProposedCell], Field(validate_default=True)] = []
    """Of a table: its cells, row by row."""
    prediction_id: str
    page_id: str
    answered: float
    milliseconds: float
    model: ModelName


class WordEditsRequest(BaseModel):
    """Request to edit words. Repeating the same `idempotency_key` returns the same save."""

    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[str, Field(max_length=64, min_length=8)]
    base: Annotated[int, Field(ge=0, lt=2147483648)]
    """Version of the words that the person saw."""
    edits: Annotated[list[WordChange], Field(max_length=1000, min_length=1)]


Edit = TypeAliasType(
    "Edit",
    Annotated[
        EditWords
        | EditPatch
        | EditMask
        | EditPrompts
        | EditClear
        | EditText
        | EditReading
        | EditAddValue
        | EditCell
        | EditRemoveValue
        | EditNoAnswer,
        Field(discriminator="op"),
    ],
)


class AnswerValue(BaseModel):
    """One of several values of an answer, with its own marks; of a table, with its cell."""

    pages: Annotated[dict[str, PageMark], Field(validate_default=True)] = {}
    correction: Correction | None = None
    cell: Cell | None = None


class ReviewRequest(BaseModel):
    """Verdict on revision `base`. Repeating the same `idempotency_key` returns the same verdict."""

    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[str, Field(max_length=64, min_length=8)]
    base: Annotated[int, Field(ge=1, lt=2147483648)]
    """Judged revision."""
    verdict: Verdict
    quality: bool | None = None
    """Are the pixels right?"""
    completeness: bool | None = None
    """Is nothing missing?"""
    reason: Annotated[str, Field(max_length=5000)] = ""
    """What to fix; required for a rejection."""
    edits: Annotated[list[Edit], Field(max_length=20000, validate_default=True)] = []
    """The reviewer's edits; only with the verdict `fixed`."""
    images: Annotated[dict[str, str], Field(max_length=1000)] = {}
    """Images of the marked pages as the reviewer saw them (`image` of a page); refused where one is another now, because the page was turned."""
    seconds: Annotated[float, Field(ge=0.0, le=86400.0)] = 0
    """The reviewer's active work."""
    becomes_label: bool = False
    """With `accepted` or `fixed`: becomes the label over accepted answers that contradict it."""


class RevisionRequest(BaseModel):
    """Request to save. Repeating the same `idempotency_key` returns the same revision."""

    model_config = ConfigDict(
        extra="forbid",
    )
    idempotency_key: Annotated[str, Field(max_length=64, min_length=8)]
    base: Annotated[int, Field(ge=0, lt=2147483648)]
    """Revision that the person saw; 0: the model's proposal."""
    action: Action = "edit"
    edits: Annotated[list[Edit], Field(max_length=20000, validate_default=True)] = []
    prediction_id: PredictionId | None = None
    """Proposal that the edits build on."""
    seconds: Annotated[float, Field(ge=0.0, le=86400.0)] = 0
    """Active work since the previous revision."""
    interactions: Annotated[dict[Annotated[str, StringConstraints(max_length=40)], int], Field(max_length=50)] = {}
    """Uses by tool."""
    images: Annotated[dict[str, str], Field(max_length=1000)] = {}
    """Images of the marked pages as the person saw them (`image` of a page); refused where one is another now, because the page was turned."""


class AnnotationState(BaseModel):
    """Answer of a document to a question; with `no_answer`, remaining masks do not count.

    An answer of several values holds them in `values`, in order, at least two; `pages` are the marks of all of them.
    """

    no_answer: bool = False
    pages: Annotated[dict[str, PageMark], Field(validate_default=True)] = {}
    correction: Correction | None = None
    """Of an answer with a single value."""
    cell: Cell | None = None
    """Of a table with a single cell."""
    values: Annotated[list[AnswerValue], Field(validate_default=True)] = []
    """Of an answer with several values."""


class AnnotationView(BaseModel):
    """Annotation with its newest state; with `head` 0 the state is the model's proposal."""

    id: str
    document_id: str
    question: QuestionView
    status: str
    """draft, submitted, accepted, rejected or fixed."""
    head: int
    """Number of the newest revision; 0: nothing was saved yet."""
    author: Author
    editor: Author | None
    """Author of the newest revision; null without one."""
    updated_at: datetime | None
    """Time of the newest revision."""
    state: AnnotationState
    text: str
    """Words of the answer, joined."""
    field: FieldView | None = None
    """The field that the question is; null for a free question."""
    values: Annotated[list[ValueView], Field(validate_default=True)] = []
    """Typed values, where the question is a field."""
    proposal: Proposal | None
    """The newest proposal of the model; null when it was never asked."""
    ranked: Annotated[list[RankedPage], Field(validate_default=True)] = []
    existing: bool = False
    unaided: bool = False
    """It is answered without the model, to measure agreement."""


class Judged(BaseModel):
    """Revision that a verdict made. `also_accepted`: equal answers that the same verdict accepted."""

    revision: int
    status: str
    saved_at: datetime
    state: AnnotationState
    text: str
    values: Annotated[list[ValueView], Field(validate_default=True)] = []
    """Typed values, where the question is a field."""
    also_accepted: list[str] = []
    """Ids of these answers."""


class Saved(BaseModel):
    """Stored revision with its text."""

    revision: int
    status: str
    saved_at: datetime
    state: AnnotationState
    text: str
    values: Annotated[list[ValueView], Field(validate_default=True)] = []
    """Typed values, where the question is a field."""
