"""Projects and their settings."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Annotation, Document, Member, Project, User
from engine import audit
from engine.errors import Conflict, NotFound, Refused
from engine.jobs.crontab import schedule, zone_named
from engine.projects import overlap, priority
from engine.settings import Settings
from engine.text import check_name
from engine.workspace import Workspace

DEFAULT_NAME = "default"


class ProjectSettings(BaseModel):
    """What a project chooses for itself; stored as JSON in its row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrain_after: int = Field(
        20, ge=1, le=1_000_000, description="Newly accepted annotations that start a retraining."
    )
    retrain_automatically: bool = Field(
        True, description="Start retrainings without being asked; off: neither count nor age nor clock starts one."
    )
    retrain_after_days: float = Field(
        0.0, ge=0, le=3650, description="Days after which a new answer is not left waiting for others; 0: no limit."
    )
    retrain_cron: str = Field(
        "", max_length=120, description='Crontab expression of the clock that retrains, as "30 2 * * 1-5"; empty: none.'
    )
    retrain_time_zone: str = Field("UTC", max_length=60, description="Time zone of that clock, as Europe/Berlin.")
    promotion: Literal["automatic", "by_hand"] = Field("automatic", description="What a passed gate does.")
    review_required: bool = Field(
        False, description="What an annotator accepts is submitted, and waits for a reviewer."
    )
    overlap_share: float = Field(0.0, ge=0, le=1, description="Share of the tasks that several people answer.")
    overlap_people: int = Field(2, ge=2, le=3, description="How many people answer those.")
    gold_share: float = Field(0.0, ge=0, le=1, description="Share of known answers that are asked unannounced.")
    selection: Literal["arrival", "random", "model"] = Field(
        "arrival",
        description="Which documents people get next: as they came, drawn, or those that the model learns most from.",
    )
    selection_random_share: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Share of the documents that are drawn beside the model's choice, to compare it with.",
    )
    selection_patience_days: float = Field(
        30,
        gt=0,
        le=3650,
        description="A document that has waited so long gets a place of its own in the model's choice.",
    )
    precision_target: float = Field(
        0.95, ge=0.5, le=0.999, description="Share of the automatic answers that must be right, at least."
    )
    precision_answers: int = Field(
        100, ge=20, le=100_000, description="On how many reviewed answers of holdout documents that must be measured."
    )
    audit_share: float = Field(0.1, ge=0.01, le=1, description="Share of the automatic answers that people check.")

    @model_validator(mode="after")
    def _clock_that_comes_due(self) -> "ProjectSettings":
        zone_named(self.retrain_time_zone)
        if self.retrain_cron.strip():
            schedule(self.retrain_cron, self.retrain_time_zone)
        return self


# Whoever changes one of these sets a new clock: nothing that would have been due before is made up for.
_CLOCK = {"retrain_automatically", "retrain_cron", "retrain_time_zone"}


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """A project as a list shows it."""

    project: Project
    documents: int
    accepted: int


def settings_of(project: Project) -> ProjectSettings:
    """Return a project's settings; what it never chose has its default."""
    return ProjectSettings.model_validate(project.settings)


def ensure_project(session: Session, name: str, settings: Settings, created_by: str | None = None) -> Project:
    """Return the project `name`, made if there is none, inside the caller's unit of work."""
    project = session.scalar(select(Project).where(Project.name == name))
    if project is None:
        _check_name(name)
        chosen = ProjectSettings(retrain_after=settings.retrain_after)
        project = Project(name=name, settings=chosen.model_dump(), created_by=created_by)
        session.add(project)
        session.flush()
    return project


def create_project(workspace: Workspace, name: str, description: str = "", created_by: str | None = None) -> Project:
    """Create a project; who creates it is its admin. Conflict when the name is taken."""
    _check_name(name)
    chosen = ProjectSettings(retrain_after=workspace.settings.retrain_after)
    try:
        with workspace.database.write() as session:
            project = Project(name=name, description=description, settings=chosen.model_dump(), created_by=created_by)
            session.add(project)
            session.flush()
            # The local user, who cannot log in, is an admin everywhere and needs no membership.
            if created_by is not None and session.get_one(User, created_by).password_hash is not None:
                session.add(Member(project_id=project.id, user_id=created_by, role="admin"))
            audit.record(session, created_by, "projects.create", project.id, project.id, name=name)
            return project
    except IntegrityError:
        raise Conflict(f"There is a project {name!r} already.") from None


def change_settings(
    workspace: Workspace, project_id: str, *, by: str | None = None, **changes: object
) -> ProjectSettings:
    """Change some of a project's settings; what changed is audited. Refused with a sentence for a value that cannot be."""
    with workspace.database.write() as session:
        # Locked: settings are one value, and who changes another one of them at the same time must not undo this.
        project = session.get(Project, project_id, with_for_update={"key_share": True})
        if project is None:
            raise NotFound("There is no such project.")
        try:
            chosen = ProjectSettings.model_validate({**project.settings, **changes})
        except ValidationError as error:
            first = error.errors()[0]
            if not first["loc"]:  # what two settings say together, in a sentence of its own
                raise Refused(f"{first['msg'].removeprefix('Value error, ')}.") from None
            raise Refused(f"The setting {'.'.join(map(str, first['loc']))} cannot be so: {first['msg']}.") from None
        before, after = settings_of(project).model_dump(), chosen.model_dump()
        changed = {name: [before[name], value] for name, value in after.items() if value != before[name]}
        if changed:
            audit.record(session, by, "settings.change", project.id, project.id, changes=changed)
        project.settings = after
        if _CLOCK & set(changed):
            project.clock_since = now()
        if before["selection"] != after["selection"]:
            priority.forget(session, project_id)
        if {"overlap_share", "overlap_people"} & set(changes):
            overlap.redraw(session, project_id, chosen.overlap_share, chosen.overlap_people)
        return chosen


def project_named(workspace: Workspace, name: str) -> Project:
    """Return a project by name. NotFound names the ones there are."""
    with workspace.database.read() as session:
        project = session.scalar(select(Project).where(Project.name == name))
        if project is None:
            names = ", ".join(session.scalars(select(Project.name).order_by(Project.name)))
            raise NotFound(f"There is no project {name!r}; there is {names or 'none yet'}.")
        return project


def project_by_id(workspace: Workspace, project_id: str) -> Project:
    """Return a project by id. NotFound when there is none."""
    with workspace.database.read() as session:
        project = session.get(Project, project_id)
    if project is None:
        raise NotFound("There is no such project.")
    return project


def summaries(workspace: Workspace, user: User | None = None) -> list[ProjectSummary]:
    """Return the projects that a user may see, or all, with their counts: the default one first, the others by name."""
    documents = select(func.count(Document.id)).where(Document.project_id == Project.id).scalar_subquery()
    accepted = (
        select(func.count(Annotation.id))
        .where(Annotation.project_id == Project.id, Annotation.status.in_(["accepted", "fixed"]))
        .scalar_subquery()
    )
    with workspace.database.read() as session:
        chosen = select(Project, documents, accepted).order_by(Project.name != DEFAULT_NAME, Project.name)
        if user is not None and user.role != "admin":
            chosen = chosen.join(Member, (Member.project_id == Project.id) & (Member.user_id == user.id))
        rows = session.execute(chosen).all()
    return [ProjectSummary(*row) for row in rows]


def _check_name(name: str) -> None:
    check_name(name, "A project's name", longest=100)
