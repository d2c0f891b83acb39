"""Routes for users of the installation, for its admins."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import PASSWORD, ROLE, ROLE_OR_NONE, CurrentAdmin, TheWorkspace
from annotator.paging import ThePaging, pages
from engine import audit
from engine.accounts import sessions, users
from engine.accounts.sessions import SessionView
from engine.accounts.users import UserView
from engine.audit import AuditLine
from engine.lifecycle.person_erasing import ErasedPerson, erase_person

router = APIRouter(tags=["people"])


class NewUser(BaseModel):
    """A user to add. The role admin applies everywhere; projects assign all other roles."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "ann", "password": "a long password"}]}
    )

    name: str = Field(max_length=200)
    password: str = Field(max_length=1000, json_schema_extra=PASSWORD)
    role: str = Field("annotator", max_length=20, json_schema_extra=ROLE)


class ChangedUser(BaseModel):
    """Fields of a user to change; omitted ones are kept."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"disabled": True}]})

    role: str | None = Field(None, max_length=20, json_schema_extra=ROLE_OR_NONE)
    disabled: bool | None = None


class NewPassword(BaseModel):
    """New password of a user who forgot theirs."""

    model_config = ConfigDict(extra="forbid")

    new: str = Field(max_length=1000, json_schema_extra=PASSWORD)


@router.get("/users", responses=pages())
def list_users(
    workspace: TheWorkspace,
    user: CurrentAdmin,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=users.MOST_LISTED, description="Maximum number of users on a page.")
    ] = users.MOST_LISTED,
) -> list[UserView]:
    """Return a page of the users by name. A page has 1,000 users at most."""
    return paging.send(users.user_views(workspace, limit=limit, cursor=paging.cursor))


@router.post("/users", status_code=201)
def add_user(new: NewUser, workspace: TheWorkspace, user: CurrentAdmin) -> UserView:
    """Add a user. 409 when the name is taken."""
    return users.user_view(workspace, users.add_user(workspace, new.name, new.password, new.role, by=user.id))


@router.patch("/users/{user_id}")
def change_user(user_id: str, changed: ChangedUser, workspace: TheWorkspace, user: CurrentAdmin) -> UserView:
    """Change a user's role, or disable or enable the user. Disabling ends all sessions."""
    changes = changed.model_dump()
    return users.user_view(workspace, users.change_user(workspace, user_id, **changes, by=user))


@router.put("/users/{user_id}/password", status_code=204, response_class=Response)
def set_password(user_id: str, wanted: NewPassword, workspace: TheWorkspace, user: CurrentAdmin) -> None:
    """Set a user's password and end all their sessions."""
    users.set_password(workspace, user_id, wanted.new, by=user)


@router.post("/users/{user_id}/erase")
def erase_user(user_id: str, workspace: TheWorkspace, user: CurrentAdmin) -> ErasedPerson:
    """Erase a person: a label stands wherever the name stood, and the work is kept. Audited. It cannot be undone.

    Deleted are password, sessions, tokens, memberships, preferences, and login attempts. Answers, verdicts and history
    stay, under the label. `stays` has a sentence for each snapshot that still has the name. Files that left, as exports
    and backups, do not change. Repeating the request changes nothing.
    """
    return erase_person(workspace, user_id, by=user)


@router.delete("/users/{user_id}/second-factor", status_code=204, response_class=Response)
def reset_second_factor(user_id: str, workspace: TheWorkspace, user: CurrentAdmin) -> None:
    """Remove a user's second factor and end all their sessions, as when its device is lost."""
    users.reset_second_factor(workspace, user_id, by=user)


@router.get("/users/{user_id}/sessions", responses=pages())
def list_sessions(
    user_id: str,
    workspace: TheWorkspace,
    user: CurrentAdmin,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=sessions.MOST_LISTED, description="Maximum number of sessions on a page.")
    ] = sessions.MOST_LISTED,
) -> list[SessionView]:
    """Return a page of a user's sessions and tokens, newest first. A page has 1,000 of them at most."""
    whose = users.user_by_id(workspace, user_id).id
    return paging.send(sessions.sessions(workspace, whose, limit=limit, cursor=paging.cursor))


@router.delete("/users/{user_id}/sessions", status_code=204, response_class=Response)
def end_sessions(user_id: str, workspace: TheWorkspace, user: CurrentAdmin) -> None:
    """End all sessions of a user."""
    users.end_sessions(workspace, user_id, by=user)


@router.get("/audit", responses=pages())
def show_audit(
    workspace: TheWorkspace,
    user: CurrentAdmin,
    paging: ThePaging,
    before: Annotated[str | None, Query(description="Id of the last entry seen, instead of a cursor.")] = None,
    limit: Annotated[int, Query(ge=1, le=audit.MOST, description="Maximum number of entries on a page.")] = 100,
) -> list[AuditLine]:
    """Return a page of the audit trail of all projects and users, newest first. A page has 500 entries at most."""
    return paging.send(audit.entries(workspace, before=before, limit=limit, cursor=paging.cursor))
