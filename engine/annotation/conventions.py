"""Conventions that people pick for ambiguous values: remembered for a project or for one issuer, and forgotten.

An annotator adds conventions, and changes those that they picked; those of other people are changed by reviewers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import AuditEntry, Document, User
from engine.accounts.permissions import role_in
from engine.accounts.visibility import sees_all
from engine.annotation.issuers import load_issuers
from engine.errors import Forbidden, NotFound, Refused
from engine.fields.read_value import issuer_name
from engine.projects.project_settings import ProjectSettings, settings_of
from engine.projects.projects import lock_project, store_settings
from engine.queries import existing
from engine.tasks.opening import task_changes
from engine.text import quote_file_name
from engine.workspace import Workspace

_LOOKED_AT = 1000  # newest changes of settings that are searched for the one who picked a convention
_Pairs = dict[str, str]


@dataclass(frozen=True, slots=True)
class Remembered:
    """Conventions of a project, and of its issuers by their names."""

    conventions: Mapping[str, str]
    issuers: Mapping[str, Mapping[str, str]]


def remember_convention(
    workspace: Workspace,
    project_id: str,
    convention: Mapping[str, str | None],
    by: str,
    *,
    document_id: str | None = None,
    issuer: str | None = None,
) -> Remembered:
    """Remember how papers print values, as a person picked it (engine.fields.normalisation.context). Audited.

    Args:
        workspace: Open workspace.
        project_id: Project.
        convention: Values by convention; None forgets one.
        by: Acting user's id.
        document_id: Remember it for the issuer of this document, not for the project.
        issuer: Remember it for the issuer of this name.

    Returns:
        All conventions after the change.

    Raises:
        Refused: There are too many conventions, one is invalid, or the document's issuer is not known.
        Forbidden: The user is an annotator, and another person picked the convention.
        NotFound: There is no such project or document.
    """
    with workspace.database.write() as session:
        project = lock_project(session, project_id)
        settings = settings_of(project)
        if document_id is not None:
            issuer = _issuer_of(session, document_id, by)
            if issuer is None:
                raise Refused("Nobody has accepted the issuer of this document yet. Accept it first.")
            if session.get_one(Document, document_id).project_id != project_id:
                raise NotFound("There is no such document.")
        known = _known_issuer(settings, issuer) if issuer is not None else None
        present = settings.conventions if known is None else settings.issuer_conventions.get(known, {})
        _check_author(session, project_id, by, known, present, convention)
        after = {name: value for name, value in {**present, **convention}.items() if value is not None}
        if known is None:
            changes: dict[str, object] = {"conventions": after}
        else:
            others = {name: pairs for name, pairs in settings.issuer_conventions.items() if name != known}
            changes = {"issuer_conventions": {**others, known: after} if after else others}
        chosen, changed = store_settings(session, project, changes, by)
        goes_on = bool(changed) and task_changes.ask(session, project, task_changes.VALUES, by)
    if goes_on:
        task_changes.follow_now(workspace, project_id)
    return Remembered(chosen.conventions, chosen.issuer_conventions)


def issuer_of_document(workspace: Workspace, document_id: str, viewer_id: str) -> str | None:
    """Return the issuer of a document; None until a person has accepted it, and while that is hidden from the viewer.

    Raises NotFound.
    """
    with workspace.database.read() as session:
        return _issuer_of(session, document_id, viewer_id)


def _issuer_of(session: Session, document_id: str, viewer_id: str) -> str | None:
    project_id = existing(session, Document, document_id).project_id
    hidden_from = None if sees_all(session, project_id, viewer_id) else viewer_id
    return load_issuers(session, [document_id], hidden_from).get(document_id)


def _known_issuer(settings: ProjectSettings, issuer: str) -> str:
    """Return the name under which an issuer is listed; a new one is listed as it is printed."""
    wanted = issuer_name(issuer)
    return next((name for name in settings.issuer_conventions if name.casefold() == wanted.casefold()), wanted)


def _check_author(
    session: Session,
    project_id: str,
    by: str,
    issuer: str | None,
    present: Mapping[str, str],
    convention: Mapping[str, str | None],
) -> None:
    """Raise Forbidden where an annotator changes a convention that another person picked."""
    changed = [name for name, value in convention.items() if name in present and present[name] != value]
    user = session.get_one(User, by)
    if not changed or role_in(session, user, project_id) != "annotator":
        return
    authors = dict(_authors(session, project_id, issuer))
    for name in changed:
        if authors.get(name) != by:
            raise Forbidden(
                f"Another person picked the convention {quote_file_name(name)}. A reviewer or an admin can change it."
            )


def _authors(session: Session, project_id: str, issuer: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield the conventions with the user who set each, the oldest change first."""
    entries = session.execute(
        select(AuditEntry.actor_id, AuditEntry.details)
        .where(AuditEntry.project_id == project_id, AuditEntry.action == "settings.change")
        .order_by(AuditEntry.created_at.desc(), AuditEntry.id.desc())
        .limit(_LOOKED_AT)
    ).all()
    for actor, details in reversed(entries):
        before, after = details["changes"].get("conventions" if issuer is None else "issuer_conventions", ({}, {}))
        if issuer is not None:
            before, after = before.get(issuer, {}), after.get(issuer, {})
        yield from ((name, actor) for name, value in after.items() if before.get(name) != value)
