"""Whether the server is well, and who is asking."""

from importlib.metadata import version

from fastapi import APIRouter
from pydantic import BaseModel

from annotator.deps import CurrentUser, TheWorkspace

router = APIRouter(tags=["system"])


class Health(BaseModel):
    """The server answers."""

    status: str
    version: str


class Person(BaseModel):
    """A user."""

    id: str
    name: str
    role: str


class Me(BaseModel):
    """Who is asking, and whether people log in here at all."""

    user: Person
    auth: str


@router.get("/health")
def health() -> Health:
    """Say that the server is well. Needs no login."""
    return Health(status="ok", version=version("glossator"))


@router.get("/me")
def me(user: CurrentUser, workspace: TheWorkspace) -> Me:
    """Return who is asking."""
    return Me(user=Person(id=user.id, name=user.name, role=user.role), auth=workspace.settings.auth)
