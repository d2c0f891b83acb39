"""Routes for members, invitation links and the audit trail of a project."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import ADMINS, MEMBERS, while_archived
from annotator.deps import ROLE, CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from annotator.scopes import needs_scope
from engine import audit
from engine.accounts import invitations, members
from engine.accounts.invitations import InvitationView
from engine.accounts.members import MemberView
from engine.audit import AuditLine

router = APIRouter(tags=["people"], dependencies=[MEMBERS])


class WantedRole(BaseModel):
    """Role in a project: admin, reviewer or annotator."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"role": "reviewer"}]})

    role: str = Field(max_length=20, json_schema_extra=ROLE)


class WantedInvitation(WantedRole):
    """Role of the invited person, and validity of the link in days."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"role": "annotator", "days": 7}]}
    )

    days: float = Field(7, gt=0, le=invitations.LONGEST_DAYS)


class MadeInvitation(InvitationView):
    """An invitation with its link, which is shown only once."""

    url: str


@router.get("/projects/{project_id}/members", responses=pages())
@needs_scope("read")
def list_members(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=members.MOST_LISTED, description="Maximum number of members on a page.")
    ] = members.MOST_LISTED,
) -> list[MemberView]:
    """Return a page of the members of a project by name. A page has 1,000 members at most.

    Admins of the installation have all rights without membership.
    """
    return paging.send(members.members(workspace, project_id, limit=limit, cursor=paging.cursor))


@router.put("/projects/{project_id}/members/{user_id}", dependencies=[ADMINS])
@while_archived
def put_member(
    project_id: str, user_id: str, wanted: WantedRole, workspace: TheWorkspace, user: CurrentUser
) -> MemberView:
    """Add a member, or change a member's role. 409 when the project would be left without an admin."""
    return members.put_member(workspace, project_id, user_id, wanted.role, by=user)


@router.delete("/projects/{project_id}/members/{user_id}", status_code=204, response_class=Response)
@while_archived
def remove_member(project_id: str, user_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Remove a member: oneself, or anybody as an admin of the project. Their answers are kept."""
    members.remove_member(workspace, project_id, user_id, by=user)


@router.get("/projects/{project_id}/invitations", dependencies=[ADMINS], responses=pages())
def list_invitations(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=invitations.MOST_LISTED, description="Maximum number of invitations on a page.")
    ] = 200,
) -> list[InvitationView]:
    """Return a page of the invitations of a project with their states, newest first, without links.

    A page has 200 invitations, and with `limit` 1,000 at most.
    """
    return paging.send(invitations.invitations(workspace, project_id, limit=limit, cursor=paging.cursor))


@router.post("/projects/{project_id}/invitations", status_code=201, dependencies=[ADMINS])
def invite(
    project_id: str, wanted: WantedInvitation, request: Request, workspace: TheWorkspace, user: CurrentUser
) -> MadeInvitation:
    """Create a link that makes one person a member."""
    made = invitations.invite(workspace, project_id, wanted.role, wanted.days, by=user)
    url = str(request.url_for("open_invitation", token=made.token))
    if workspace.settings.secure_cookies:  # a proxy handles TLS; the server may not know
        url = url.replace("http://", "https://", 1)
    return MadeInvitation(**made.model_dump(exclude={"token"}), url=url)


@router.delete("/invitations/{invitation_id}", status_code=204, response_class=Response, dependencies=[ADMINS])
@while_archived
def withdraw(invitation_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Withdraw an invitation; its link stops working."""
    invitations.withdraw(workspace, invitation_id, by=user)


@router.get("/projects/{project_id}/audit", dependencies=[ADMINS], responses=pages())
def show_audit(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    before: Annotated[str | None, Query(description="Id of the last entry seen, instead of a cursor.")] = None,
    limit: Annotated[int, Query(ge=1, le=audit.MOST, description="Maximum number of entries on a page.")] = 100,
) -> list[AuditLine]:
    """Return a page of the audit trail of a project, newest first. A page has 500 entries at most."""
    return paging.send(audit.entries(workspace, project_id, before=before, limit=limit, cursor=paging.cursor))
