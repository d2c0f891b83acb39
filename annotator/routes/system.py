"""Whether the server is well, and who is asking."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from annotator import source_offer
from annotator.deps import CurrentUser, TheWorkspace
from annotator.health import NEEDED, Part
from annotator.health_checks import Checkup, is_admin, is_ready
from annotator.reference.page import page

router = APIRouter(tags=["system"])
UNREADY = "unready"


class Health(BaseModel):
    """Whether people can work, and what it is that answers."""

    status: str = Field(description="ok, or unready.")
    version: str
    licence: str = Field(examples=["AGPL-3.0-or-later"], description="Its SPDX name.")
    source: str = Field(examples=["/source"], description="Where the source of what runs here is.")
    detail: str | None = Field(None, examples=[None], description="What is wrong, where something is.")


class Alive(BaseModel):
    """The process answers."""

    status: str = Field("ok", examples=["ok"])


class PartView(BaseModel):
    """Whether a part is well."""

    ok: bool = Field(examples=[True])
    sentence: str = Field(examples=["The database answers."])
    details: str | None = Field(None, examples=[None], description="Names, places and errors: for admins alone.")


class Readiness(BaseModel):
    """Whether people can work, part by part. Without a worker they can; retrainings and surveys wait."""

    status: str = Field(examples=["ok"], description="ok, or unready.")
    database: PartView
    blobs: PartView = Field(description="The folder of pictures, uploads and checkpoints.")
    disk: PartView
    worker: PartView
    detail: str | None = Field(None, examples=[None], description="What is wrong, where something is.")


class Person(BaseModel):
    """A user."""

    id: str
    name: str
    role: str


class Me(BaseModel):
    """Who is asking, and whether people log in here at all."""

    user: Person
    auth: str


async def _parts(request: Request, response: Response) -> dict[str, Part]:
    """The parts, and 503 where people cannot work."""
    checkup: Checkup = request.app.state.checkup
    found = await checkup.parts()
    if not is_ready(found):
        response.status_code = 503
    return found


TheParts = Annotated[dict[str, Part], Depends(_parts)]
_UNREADY = "The database does not answer, the folder of files cannot be written to, or the disk is full."


@router.get("/health", response_model_exclude_none=True, responses={503: {"model": Health, "description": _UNREADY}})
async def health(workspace: TheWorkspace, parts: TheParts) -> Health:
    """Say whether people can work, and which version of what answers. Needs no login."""
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
    """Say that the process answers, whatever it stands on. Needs no login."""
    return Alive()


@router.get(
    "/health/ready", response_model_exclude_none=True, responses={503: {"model": Readiness, "description": _UNREADY}}
)
async def ready(request: Request, workspace: TheWorkspace, parts: TheParts) -> Readiness:
    """Say part by part whether people can work. Needs no login; admins are told details."""
    trusted = parts["database"].ok and await run_in_threadpool(is_admin, request, workspace)
    views = {
        name: PartView(ok=part.ok, sentence=part.sentence, details=part.details if trusted else None)
        for name, part in parts.items()
    }
    return Readiness(status=_status(parts), **views, detail=_wrong(parts))


def _status(parts: dict[str, Part]) -> str:
    return "ok" if is_ready(parts) else UNREADY


def _wrong(parts: dict[str, Part]) -> str | None:
    return " ".join(parts[name].sentence for name in NEEDED if not parts[name].ok) or None


@router.get("/me")
def me(user: CurrentUser, workspace: TheWorkspace) -> Me:
    """Return who is asking."""
    return Me(user=Person(id=user.id, name=user.name, role=user.role), auth=workspace.settings.auth)


@router.get("/docs", include_in_schema=False, response_class=HTMLResponse)
def show_reference(request: Request) -> str:
    """Return the REST reference as a page."""
    return page(request.app.openapi(), str(request.base_url))
