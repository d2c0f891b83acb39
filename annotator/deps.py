"""What routes receive: the desk with its workspace, and the person who asks."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from annotator.auth import address_of, client_of, token_of, user_of
from annotator.login_queue import LoginLine
from db.tables import User
from engine.annotation.answer_service import Desk
from engine.errors import Forbidden
from engine.workspace import Workspace


def desk_of(request: Request) -> Desk:
    """Return the desk that the application was built with."""
    desk: Desk = request.app.state.desk
    return desk


def workspace_of(request: Request) -> Workspace:
    """Return the workspace that the application was built with."""
    return desk_of(request).workspace


def required_user(request: Request) -> User:
    """Return who is logged in, looked up once a request; 401 when nobody is."""
    user: User | None = getattr(request.state, "user", None)
    if user is None:
        user = user_of(request, workspace_of(request))
    if user is None:
        raise HTTPException(401, "Log in first.")
    request.state.user = user
    return user


def required_admin(request: Request) -> User:
    """Return who is logged in, an admin; 401 when nobody is, 403 for other roles."""
    user = required_user(request)
    if user.role != "admin":
        raise Forbidden("Only an admin may do this.")
    return user


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a request comes from: the token of its session, the browser's own name, its address."""

    token: str | None
    client: str
    address: str


# Asynchronous, so that what needs no waiting takes no thread: on a save these would cost more than the edit.
async def _desk(request: Request) -> Desk:
    return desk_of(request)


async def _workspace(request: Request) -> Workspace:
    return workspace_of(request)


async def _user(request: Request) -> User:
    known: User | None = getattr(request.state, "user", None)
    return known if known is not None else await run_in_threadpool(required_user, request)


async def _caller(request: Request) -> Caller:
    return Caller(token_of(request), client_of(request), address_of(request))


TheDesk = Annotated[Desk, Depends(_desk)]
TheWorkspace = Annotated[Workspace, Depends(_workspace)]
CurrentUser = Annotated[User, Depends(_user)]
TheCaller = Annotated[Caller, Depends(_caller)]
CurrentAdmin = Annotated[User, Depends(required_admin)]


async def _login_line(request: Request) -> LoginLine:
    line: LoginLine = request.app.state.login_line
    return line


TheLoginLine = Annotated[LoginLine, Depends(_login_line)]


async def _editor(
    user: CurrentUser, x_glossator_user: Annotated[str | None, Header(description="Who made the edit, by id.")] = None
) -> User:
    """Return who is logged in; 401 when the edit is somebody else's."""
    if x_glossator_user is not None and x_glossator_user != user.id:
        # A page that was left open sends its edits, and somebody else has logged in in this browser.
        raise HTTPException(401, f"{user.name} is logged in now; log in as yourself, and your edits are saved.")
    return user


TheEditor = Annotated[User, Depends(_editor)]
