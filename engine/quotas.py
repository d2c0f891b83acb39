"""Quotas: how many documents and bytes a project may hold and a person upload.

The use comes from figures that follow the changes (engine.followers), so a check costs the same in a project of any
size; uploads that arrive within the same second may exceed a quota by themselves. What lies in the bin counts for the
person who uploaded it, and not for the project. Restoring it asks no quota: an undo that is refused would be a loss.
"""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import EVERYBODY, Project, ProjectFigures, Quota, User
from engine import audit
from engine.errors import NotFound, OverQuota, Refused
from engine.plurals import count
from engine.settings import MEGABYTE, Settings
from engine.workspace import Workspace

Kind = Literal["project", "person"]
WARNING_SHARE = 0.8  # of a quota, from which on people are told
MOST = 1_000_000_000  # of a quota: documents, or MB


@dataclass(frozen=True, slots=True)
class Space:
    """What a project holds or a person has uploaded, beside the quotas.

    Attributes:
        kind: Whose it is.
        id: Of the project or user.
        name: Of the project or user.
        documents: Number of documents.
        bytes: Size of their files, as they were uploaded.
        most_documents: Quota; None: no limit.
        most_bytes: Quota; None: no limit.
        own: Whether the quota was set for this project or person.
    """

    kind: Kind
    id: str
    name: str
    documents: int
    bytes: int
    most_documents: int | None
    most_bytes: int | None
    own: bool

    @property
    def share(self) -> float:
        """Return the used share of the tighter quota, 0 without one."""
        shares = [
            used / most for used, most in ((self.documents, self.most_documents), (self.bytes, self.most_bytes)) if most
        ]
        return max(shares, default=0.0)

    def sentence(self) -> str:
        """Return what people are told before the quota bites; "" below WARNING_SHARE."""
        if self.share < WARNING_SHARE:
            return ""
        parts = []
        if self.most_documents and self.documents >= WARNING_SHARE * self.most_documents:
            parts.append(f"{self.documents:,} of {count(self.most_documents, 'document')}")
        if self.most_bytes and self.bytes >= WARNING_SHARE * self.most_bytes:
            parts.append(f"{self.bytes / MEGABYTE:,.0f} of {self.most_bytes / MEGABYTE:,.0f} MB")
        whose = f"The project {self.name} holds" if self.kind == "project" else "You have uploaded"
        return f"{whose} {' and '.join(parts)}."

    def refusal(self, more_bytes: int) -> str:
        """Return why a further file of that size is not taken; "" if it is."""
        documents = self.most_documents is not None and self.documents >= self.most_documents
        if not documents and (self.most_bytes is None or self.bytes + more_bytes <= self.most_bytes):
            return ""
        whose, has, its = (
            ("You", "have", "your") if self.kind == "person" else (f"The project {self.name}", "has", "its")
        )
        if documents:
            sentence = f"{whose} {has} reached {its} quota of {count(self.most_documents or 0, 'document')}."
        else:
            used, most, more = (f"{size / MEGABYTE:,.1f}" for size in (self.bytes, self.most_bytes or 0, more_bytes))
            sentence = (
                f"{whose} would exceed {its} quota of {most} MB: {used} MB are used, and this file has {more} MB."
            )
        return f"{sentence} Remove documents, or ask an admin for more."


def load_spaces(session: Session, settings: Settings, project_id: str | None, user_id: str | None) -> list[Space]:
    """Return the space of a project and of a person, those that are given. NotFound for an unknown id."""
    spaces = []
    if project_id is not None:
        spaces.append(_space_of_project(session, settings, project_id))
    if user_id is not None:
        spaces.append(_space_of_person(session, settings, user_id))
    return spaces


def check_space(session: Session, settings: Settings, project_id: str, user_id: str | None, more_bytes: int) -> None:
    """Raise OverQuota when a file of that size does not fit the quota of the project or of the person."""
    for space in load_spaces(session, settings, project_id, user_id):
        if sentence := space.refusal(more_bytes):
            raise OverQuota(sentence)


def set_quota(
    workspace: Workspace, kind: Kind, subject_id: str, documents: int | None, megabytes: int | None, by: str
) -> Space:
    """Set the quota of a project or person; audited.

    Args:
        workspace: Open workspace.
        kind: What the id names.
        subject_id: Id of a project or user.
        documents: Number of documents; 0: no limit, None: as the settings say.
        megabytes: Size of the files in MB; likewise.
        by: Id of the acting user.

    Raises:
        NotFound: There is no such project or user.
        Refused: A number is too large or negative.
    """
    for number in (documents, megabytes):
        if number is not None and not 0 <= number <= MOST:
            raise Refused(f"A quota is a number from 0 to {MOST:,}, not {number:,}.")
    with workspace.database.write() as session:
        before = _space(session, workspace.settings, kind, subject_id)
        row = session.get(Quota, subject_id, with_for_update=True)
        if documents is None and megabytes is None:
            if row is not None:
                session.delete(row)
        elif row is None:
            session.add(Quota(subject_id=subject_id, documents=documents, megabytes=megabytes))
        else:
            row.documents, row.megabytes, row.changed_at = documents, megabytes, now()
        session.flush()
        space = _space(session, workspace.settings, kind, subject_id)
        project_id = subject_id if kind == "project" else None
        quota = _quota_words(space)
        if quota != _quota_words(before) or space.own != before.own:
            audit.record(session, by, f"quotas.{kind}", subject_id, project_id, name=space.name, quota=quota)
        return space


def _quota_words(space: Space) -> str:
    parts = [count(space.most_documents, "document")] if space.most_documents is not None else []
    parts += [f"{space.most_bytes / MEGABYTE:,.0f} MB"] if space.most_bytes is not None else []
    words = " and ".join(parts) or "no limit"
    return words if space.own else f"{words}, as in the settings"


def _space(session: Session, settings: Settings, kind: Kind, subject_id: str) -> Space:
    if kind == "project":
        return _space_of_project(session, settings, subject_id)
    return _space_of_person(session, settings, subject_id)


def _space_of_project(session: Session, settings: Settings, project_id: str) -> Space:
    figures = session.get(ProjectFigures, (project_id, EVERYBODY))
    used = (figures.documents, figures.bytes) if figures is not None else (0, 0)
    name = session.scalar(select(Project.name).where(Project.id == project_id, Project.bin_of.is_(None)))
    defaults = settings.quota_project_documents, settings.quota_project_mb
    return _of(session, "project", project_id, name, used, defaults)


def _space_of_person(session: Session, settings: Settings, user_id: str) -> Space:
    sums = select(
        func.coalesce(func.sum(ProjectFigures.documents), 0), func.coalesce(func.sum(ProjectFigures.bytes), 0)
    )
    documents, size = session.execute(sums.where(ProjectFigures.person_id == user_id)).one()
    name = session.scalar(select(User.name).where(User.id == user_id))
    defaults = settings.quota_person_documents, settings.quota_person_mb
    return _of(session, "person", user_id, name, (int(documents), int(size)), defaults)


def _of(
    session: Session, kind: Kind, subject_id: str, name: str | None, used: tuple[int, int], defaults: tuple[int, int]
) -> Space:
    if name is None:
        raise NotFound(f"There is no such {'project' if kind == 'project' else 'user'}.")
    row = session.get(Quota, subject_id)
    documents, megabytes = defaults
    if row is not None:
        documents = documents if row.documents is None else row.documents
        megabytes = megabytes if row.megabytes is None else row.megabytes
    return Space(
        kind, subject_id, name, *used,
        most_documents=documents or None,
        most_bytes=megabytes * MEGABYTE or None,
        own=row is not None,
    )  # fmt: skip
