"""Dependencies of the routes: the answer service, its workspace, the user, and shared field schemas."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from annotator.auth import address_of, client_of, token_of, user_of
from annotator.change_streams import ChangeStreams
from annotator.in_process_workers import InProcessWorkers
from annotator.login_queue import LoginQueue
from db.tables import User
from db.tables.people import ROLES
from engine.accounts import passwords
from engine.annotation.answer_service import LONGEST_QUESTION, AnswerService
from engine.errors import Forbidden
from engine.workspace import Workspace


def answer_service_of(request: Request) -> AnswerService:
    """Return the answer service of the application."""
    service: AnswerService = request.app.state.answer_service
    return service


def workspace_of(request: Request) -> Workspace:
    """Return the workspace of the application."""
    return answer_service_of(request).workspace


def required_user(request: Request) -> User:
    """Return the logged-in user.

    Raises:
        HTTPException: 401 when nobody is logged in.
    """
    user = user_of(request, workspace_of(request))
    if user is None:
        raise HTTPException(401, "Log in first.")
    return user


def required_admin(request: Request) -> User:
    """Return the logged-in admin of the installation.

    Raises:
        HTTPException: 401 when nobody is logged in.
        Forbidden: the user is not an admin.
    """
    user = required_user(request)
    if user.role != "admin":
        raise Forbidden("Only an admin can do this. Ask an admin of this server.")
    return user


@dataclass(frozen=True, slots=True)
class Caller:
    """Origin of a request: session token, user agent and client address."""

    token: str | None
    client: str
    address: str


# Asynchronous: a thread for each of these would cost more than the edit that is saved.
async def _answer_service(request: Request) -> AnswerService:
    return answer_service_of(request)


async def _workspace(request: Request) -> Workspace:
    return workspace_of(request)


async def _user(request: Request) -> User:
    known: User | None = getattr(request.state, "user", None)
    return known if known is not None else await run_in_threadpool(required_user, request)


async def _caller(request: Request) -> Caller:
    return Caller(token_of(request), client_of(request), address_of(request))


async def _in_process_workers(request: Request) -> InProcessWorkers:
    workers: InProcessWorkers = request.app.state.in_process_workers
    return workers


async def _change_streams(request: Request) -> ChangeStreams:
    streams: ChangeStreams = request.app.state.change_streams
    return streams


TheAnswerService = Annotated[AnswerService, Depends(_answer_service)]
TheChangeStreams = Annotated[ChangeStreams, Depends(_change_streams)]
TheWorkers = Annotated[InProcessWorkers, Depends(_in_process_workers)]
TheWorkspace = Annotated[Workspace, Depends(_workspace)]
CurrentUser = Annotated[User, Depends(_user)]
TheCaller = Annotated[Caller, Depends(_caller)]
CurrentAdmin = Annotated[User, Depends(required_admin)]


async def _login_queue(request: Request) -> LoginQueue:
    line: LoginQueue = request.app.state.login_queue
    return line


TheLoginQueue = Annotated[LoginQueue, Depends(_login_queue)]


async def _editor(
    user: CurrentUser,
    x_glossator_user: Annotated[str | None, Header(description="Id of the user who made the edit.")] = None,
) -> User:
    """Return the logged-in user; 401 when the edit belongs to another user."""
    if x_glossator_user is not None and x_glossator_user != user.id:
        # An open page sends the edits of one user after another user has logged in with the same browser.
        raise HTTPException(401, f"{user.name} is logged in here now. Log in again to save your edits.")
    return user


TheEditor = Annotated[User, Depends(_editor)]

# JSON schemas of body fields whose limits the engine checks: its sentence is clearer than a schema's.
ROLE: dict[str, Any] = {"enum": list(ROLES)}
ROLE_OR_NONE: dict[str, Any] = {"enum": [*ROLES, None]}
QUESTION: dict[str, Any] = {"minLength": 1, "maxLength": LONGEST_QUESTION, "pattern": r"\S"}
PASSWORD: dict[str, Any] = {"minLength": passwords.SHORTEST}
