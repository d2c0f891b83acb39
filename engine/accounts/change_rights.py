"""Who may see which event: members of its project, and of blind work only the person whose answer it is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.changes import MOST_SUBJECTS, Topic
from db.tables import Member, User
from engine import changes
from engine.accounts import visibility
from engine.changes import EventBatch, StoredEvent
from engine.workspace import Workspace

HELD = 500  # changes that a person may not see, over which their cursor stays where it is
_OF_FIGURES = ("figures", "values")
_OF_ANSWERS = ("answers", *_OF_FIGURES, "tasks")
Pair = tuple[str | None, str | None]  # document and question of an answer; of figures, document and None


class ChangeLine(BaseModel):
    """What changed in a project."""

    project_id: str | None = Field(description="Project; null: it concerns all projects, or the users of the server.")
    topic: Topic = Field(
        description="documents, questions, tasks (queue, leases), answers, figures (numbers of documents), values "
        "(rows of the table of values), jobs, runs, models, projects (name, settings, stage), members, or users (all "
        "for admins of the server, oneself for others)."
    )
    subjects: list[str] | None = Field(
        description="Ids of what changed: documents (also for answers, figures and values), jobs, runs, models, users; "
        "null: any of them."
    )


class ChangesView(BaseModel):
    """Changes since a cursor. `all`: they are not known any more, so everything may have changed."""

    next: int = Field(description="Cursor for the next request.")
    all: bool = False
    changes: list[ChangeLine] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rights:
    """What a person may see, as it was when it was looked up."""

    user_id: str
    everywhere: bool  # an admin of the installation
    roles: Mapping[str, str]  # by project

    def may_see(self, change: StoredEvent) -> bool:
        """Return whether the person may see a change, blind work aside."""
        if change.topic in ("members", "users") and change.subject_id == self.user_id:
            return True  # oneself: also the end of a membership
        if change.project_id is None:
            return self.everywhere or change.topic != "users"
        return self.everywhere or change.project_id in self.roles

    def may_be_blind_to(self, change: StoredEvent) -> bool:
        """Return whether a change shows another person's answer, which an annotator may not know of yet."""
        if change.topic in _OF_FIGURES and change.subject_id is not None and not self.everywhere:
            return self.roles.get(str(change.project_id), "annotator") == "annotator"
        if change.topic == "tasks" and change.question_id is None:
            return False
        if change.topic not in ("answers", "tasks") or change.author_id in (None, self.user_id) or self.everywhere:
            return False
        return self.roles.get(str(change.project_id), "annotator") == "annotator"


def rights_of(session: Session, user: User) -> Rights:
    """Return what a user may see, as permissions.role_in would say for each project."""
    if user.disabled_at is not None:
        return Rights(user.id, False, {})
    rows = session.execute(select(Member.project_id, Member.role).where(Member.user_id == user.id)).tuples()
    return Rights(user.id, user.role == "admin", dict(rows.all()))


def comparable_answers(session: Session, events: Sequence[StoredEvent]) -> set[Pair]:
    """Return those answers among changes that may be hidden from somebody. Most projects have none."""
    return _hidden(session, {_answer_pair(event) for event in events if event.topic in _OF_ANSWERS}, None)


def visible_events(
    session: Session, rights: Rights, events: Sequence[StoredEvent], hidden: Collection[Pair]
) -> list[StoredEvent]:
    """Return the changes that a person may see.

    Args:
        session: An open session.
        rights: Of the person.
        events: All changes, in order.
        hidden: From `comparable_answers`.
    """
    allowed = [event for event in events if rights.may_see(event)]
    asked = {_answer_pair(event) for event in allowed if rights.may_be_blind_to(event)}.intersection(hidden)
    if not asked:
        return allowed
    unseen = _hidden(session, asked, rights.user_id)
    return [event for event in allowed if not (rights.may_be_blind_to(event) and _answer_pair(event) in unseen)]


def events_for_user(session: Session, rights: Rights, events: Sequence[StoredEvent]) -> list[StoredEvent]:
    """Return the changes that one person may see; `visible_events` without other readers."""
    return visible_events(session, rights, events, comparable_answers(session, events))


def changes_view(workspace: Workspace, user: User, since: int | None) -> ChangesView:
    """Return what a user may see since a cursor; without one, since the page began to load."""
    with workspace.database.read() as session:
        rights = rights_of(session, user)
        batch = changes.since(session, changes.newest(session, changes.LOADING) if since is None else since)
        events = events_for_user(session, rights, batch.events)
        cursor = shown_cursor(session, rights, batch, events, since)
        return ChangesView(next=cursor, all=batch.all, changes=lines_of(events))


def shown_cursor(
    session: Session, rights: Rights, batch: EventBatch, events: Sequence[StoredEvent], since: int | None
) -> int:
    """Return the cursor that a person is told: that of the last change that they may see, if it is near.

    The cursor of all changes would count those of other projects, and answers that are hidden from the person.

    Args:
        session: An open session.
        rights: Of the person.
        batch: The changes behind the person's cursor.
        events: Those that the person may see.
        since: The person's cursor; None: they have none yet.
    """
    if batch.all:
        return batch.next
    settled = [event.id for event in events if event.id <= batch.next]
    if not settled and since is None:
        seen = events_for_user(session, rights, changes.recent(session))
        settled = [event.id for event in seen if event.id <= batch.next]
    last = settled[-1] if settled else since
    return last if last is not None and batch.next - last <= HELD else batch.next


def _hidden(session: Session, pairs: Collection[Pair], viewer_id: str | None) -> set[Pair]:
    """Return those pairs whose answers are hidden from a person; None: that may be hidden from somebody."""
    documents = [document for document, question in pairs if question is None and document is not None]
    answers = [pair for pair in pairs if pair[1] is not None]
    hidden = visibility.compared_pairs(session, answers, viewer_id) if answers else set()
    if documents:
        hidden |= {(document, None) for document in visibility.compared_documents(session, documents, viewer_id)}
    return hidden


def _answer_pair(change: StoredEvent) -> Pair:
    return change.subject_id, change.question_id


def lines_of(events: Sequence[StoredEvent]) -> list[ChangeLine]:
    """Return changes for people: a line for each topic of a project, in order of their first change."""
    groups: dict[tuple[str | None, Topic], dict[str | None, None]] = {}
    for event in events:
        groups.setdefault((event.project_id, event.topic), {})[event.subject_id] = None
    return [line_of(project_id, topic, subjects) for (project_id, topic), subjects in groups.items()]


def line_of(project_id: str | None, topic: Topic, subjects: Collection[str | None]) -> ChangeLine:
    """Return a line; it names no subjects where one is not known, or where they are many."""
    named = [subject for subject in subjects if subject is not None]
    # The subject of tasks says who may see the change, and is not told.
    whole = topic == "tasks" or len(named) < len(subjects) or len(named) > MOST_SUBJECTS
    return ChangeLine(project_id=project_id, topic=topic, subjects=None if whole else named)
