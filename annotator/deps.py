"""Dependencies of the routes: the answer service, its workspace, the user, and shared field schemas."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from annotator.auth import address_of, client_of, token_of, user_of
from annotator.login_queue import LoginQueue
from db.tables import User
from db.tables.people import ROLES
from engine.accounts import passwords
from engine.annotation.answer_service import LONGEST_QUESTION, AnswerService
from engine.errors import Forbidden
from engine.workspace import Workspace


def answer_service_of(request: Request) -> AnswerService:
    """Return the service that the application was built with."""
    service: AnswerService = request.app.state.answer_service
    return service


def workspace_of(request: Request) -> Workspace:
    """Return the workspace that the application was built with."""
    return answer_service_of(request).workspace


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
async def _answer_service(request: Request) -> AnswerService:
    return answer_service_of(request)


async def _workspace(request: Request) -> Workspace:
    return workspace_of(request)


async def _user(request: Request) -> User:
    known: User | None = getattr(request.state, "user", None)
    return known if known is not None else await run_in_threadpool(required_user, request)


async def _caller(request: Request) -> Caller:
    return Caller(token_of(request), client_of(request), address_of(request))


TheAnswerService = Annotated[AnswerService, Depends(_answer_service)]
TheWorkspace = Annotated[Workspace, Depends(_workspace)]
CurrentUser = Annotated[User, Depends(_user)]
TheCaller = Annotated[Caller, Depends(_caller)]
CurrentAdmin = Annotated[User, Depends(required_admin)]


async def _login_queue(request: Request) -> LoginQueue:
    line: LoginQueue = request.app.state.login_queue
    return line


TheLoginQueue = Annotated[LoginQueue, Depends(_login_queue)]


async def _editor(
    user: CurrentUser, x_glossator_user: Annotated[str | None, Header(description="Who made the edit, by id.")] = None
) -> User:
    """Return who is logged in; 401 when the edit is somebody else's."""
    if x_glossator_user is not None and x_glossator_user != user.id:
        # A page that was left open sends its edits, and somebody else has logged in in this browser.
        raise HTTPException(401, f"{user.name} is logged in now; log in as yourself, and your edits are saved.")
    return user


TheEditor = Annotated[User, Depends(_editor)]

# JSON schemas of body fields whose limits the engine checks: its sentence is clearer than a schema's.
ROLE: dict[str, Any] = {"enum": list(ROLES)}
ROLE_OR_NONE: dict[str, Any] = {"enum": [*ROLES, None]}
QUESTION: dict[str, Any] = {"minLength": 1, "maxLength": LONGEST_QUESTION, "pattern": r"\S"}
PASSWORD: dict[str, Any] = {"minLength": passwords.SHORTEST}
