"""What belongs to the person who asks: preferences of their page, sessions, password."""

from typing import Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import CurrentUser, TheCaller, TheWorkspace
from annotator.described import PASSWORD
from engine import logins, people
from engine.errors import Refused
from engine.logins import SessionView

router = APIRouter(prefix="/me", tags=["people"])


class PasswordChange(BaseModel):
    """The present password and the one to come."""

    model_config = ConfigDict(extra="forbid")

    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000, json_schema_extra=PASSWORD)


@router.get("/preferences")
def show_preferences(workspace: TheWorkspace, user: CurrentUser) -> dict[str, Any]:
    """Return what the person's page remembers, as it was stored."""
    return people.preferences(workspace, user.id)


@router.put("/preferences")
def store_preferences(
    workspace: TheWorkspace, user: CurrentUser, wanted: dict[str, Any] = Body(examples=[{"theme": "dark"}])
) -> dict[str, Any]:
    """Store what the person's page shall remember: all of it, at most 64 KB."""
    return people.set_preferences(workspace, user.id, wanted)


@router.get("/sessions")
def list_sessions(workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> list[SessionView]:
    """Return where the person is logged in, newest first."""
    return logins.sessions(workspace, user.id, caller.token)


@router.delete("/sessions/{session_id}", status_code=204, response_class=Response)
def end_session(session_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Log the person out in one place."""
    logins.revoke(workspace, user.id, session_id)


@router.put("/password", status_code=204, response_class=Response)
def change_password(change: PasswordChange, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> None:
    """Change the person's password, and log them out everywhere else. 403 when the present one is wrong, 429 too often."""
    if workspace.settings.auth == "local":
        raise Refused("Nobody logs in here, so there is no password.")
    logins.change_password(workspace, user, change.old, change.new, token=caller.token, address=caller.address)
