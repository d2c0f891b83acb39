"""Whether the server is well, and who is asking."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from annotator import about
from annotator.deps import CurrentUser, TheWorkspace

router = APIRouter(tags=["system"])


class Health(BaseModel):
    """The server answers, and says what it is."""

    status: str
    version: str
    licence: str = Field(examples=["AGPL-3.0-or-later"], description="Its SPDX name.")
    source: str = Field(examples=["/source"], description="Where the source of what runs here is.")


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
def health(workspace: TheWorkspace) -> Health:
    """Say that the server is well, and which version of what it is. Needs no login."""
    source = about.source_of(workspace.settings)
    return Health(status="ok", version=about.version(), licence=about.licence(), source=source)


@router.get("/me")
def me(user: CurrentUser, workspace: TheWorkspace) -> Me:
    """Return who is asking."""
    return Me(user=Person(id=user.id, name=user.name, role=user.role), auth=workspace.settings.auth)
