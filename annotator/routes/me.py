"""What belongs to the person who asks: preferences of their page, sessions, password."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Body, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import PASSWORD, CurrentUser, TheCaller, TheLoginQueue, TheWorkspace
from engine.accounts import sessions, tokens, users
from engine.accounts.sessions import SessionView
from engine.accounts.tokens import MadeToken, Scope
from engine.errors import Refused

router = APIRouter(prefix="/me", tags=["people"])


class PasswordChange(BaseModel):
    """The present password and the one to come."""

    model_config = ConfigDict(extra="forbid")

    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000, json_schema_extra=PASSWORD)


class NewToken(BaseModel):
    """A token for a program: what it may do, what it is for, and how many days it lasts."""

    model_config = ConfigDict(extra="forbid")

    purpose: str = Field(max_length=150)
    scope: Scope = "annotate"
    days: int = Field(365, ge=1, le=tokens.LONGEST_DAYS)


@router.get("/preferences")
def show_preferences(workspace: TheWorkspace, user: CurrentUser) -> dict[str, Any]:
    """Return what the person's page remembers, as it was stored."""
    return users.preferences(workspace, user.id)


@router.put("/preferences")
def store_preferences(
    workspace: TheWorkspace, user: CurrentUser, wanted: dict[str, Any] = Body(examples=[{"theme": "dark"}])
) -> dict[str, Any]:
    """Store what the person's page shall remember: all of it, at most 64 KB."""
    return users.set_preferences(workspace, user.id, wanted)


@router.get("/sessions")
def list_sessions(workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> list[SessionView]:
    """Return where the person is logged in, newest first; their programs' tokens, with scope and last use, are among it."""
    return sessions.sessions(workspace, user.id, caller.token)


@router.delete("/sessions/{session_id}", status_code=204, response_class=Response)
def end_session(session_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Log the person out in one place, or end a token."""
    sessions.revoke(workspace, user.id, session_id)


@router.post("/tokens", status_code=201)
def make_token(new: NewToken, workspace: TheWorkspace, user: CurrentUser) -> MadeToken:
    """Make a token with which a program is this person, as far as its scope allows. It is seen and ended as a session is."""
    if workspace.settings.auth == "local":
        raise Refused("Nobody logs in here, so programs need no token.")
    made = tokens.issue(workspace, user.name, purpose=new.purpose, days=new.days, scope=new.scope, by=user.id)
    return MadeToken(token=made, scope=new.scope, days=new.days)


@router.put("/password", status_code=204, response_class=Response)
async def change_password(
    change: PasswordChange, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller, line: TheLoginQueue
) -> None:
    """Change the person's password, and log them out everywhere else. 403 when the present one is wrong, 429 too often."""
    if workspace.settings.auth == "local":
        raise Refused("Nobody logs in here, so there is no password.")
    step = partial(sessions.change_password, workspace, user, change.old, change.new)
    await line.run(caller.address, partial(step, token=caller.token, address=caller.address), known=True)
