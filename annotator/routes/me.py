"""Routes for the current user: preferences, sessions, tokens and password."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import PASSWORD, CurrentUser, TheCaller, TheLoginQueue, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine.accounts import sessions, tokens, users
from engine.accounts.sessions import SessionView
from engine.accounts.tokens import MadeToken, Scope
from engine.errors import Refused

router = APIRouter(prefix="/me", tags=["people"])


class PasswordChange(BaseModel):
    """The current and the new password."""

    model_config = ConfigDict(extra="forbid")

    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000, json_schema_extra=PASSWORD)


class NewToken(BaseModel):
    """A token to create: purpose, scope and lifetime in days."""

    model_config = ConfigDict(extra="forbid")

    purpose: str = Field(max_length=150)
    scope: Scope = "annotate"
    days: int = Field(365, ge=1, le=tokens.LONGEST_DAYS)


@router.get("/preferences")
@needs_scope("read")
def show_preferences(workspace: TheWorkspace, user: CurrentUser) -> dict[str, Any]:
    """Return the user's stored preferences."""
    return users.preferences(workspace, user.id)


@router.put("/preferences")
def store_preferences(
    workspace: TheWorkspace, user: CurrentUser, wanted: dict[str, Any] = Body(examples=[{"theme": "dark"}])
) -> dict[str, Any]:
    """Store the user's preferences; replaces all of them, at most 64 KB."""
    return users.set_preferences(workspace, user.id, wanted)


@router.get("/sessions", responses=pages())
def list_sessions(
    workspace: TheWorkspace,
    user: CurrentUser,
    caller: TheCaller,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=sessions.MOST_LISTED, description="Maximum number of sessions on a page.")
    ] = sessions.MOST_LISTED,
) -> list[SessionView]:
    """Return a page of the user's sessions and tokens, newest first, with scope and last use of tokens.

    A page has 1,000 of them at most.
    """
    return paging.send(sessions.sessions(workspace, user.id, caller.token, limit=limit, cursor=paging.cursor))


@router.delete("/sessions", status_code=204, response_class=Response)
def log_out_everywhere(workspace: TheWorkspace, user: CurrentUser) -> None:
    """End all of the user's logins in browsers, this one too. Tokens of programs stay."""
    sessions.log_out_everywhere(workspace, user)


@router.delete("/sessions/{session_id}", status_code=204, response_class=Response)
def end_session(session_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """End one session or token of the user."""
    sessions.revoke(workspace, user.id, session_id)


@router.post("/tokens", status_code=201)
def make_token(new: NewToken, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> MadeToken:
    """Create a token for programs that act as the user, limited by its scope.

    It is listed and ended like a session.
    """
    if workspace.settings.auth == "local":
        raise Refused("This server has no login; programs need no token. Send requests without one.")
    made = tokens.issue(
        workspace,
        user.name,
        purpose=new.purpose,
        days=new.days,
        scope=new.scope,
        by=user.id,
        login=caller.token,
    )
    return MadeToken(token=made, scope=new.scope, days=new.days)


@router.put("/password", status_code=204, response_class=Response)
async def change_password(
    change: PasswordChange, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller, line: TheLoginQueue
) -> None:
    """Change the user's password and end all other sessions.

    403 when the current password is wrong, 429 after too many tries.
    """
    if workspace.settings.auth == "local":
        raise Refused("This server has no login, so there is no password to change.")
    step = partial(sessions.change_password, workspace, user, change.old, change.new)
    await line.call_in_turn(caller.address, partial(step, token=caller.token, address=caller.address), known=True)
