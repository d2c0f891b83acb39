"""Revisions: edits are applied, checked against the newest revision, and appended in one commit.

In projects with reviews, an annotator's accepted answer is stored as submitted and waits for a reviewer. Reviewers and
admins accept directly, their own answers too: otherwise a person working alone (local mode) would wait forever.
Annotators change their own answers only; reviewers and admins change any.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Row, bindparam, case, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db import changes, task_states
from db.base import now
from db.dirty_documents import mark_dirty
from db.tables import Annotation, Member, Prediction, Project, ProjectField, Revision, User
from engine import leases
from engine.accounts import permissions, visibility
from engine.annotation import automatic_checks
from engine.annotation.edits import Edits
from engine.annotation.issuers import load_context
from engine.annotation.preparing import Base, Ready, prepare, prepare_in
from engine.annotation.proposal import newest_state, proposal_state
from engine.annotation.seconds import bounded_seconds
from engine.annotation.state import AnnotationState
from engine.annotation.texts import answer_text
from engine.annotation.values import ValueView, load_values, view_values
from engine.errors import Archived, Conflict, NotFound, Refused
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext
from engine.metrics.counted import EDITS, SAVES
from engine.projects.project_settings import ProjectSettings
from engine.queries import not_removed
from engine.workspace import Workspace

Action = Literal["edit", "accept", "submit", "reopen"]
ToolName = Annotated[str, Field(max_length=40)]
STATUS_AFTER: dict[Action, str] = {"edit": "draft", "accept": "accepted", "submit": "submitted", "reopen": "draft"}


class RevisionRequest(BaseModel):
    """Request to save. Repeating the same `idempotency_key` returns the same revision."""

    model_config = ConfigDict(extra="forbid")

    idempotency_key: str = Field(min_length=8, max_length=64)
    base: int = Field(ge=0, lt=2**31, description="Revision that the person saw; 0: the model's proposal.")
    action: Action = "edit"
    edits: Edits = []
    prediction_id: str | None = Field(None, max_length=32, description="Proposal that the edits build on.")
    seconds: float = Field(0, ge=0, le=86_400, description="Active work since the previous revision.")
    interactions: dict[ToolName, int] = Field(default_factory=dict, max_length=50, description="Uses by tool.")
    images: dict[str, str] = Field(
        default_factory=dict,
        max_length=1000,
        description="Images of the marked pages as the person saw them (`image` of a page); refused where one is "
        "another now, because the page was turned.",
    )


class Saved(BaseModel):
    """Stored revision with its text."""

    revision: int
    status: str
    saved_at: datetime
    state: AnnotationState
    text: str
    values: list[ValueView] = Field(default=[], description="Typed values, where the question is a field.")


class RevisionConflict(Conflict):
    """Raised when the annotation has a newer revision than `base`; the caller shows both versions."""


def append_revision(workspace: Workspace, annotation_id: str, request: RevisionRequest, user_id: str) -> Saved:
    """Apply the edits of `request` to the revision it builds on, and append the result.

    Raises:
        RevisionConflict: The annotation has a newer revision.
        NotFound: The annotation does not exist, or the user is no member of its project.
        Forbidden: The user is neither its author nor a reviewer.
        Refused: An edit is invalid.
    """
    try:
        saved, is_new = _append(workspace, annotation_id, request, user_id)
    except RevisionConflict:
        SAVES.labels("conflict").inc()
        raise
    except Refused:
        SAVES.labels("refused").inc()
        raise
    except Exception:
        SAVES.labels("failed").inc()
        raise
    SAVES.labels("saved" if is_new else "repeated").inc()
    if is_new:
        EDITS.labels(request.action).inc(len(request.edits))
    return saved


def _append(workspace: Workspace, annotation_id: str, request: RevisionRequest, user_id: str) -> tuple[Saved, bool]:
    """Append the revision, and return it with whether it is new."""
    finished = request.action in ("accept", "submit")
    with workspace.database.autocommit_read() as session:
        answer, base = _answer(session, annotation_id, request, user_id)
        if answer.head != request.base:
            # The request is stored already or in conflict, and heads only grow: no write transaction is needed.
            return _saved_before(session, annotation_id, request.base, request.idempotency_key), False
    prepared = (
        base
        if isinstance(base, Refused)
        else prepare(workspace, base, request.edits, finished=finished, images=request.images)
    )
    with workspace.database.write() as session:
        answer = _load_changeable(session, annotation_id, request, user_id)
        status = STATUS_AFTER[answer.action]
        before = advance(
            session, annotation_id, request.base, request.idempotency_key, status, user_id, answer.project_id
        )
        if before is not None:
            return before, False
        if isinstance(prepared, Refused):
            raise prepared
        if not prepared.stands(session):
            anew = _answer(session, annotation_id, request, user_id)[1]
            if isinstance(anew, Refused):
                raise anew
            prepared = prepare_in(session, anew, request.edits, finished=finished, images=request.images)
        ready = prepared.ready()
        publish_answer(session, answer.project_id, answer.document_id, answer.question_id, answer.author_id)
        seconds = request.seconds
        if request.action != "edit":  # strokes change no figure of the queue
            changes.publish(
                session,
                "tasks",
                answer.project_id,
                answer.document_id,
                question_id=answer.question_id,
                author_id=answer.author_id,
            )
        if finished:
            seconds = bounded_seconds(session, annotation_id, user_id, request.seconds)
            _release_task(session, answer)
            automatic_checks.person_answered(
                session,
                answer.project_id,
                answer.document_id,
                answer.question_id,
                ready.state,
                user_id,
                opinion=ready.opinion,
            )
        saved = append(
            session,
            ready,
            annotation_id=annotation_id,
            base=request.base,
            author_id=user_id,
            action=answer.action,
            status=status,
            prediction_id=request.prediction_id,
            idempotency_key=request.idempotency_key,
            seconds=seconds,
            interactions=dict(request.interactions),
        )
    return saved.model_copy(update={"values": answer.values_of(ready)}), True  # computed without a connection


_VERSION_OF_FIELD = (
    select(ProjectField.version)
    .join(Annotation, Annotation.question_id == ProjectField.question_id)
    .where(Annotation.id == bindparam("answer"), ProjectField.name.is_not(None))
    .scalar_subquery()
)
_APPEND = insert(Revision.__table__).values(field_version=_VERSION_OF_FIELD)  # type: ignore[arg-type]
_ADVANCE = (
    update(Annotation)
    .where(Annotation.id == bindparam("annotation"), Annotation.head == bindparam("base"), not_removed())
    .values(
        head=bindparam("following"),
        status=bindparam("becomes"),
        edited_by=case((Annotation.author_id == bindparam("editor"), None), else_=bindparam("editor")),
    )
    .returning(Annotation.id)
    .execution_options(synchronize_session=False)
)


def moved_on(head: int, base: int) -> RevisionConflict:
    """Return the conflict of a change that builds on another revision than the newest."""
    return RevisionConflict(
        f"This answer was changed meanwhile: your change starts from revision {base}, and the newest is "
        f"revision {head}."
    )


def advance(
    session: Session, annotation_id: str, base: int, key: str, status: str, editor_id: str, project_id: str
) -> Saved | None:
    """Move the head of an annotation from `base` to the next revision, which the caller appends for its editor.

    `project_id`: the project of the answer as the caller saw it.

    Returns None when the head was moved. Returns the stored revision when the same request succeeded before and its
    response was lost. Raises RevisionConflict when `base` is not the head, NotFound when the answer was removed, or is
    in another project by now.
    """
    # PostgreSQL lets two writers reach this point; the conditional update lets one of them pass. The other waits here
    # for the first commit, so its search by key below sees the stored revision.
    here = select(Annotation.project_id, Annotation.document_id, Annotation.status).where(
        Annotation.id == annotation_id
    )
    here = here.with_for_update(key_share=True)  # its status stays as it is until the commit
    stood = session.connection().execute(here).one_or_none()
    if stood is not None and stood.project_id != project_id:  # it was removed, or moved, while this waited for it
        raise NotFound(visibility.why_gone(session, stood.document_id, editor_id))
    moved = {"annotation": annotation_id, "base": base, "following": base + 1, "becomes": status, "editor": editor_id}
    advanced = session.connection().execute(_ADVANCE, moved).scalar()
    if advanced is None or stood is None:
        return _saved_before(session, annotation_id, base, key)
    if (stood.status, status) != ("draft", "draft"):  # strokes of a draft change no figure
        mark_dirty(session, stood.project_id, [stood.document_id])
    if status == "rejected" and status != stood.status:
        task_states.note_rejection(session)
    return None


def publish_answer(session: Session, project_id: str, document_id: str, question_id: str, author_id: str) -> None:
    """Note an answer that `advance` has moved, for its task and open screens; the session does not see statements."""
    task_states.mark_dirty(session, document_id, question_id)
    changes.publish(session, "answers", project_id, document_id, question_id=question_id, author_id=author_id)


def append(session: Session, ready: Ready, **columns: Any) -> Saved:
    """Store the revision after `base` with `columns` of its table. Raises Refused for a used key."""
    number, saved_at = columns["base"] + 1, now()
    row = {
        **columns,
        "answer": columns["annotation_id"],
        "number": number,
        "edits": ready.edits,
        "state": ready.stored,
        "created_at": saved_at,
    }
    try:
        session.connection().execute(_APPEND, row)
    except IntegrityError as error:
        if "idempotency_key" not in str(error.orig):
            raise
        raise Refused("This idempotency key belongs to an earlier revision of this answer; make a new one.") from None
    return Saved(revision=number, status=columns["status"], saved_at=saved_at, state=ready.state, text=ready.text)


def state_at(session: Session, annotation_id: str, number: int) -> AnnotationState:
    """Return the state of a revision. Raises NotFound."""
    state = session.scalar(
        select(Revision.state).where(Revision.annotation_id == annotation_id, Revision.number == number)
    )
    if state is None:
        raise NotFound(f"This answer has no revision {number}; reload it.")
    return AnnotationState.model_validate(state)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Annotation to change, and the action that the person's role allows; see the module docstring."""

    project_id: str
    document_id: str
    question_id: str
    author_id: str
    head: int
    action: Action
    field: dict[str, Any] | None
    context: LocaleContext

    def values_of(self, ready: Ready) -> list[ValueView]:
        """Return the typed values of a revision; none where the question is no field."""
        if self.field is None:
            return []
        field = FieldDefinition.model_validate(self.field)
        return view_values(field, ready.state, ready.texts, self.context)


# One query, built once at import: it runs before every save.
_ALLOWED = (
    select(
        Annotation.project_id,
        Annotation.document_id,
        Annotation.question_id,
        Annotation.author_id,
        Annotation.head,
        Annotation.status,
        User.role,
        User.disabled_at,
        Member.role.label("member_role"),
        Project.settings,
        Project.bin_of,
        Project.archived_at,
        ProjectField.definition.label("field"),
    )
    .join(Project, Project.id == Annotation.project_id)
    .join(User, User.id == bindparam("user"))
    .outerjoin(
        Member,
        (Member.project_id == func.coalesce(Project.bin_of, Annotation.project_id))
        & (Member.user_id == bindparam("user")),
    )
    .outerjoin(ProjectField, (ProjectField.question_id == Annotation.question_id) & ProjectField.name.is_not(None))
    .where(Annotation.id == bindparam("annotation"))
)
_ANSWER = _ALLOWED.add_columns(Revision.state, Revision.prediction_id).outerjoin(
    Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == bindparam("base"))
)


def _answer(
    session: Session, annotation_id: str, request: RevisionRequest, user_id: str
) -> tuple[_Answer, Base | Refused]:
    """Return the annotation that a person may change, and the base of the edits. Raises as `_allowed`."""
    asked = {"annotation": annotation_id, "user": user_id, "base": request.base}
    found = session.connection().execute(_ANSWER, asked).one_or_none()
    answer = _changeable(session, found, annotation_id, request.action, user_id)
    try:
        state = _base_state(session, annotation_id, request, found)
    except Refused as refusal:
        return answer, refusal
    return answer, Base(annotation_id, answer.document_id, answer.question_id, *state)


def _load_changeable(session: Session, annotation_id: str, request: RevisionRequest, user_id: str) -> _Answer:
    """Return the annotation that a person may change. Raises NotFound or Forbidden."""
    found = session.connection().execute(_ALLOWED, {"annotation": annotation_id, "user": user_id}).one_or_none()
    return _changeable(session, found, annotation_id, request.action, user_id)


def _changeable(session: Session, found: Row[Any] | None, annotation_id: str, action: Action, user_id: str) -> _Answer:
    member = (
        found is not None and found.disabled_at is None and (found.role == "admin" or found.member_role is not None)
    )
    if found is None or not member:
        raise NotFound("There is no such annotation.")
    if found.bin_of is not None:  # the page keeps the edits, and sends them again once the document is back
        if found.bin_of == found.project_id:
            raise NotFound(visibility.PROJECT_IN_BIN)
        raise NotFound(visibility.why_gone(session, found.document_id, user_id))
    if found.archived_at is not None:
        raise Archived
    reviewer = found.role == "admin" or found.member_role in ("reviewer", "admin")
    if found.author_id != user_id and not reviewer:
        permissions.check_author(session, session.get_one(Annotation, annotation_id), user_id)
    visibility.check_standing(found.status)
    if action == "accept" and not reviewer and ProjectSettings.model_validate(found.settings).review_required:
        action = "submit"
    context = load_context(session, found.settings, found.document_id)
    place = found.project_id, found.document_id, found.question_id, found.author_id
    return _Answer(*place, found.head, action, found.field, context)


def _release_task(session: Session, answer: _Answer) -> None:
    """Release the author's lease of the task that this answers."""
    leases.release_task(session, answer.document_id, answer.question_id, answer.author_id)


def _saved_before(session: Session, annotation_id: str, base: int, key: str) -> Saved:
    """Return the revision that this request stored before; raises RevisionConflict when it stored none."""
    revision = session.scalar(
        select(Revision).where(Revision.annotation_id == annotation_id, Revision.idempotency_key == key)
    )
    if revision is None:
        found = session.execute(select(Annotation.head, Annotation.status).where(Annotation.id == annotation_id)).one()
        visibility.check_standing(found.status)
        raise moved_on(found.head, base)
    state = AnnotationState.model_validate(revision.state)
    annotation = session.get_one(Annotation, annotation_id)
    return Saved(
        revision=revision.number,
        status=revision.status,
        saved_at=revision.created_at,
        state=state,
        text=answer_text(session, state),
        values=load_values(session, annotation.question_id, annotation.document_id, state),
    )


def _base_state(
    session: Session, annotation_id: str, request: RevisionRequest, found: Any
) -> tuple[AnnotationState, str | None]:
    """Return the state that edits build on, and the id of the newest proposal: see Base."""
    # A proposal that equals the previous revision's was checked when that revision was stored.
    if request.prediction_id is not None and request.prediction_id != found.prediction_id:
        owner = session.scalar(select(Prediction.annotation_id).where(Prediction.id == request.prediction_id))
        if owner != annotation_id:
            raise Refused("The proposal of this edit belongs to another answer; reload the answer.")
    if request.base == 0 and request.prediction_id is None:
        newest, state = newest_state(session, annotation_id)
        return state, newest
    if request.base == 0:
        return proposal_state(session, annotation_id, request.prediction_id), ""
    if found.state is None:
        raise NotFound(f"This answer has no revision {request.base}; reload it.")
    return AnnotationState.model_validate(found.state), ""
