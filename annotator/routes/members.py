"""Who works on a project: members, invitations by link, and the audit trail."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, MEMBERS
from annotator.deps import ROLE, CurrentUser, TheWorkspace
from engine import audit
from engine.accounts import invitations, members
from engine.accounts.invitations import InvitationView
from engine.accounts.members import MemberView
from engine.audit import AuditLine

router = APIRouter(tags=["people"], dependencies=[MEMBERS])

Limit = Annotated[int, Query(ge=1, le=audit.MOST)]


class WantedRole(BaseModel):
    """What somebody shall be in a project: admin, reviewer or annotator."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"role": "reviewer"}]})

    role: str = Field(max_length=20, json_schema_extra=ROLE)


class WantedInvitation(WantedRole):
    """What whoever opens the link shall be, and for how many days the link is valid."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"role": "annotator", "days": 7}]}
    )

    days: float = Field(7, gt=0, le=invitations.LONGEST_DAYS)


class MadeInvitation(InvitationView):
    """An invitation with its link, which is told this once."""

    url: str


@router.get("/projects/{project_id}/members")
def list_members(project_id: str, workspace: TheWorkspace) -> list[MemberView]:
    """Return the members of a project by name. Admins of the installation are none and may do everything."""
    return members.members(workspace, project_id)


@router.put("/projects/{project_id}/members/{user_id}", dependencies=[ADMINS])
def put_member(
    project_id: str, user_id: str, wanted: WantedRole, workspace: TheWorkspace, user: CurrentUser
) -> MemberView:
    """Make somebody a member, or give a member another role. 409 where the project would be left without an admin."""
    return members.put_member(workspace, project_id, user_id, wanted.role, by=user)


@router.delete("/projects/{project_id}/members/{user_id}", status_code=204, response_class=Response)
def remove_member(project_id: str, user_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """End a membership: one's own, or as an admin of the project anybody's. What the person answered stays."""
    members.remove_member(workspace, project_id, user_id, by=user)


@router.get("/projects/{project_id}/invitations", dependencies=[ADMINS])
def list_invitations(project_id: str, workspace: TheWorkspace) -> list[InvitationView]:
    """Return the invitations of a project and what became of them, newest first; without their links."""
    return invitations.invitations(workspace, project_id)


@router.post("/projects/{project_id}/invitations", status_code=201, dependencies=[ADMINS])
def invite(
    project_id: str, wanted: WantedInvitation, request: Request, workspace: TheWorkspace, user: CurrentUser
) -> MadeInvitation:
    """Make a link with which one person becomes a member."""
    made = invitations.invite(workspace, project_id, wanted.role, wanted.days, by=user)
    url = str(request.url_for("open_invitation", token=made.token))
    if workspace.settings.secure_cookies:  # a proxy speaks TLS; the server itself may not know
        url = url.replace("http://", "https://", 1)
    return MadeInvitation(**made.model_dump(exclude={"token"}), url=url)


@router.delete("/invitations/{invitation_id}", status_code=204, response_class=Response, dependencies=[ADMINS])
def withdraw(invitation_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Make an invitation's link worthless."""
    invitations.withdraw(workspace, invitation_id, by=user)


@router.get("/projects/{project_id}/audit", dependencies=[ADMINS])
def show_audit(
    project_id: str, workspace: TheWorkspace, before: str | None = None, limit: Limit = 100
) -> list[AuditLine]:
    """Return who decided what in a project, newest first. `before`: the id of the last entry seen, to go on from."""
    return audit.entries(workspace, project_id, before=before, limit=limit)
