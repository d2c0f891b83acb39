"""The Python client's part of people: oneself, members of projects, invitations, users, and the audit trail."""

from typing import Any

from engine.accounts.invitations import InvitationView
from engine.accounts.members import MemberView
from engine.accounts.sessions import SessionView
from engine.accounts.tokens import MadeToken
from engine.accounts.users import UserView
from engine.audit import AuditLine
from engine.client_types import Invited, Person
from engine.connection import Connection


class People:
    """What engine.client.Glossator can do with people."""

    _at: Connection

    # --- oneself

    def me(self) -> Person:
        """Return who one is."""
        return Person.model_validate(self._at.get(dict[str, Any], "/me")["user"])

    def preferences(self) -> dict[str, Any]:
        """Return what one's page remembers: keys, colours."""
        return self._at.get(dict[str, Any], "/me/preferences")

    def set_preferences(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Replace what one's page remembers, all of it; at most 64 KB."""
        return self._at.put(dict[str, Any], "/me/preferences", wanted)

    def sessions(self) -> list[SessionView]:
        """Return where one is logged in, newest first; tokens are among it."""
        return self._at.get(list[SessionView], "/me/sessions")

    def end_session(self, session_id: str) -> None:
        """Log oneself out in one place."""
        self._at.send("DELETE", f"/me/sessions/{session_id}", repeatable=False)

    def make_token(self, purpose: str, scope: str = "annotate", days: int = 365) -> MadeToken:
        """Make a token for a program (read, annotate or admin). It is told this once; `end_session` ends it."""
        body = {"purpose": purpose, "scope": scope, "days": days}
        return self._at.post(MadeToken, "/me/tokens", body, repeatable=False)

    def change_password(self, old: str, new: str) -> None:
        """Change one's password, and end all other sessions."""
        self._at.send("PUT", "/me/password", json={"old": old, "new": new}, repeatable=False)

    # --- members of a project, and invitations to it

    def members(self, project_id: str) -> list[MemberView]:
        """Return the members of a project by name."""
        return self._at.get(list[MemberView], f"/projects/{project_id}/members")

    def put_member(self, project_id: str, user_id: str, role: str) -> MemberView:
        """Make a user a member, or give a member another role (admins of the project)."""
        return self._at.put(MemberView, f"/projects/{project_id}/members/{user_id}", {"role": role})

    def remove_member(self, project_id: str, user_id: str) -> None:
        """End a membership: one's own, or anybody's as an admin of the project."""
        self._at.send("DELETE", f"/projects/{project_id}/members/{user_id}", repeatable=False)

    def invite(self, project_id: str, role: str = "annotator", days: float = 7) -> Invited:
        """Make a link with which one person becomes a member (admins of the project). It is told this once."""
        path = f"/projects/{project_id}/invitations"
        return self._at.post(Invited, path, {"role": role, "days": days}, repeatable=False)

    def invitations(self, project_id: str) -> list[InvitationView]:
        """Return the invitations to a project, newest first (its admins)."""
        return self._at.get(list[InvitationView], f"/projects/{project_id}/invitations")

    def withdraw(self, invitation_id: str) -> None:
        """Make an invitation's link worthless (admins of the project)."""
        self._at.send("DELETE", f"/invitations/{invitation_id}")

    def audit(self, project_id: str | None = None, *, before: str | None = None, limit: int = 100) -> list[AuditLine]:
        """Return who decided what in a project (its admins), or everywhere (admins), newest first.

        before: the id of the last entry seen, to go on from.
        """
        if project_id is None:
            return self._at.get(list[AuditLine], "/audit", before=before, limit=limit)
        return self._at.get(list[AuditLine], f"/projects/{project_id}/audit", before=before, limit=limit)

    # --- users of the whole installation: admins

    def users(self) -> list[UserView]:
        """Return all users by name."""
        return self._at.get(list[UserView], "/users")

    def add_user(self, name: str, password: str, role: str = "annotator") -> UserView:
        """Add a user. Anything but admin is what projects make of them."""
        body = {"name": name, "password": password, "role": role}
        return self._at.post(UserView, "/users", body, repeatable=False)

    def change_user(self, user_id: str, *, role: str | None = None, disabled: bool | None = None) -> UserView:
        """Change a user's role, or disable or enable them; what is None stays."""
        return self._at.patch(UserView, f"/users/{user_id}", {"role": role, "disabled": disabled})

    def set_password(self, user_id: str, new: str) -> None:
        """Give a user a new password, and log them out everywhere."""
        self._at.send("PUT", f"/users/{user_id}/password", json={"new": new})

    def sessions_of(self, user_id: str) -> list[SessionView]:
        """Return where a user is logged in."""
        return self._at.get(list[SessionView], f"/users/{user_id}/sessions")

    def end_sessions_of(self, user_id: str) -> None:
        """Log a user out everywhere; ends their tokens too."""
        self._at.send("DELETE", f"/users/{user_id}/sessions")
