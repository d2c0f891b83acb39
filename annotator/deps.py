"""What routes receive: the desk with its workspace, and the person who asks."""

from typing import Annotated

from fastapi import Depends, HTTPException, Request

from annotator.auth import user_of
from db.tables import User
from engine.annotation.ask import Desk
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
    """Return who is logged in; 401 when nobody is."""
    user = user_of(request, workspace_of(request))
    if user is None:
        raise HTTPException(401, "Log in first.")
    return user


def required_admin(request: Request) -> User:
    """Return who is logged in, an admin; 401 when nobody is, 403 for other roles."""
    user = required_user(request)
    if user.role != "admin":
        raise Forbidden("Only an admin may do this.")
    return user


TheDesk = Annotated[Desk, Depends(desk_of)]
TheWorkspace = Annotated[Workspace, Depends(workspace_of)]
CurrentUser = Annotated[User, Depends(required_user)]
CurrentAdmin = Annotated[User, Depends(required_admin)]
