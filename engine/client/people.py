"""The client's methods for people: accounts, members, invitations, users, the audit trail."""

from typing import Any

from engine.client.schemas import (
    AuditLine,
    Enrolment,
    ErasedPerson,
    InvitationView,
    Invited,
    MadeToken,
    Me,
    MemberView,
    Person,
    RecoveryCodes,
    SecondFactorView,
    SessionView,
    SpacesView,
    SpaceView,
    UserView,
)
from engine.client.transport import Connection

AUDIT_PAGE = 500  # entries of the audit trail that the server sends at once


class People:
    """Methods of engine.client.Glossator for people and their logins."""

    _at: Connection

    # --- your account

    def me(self) -> Person:
        """Return your user."""
        return self._at.get(Me, "/me").user

    def preferences(self) -> dict[str, Any]:
        """Return the preferences of your page: keys, colours."""
        return self._at.get(dict[str, Any], "/me/preferences")

    def set_preferences(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Replace all preferences of your page; at most 64 KB."""
        return self._at.put(dict[str, Any], "/me/preferences", wanted)

    def sessions(self) -> list[SessionView]:
        """Return your logins and tokens, newest first."""
        return self._at.all(SessionView, "/me/sessions")

    def end_session(self, session_id: str) -> None:
        """End one of your logins or tokens."""
        self._at.send("DELETE", f"/me/sessions/{session_id}", repeatable=False)

    def log_out_everywhere(self) -> None:
        """End all your logins in browsers. Tokens stay."""
        self._at.send("DELETE", "/me/sessions", repeatable=False)

    def make_token(self, purpose: str, scope: str = "annotate", days: int = 365) -> MadeToken:
        """Make a token for a program. It is shown this once; `end_session` ends it.

        purpose: shown in the list of logins.
        scope: "read", "annotate" or "admin".
        """
        body = {"purpose": purpose, "scope": scope, "days": days}
        return self._at.post(MadeToken, "/me/tokens", body, repeatable=False)

    def change_password(self, old: str, new: str) -> None:
        """Change your password, and end all your other logins."""
        self._at.send("PUT", "/me/password", json={"old": old, "new": new}, repeatable=False)

    def second_factor(self) -> SecondFactorView:
        """Return your second factor: since when, whether it is required, recovery codes left."""
        return self._at.get(SecondFactorView, "/me/second-factor")

    def begin_second_factor(self, password: str) -> Enrolment:
        """Make a secret for your app; `confirm_second_factor` takes its first code. For accounts with a password."""
        return self._at.post(Enrolment, "/me/second-factor", {"password": password}, repeatable=False)

    def confirm_second_factor(self, code: str) -> list[str]:
        """Switch your second factor on with a code of your app. Returns recovery codes, shown this once."""
        body = {"code": code}
        path = "/me/second-factor/confirmation"
        return self._at.post(RecoveryCodes, path, body, repeatable=False).recovery_codes

    def renew_recovery_codes(self, code: str) -> list[str]:
        """Replace your recovery codes, with a code of your app. Returns the new ones, shown this once."""
        body = {"code": code}
        path = "/me/second-factor/recovery-codes"
        return self._at.post(RecoveryCodes, path, body, repeatable=False).recovery_codes

    def remove_second_factor(self, code: str) -> None:
        """Remove your second factor, with a code of your app or a recovery code."""
        self._at.send("POST", "/me/second-factor/removal", json={"code": code}, repeatable=False)

    # --- members of a project, and invitations to it

    def members(self, project_id: str) -> list[MemberView]:
        """Return the members of a project by name."""
        return self._at.all(MemberView, f"/projects/{project_id}/members")

    def put_member(self, project_id: str, user_id: str, role: str) -> MemberView:
        """Make a user a member, or change a member's role (admins of the project)."""
        return self._at.put(MemberView, f"/projects/{project_id}/members/{user_id}", {"role": role})

    def remove_member(self, project_id: str, user_id: str) -> None:
        """End a membership: yours, or anybody's as an admin of the project."""
        self._at.send("DELETE", f"/projects/{project_id}/members/{user_id}", repeatable=False)

    def invite(self, project_id: str, role: str = "annotator", days: float = 7) -> Invited:
        """Make a link with which one person becomes a member (admins of the project). It is shown this once."""
        path = f"/projects/{project_id}/invitations"
        return self._at.post(Invited, path, {"role": role, "days": days}, repeatable=False)

    def invitations(self, project_id: str) -> list[InvitationView]:
        """Return the invitations to a project, newest first (its admins)."""
        return self._at.all(InvitationView, f"/projects/{project_id}/invitations")

    def withdraw(self, invitation_id: str) -> None:
        """Withdraw an invitation, so that its link no longer works (admins of the project)."""
        self._at.send("DELETE", f"/invitations/{invitation_id}")

    def audit(
        self, project_id: str | None = None, *, before: str | None = None, limit: int | None = 100
    ) -> list[AuditLine]:
        """Return the audit trail of a project (its admins), or of all of them (admins), newest first.

        before: id of the last entry that you saw; older entries follow.
        limit: maximum number; None: all of them.
        """
        path = "/audit" if project_id is None else f"/projects/{project_id}/audit"
        return self._at.all(AuditLine, path, limit, page=AUDIT_PAGE, before=before)

    # --- quotas

    def quota(self, project_id: str) -> SpacesView:
        """Return what a project holds and you have uploaded, beside the quotas."""
        return self._at.get(SpacesView, f"/projects/{project_id}/quota")

    def set_project_quota(
        self, project_id: str, *, documents: int | None = None, megabytes: int | None = None
    ) -> SpaceView:
        """Set the quota of a project; admins of the installation. None: as the settings say, 0: no limit."""
        body = {"documents": documents, "megabytes": megabytes}
        return self._at.put(SpaceView, f"/projects/{project_id}/quota", body)

    def user_quota(self, user_id: str) -> SpaceView:
        """Return what a person has uploaded, beside the quota; admins of the installation."""
        return self._at.get(SpaceView, f"/users/{user_id}/quota")

    def set_user_quota(self, user_id: str, *, documents: int | None = None, megabytes: int | None = None) -> SpaceView:
        """Set the quota of a person; admins of the installation. None: as the settings say, 0: no limit."""
        body = {"documents": documents, "megabytes": megabytes}
        return self._at.put(SpaceView, f"/users/{user_id}/quota", body)

    # --- users of the whole installation: admins

    def users(self) -> list[UserView]:
        """Return all users by name."""
        return self._at.all(UserView, "/users")

    def add_user(self, name: str, password: str, role: str = "annotator") -> UserView:
        """Add a user. An admin is one in every project; all other users get their role from each project."""
        body = {"name": name, "password": password, "role": role}
        return self._at.post(UserView, "/users", body, repeatable=False)

    def change_user(self, user_id: str, *, role: str | None = None, disabled: bool | None = None) -> UserView:
        """Change a user's role, or disable or enable the user. None: no change."""
        return self._at.patch(UserView, f"/users/{user_id}", {"role": role, "disabled": disabled})

    def erase_user(self, user_id: str) -> ErasedPerson:
        """Erase a person: a label stands wherever the name stood, and the work is kept. It cannot be undone."""
        return self._at.post(ErasedPerson, f"/users/{user_id}/erase", {})

    def set_password(self, user_id: str, new: str) -> None:
        """Set a user's password, and end all logins of the user."""
        self._at.send("PUT", f"/users/{user_id}/password", json={"new": new})

    def reset_second_factor(self, user_id: str) -> None:
        """Remove a user's second factor, and end all logins of the user."""
        self._at.send("DELETE", f"/users/{user_id}/second-factor", repeatable=False)

    def sessions_of(self, user_id: str) -> list[SessionView]:
        """Return the logins of a user."""
        return self._at.all(SessionView, f"/users/{user_id}/sessions")

    def end_sessions_of(self, user_id: str) -> None:
        """End all logins and tokens of a user."""
        self._at.send("DELETE", f"/users/{user_id}/sessions")
