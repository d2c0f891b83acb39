"""Routes for health, the current user, and the reference page."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from annotator import source_offer
from annotator.deps import CurrentUser, TheWorkspace
from annotator.health_checks import Checkup, is_admin, is_ready
from annotator.reference.page import page
from annotator.scopes import needs_scope
from engine.accounts import sessions
from engine.lifecycle.health import NEEDED, Part

router = APIRouter(tags=["system"])
UNREADY = "unready"


class Health(BaseModel):
    """State of the server, with version and source."""

    status: str = Field(description="ok, or unready.")
    version: str
    licence: str = Field(examples=["AGPL-3.0-or-later"], description="SPDX identifier.")
    source: str = Field(examples=["/source"], description="Address of the running program's source.")
    detail: str | None = Field(None, examples=[None], description="Failed parts, if any.")


class Alive(BaseModel):
    """State of the process."""

    status: str = Field("ok", examples=["ok"])


class PartView(BaseModel):
    """State of one part."""

    ok: bool = Field(examples=[True])
    warning: bool = Field(False, description="Whether it works, but not for long.")
    sentence: str = Field(examples=["The database responds."])
    details: str | None = Field(None, examples=[None], description="Names, paths and errors; for admins only.")


class Readiness(BaseModel):
    """State of each part. Without a worker people can work, but retrainings and surveys wait."""

    status: str = Field(examples=["ok"], description="ok, or unready.")
    database: PartView
    blobs: PartView = Field(description="Folder of images, uploads and checkpoints.")
    disk: PartView
    worker: PartView
    figures: PartView = Field(description="Figures that follow the changes: how far they are behind.")
    networks: PartView = Field(description="Whether the networks are loaded; right after a start they are not.")
    detail: str | None = Field(None, examples=[None], description="Failed parts, if any.")


class Person(BaseModel):
    """A user."""

    id: str
    name: str
    role: str


class Me(BaseModel):
    """The current user and the login mode: local or login.

    `password`: whether the person has a password here, and may log in with it; else single sign-on knows them.
    """

    user: Person
    auth: str
    password: bool


async def _parts(request: Request, response: Response) -> dict[str, Part]:
    """Return the parts; set the status 503 when people cannot work."""
    checkup: Checkup = request.app.state.checkup
    parts = await checkup.parts()
    if not is_ready(parts):
        response.status_code = 503
    return parts


TheParts = Annotated[dict[str, Part], Depends(_parts)]
_UNREADY = "The database does not respond, the data folder cannot be written to, or the disk is full."


@router.get("/health", response_model_exclude_none=True, responses={503: {"model": Health, "description": _UNREADY}})
async def health(workspace: TheWorkspace, parts: TheParts) -> Health:
    """Return the state of the server with version, licence and source. Needs no login."""
    source = source_offer.source_of(workspace.settings)
    return Health(
        status=_status(parts),
        version=source_offer.version(),
        licence=source_offer.licence(),
        source=source,
        detail=_wrong(parts),
    )


@router.get("/health/live")
async def live() -> Alive:
    """Return ok while the process runs; checks nothing else. Needs no login."""
    return Alive()


@router.get(
    "/health/ready", response_model_exclude_none=True, responses={503: {"model": Readiness, "description": _UNREADY}}
)
async def ready(request: Request, workspace: TheWorkspace, parts: TheParts) -> Readiness:
    """Return the state of each part. Needs no login; admins also get details."""
    trusted = parts["database"].ok and await run_in_threadpool(is_admin, request, workspace)
    views = {
        name: PartView(
            ok=part.ok, warning=part.warning, sentence=part.sentence, details=part.details if trusted else None
        )
        for name, part in parts.items()
    }
    return Readiness(status=_status(parts), **views, detail=_wrong(parts))


def _status(parts: dict[str, Part]) -> str:
    return "ok" if is_ready(parts) else UNREADY


def _wrong(parts: dict[str, Part]) -> str | None:
    return " ".join(parts[name].sentence for name in NEEDED if not parts[name].ok) or None


@router.get("/me")
@needs_scope("read")
def me(user: CurrentUser, workspace: TheWorkspace) -> Me:
    """Return the current user and the login mode."""
    known = Person(id=user.id, name=user.name, role=user.role)
    has_password = user.password_hash is not None and sessions.may_use_password(workspace, user)
    return Me(user=known, auth=workspace.settings.auth, password=has_password)


@router.get("/docs", include_in_schema=False, response_class=HTMLResponse)
@needs_scope("read")
def show_reference(request: Request, workspace: TheWorkspace) -> str:
    """Return the REST reference as a page."""
    return page(request.app.openapi(), str(request.base_url), workspace.settings.root_path)
