"""Lookups by names on the command line: document, page and acting user."""

from sqlalchemy import or_, select

from db.tables import Document, Project, User
from db.tables.people import Role
from engine.accounts import permissions
from engine.accounts.users import ensure_local_user, user_named
from engine.commands.common import fail
from engine.documents.lists.views import PageLine, document_view
from engine.errors import Archived, Forbidden
from engine.projects.projects import project_named
from engine.workspace import Workspace


def document_called(workspace: Workspace, project_id: str, name: str) -> Document:
    """Return a document by its name or id; ends the command unless there is exactly one.

    Args:
        workspace: open workspace.
        project_id: project of the document.
        name: name or id.
    """
    with workspace.database.read() as session:
        documents = session.scalars(
            select(Document).where(Document.project_id == project_id, or_(Document.id == name, Document.name == name))
        ).all()
    if not documents:
        fail(f"The project has no document {name!r}. List its documents: glossator documents list --project PROJECT")
    if len(documents) > 1:
        fail(f"{len(documents)} documents are named {name!r}. Use an id instead: {', '.join(d.id for d in documents)}")
    return documents[0]


def page_numbered(workspace: Workspace, document_id: str, number: int) -> PageLine:
    """Return a page of a document by its number, from 1; ends the command when there is none."""
    pages = document_view(workspace, document_id).pages
    page = next((line for line in pages if line.number == number), None)
    if page is None:
        fail(f"The document has no page {number}. Choose 1 to {len(pages)}.")
    return page


def project_to_change(workspace: Workspace, name: str) -> Project:
    """Return a project by name. Raises NotFound, and Archived."""
    project = project_named(workspace, name)
    if project.archived_at is not None:
        raise Archived
    return project


def acting(
    workspace: Workspace, name: str | None, what: str, key: str, needed: Role = "annotator", *, changes: bool = True
) -> User:
    """Return the user as whom a command acts, after the same checks as over REST.

    Args:
        workspace: open workspace.
        name: name of the user; None: the local user.
        what: kind of id, as "annotation_id".
        key: the id.
        needed: least role in its project.
        changes: whether the command changes something.

    Raises:
        Forbidden: the user is disabled, not a member of the project, or has a lower role; or the project is archived.
    """
    local = ensure_local_user(workspace)
    user = user_named(workspace, name) if name else local
    if user.disabled_at is not None:
        raise Forbidden(f"{user.name} is disabled. Run glossator users enable first.")
    with workspace.database.read() as session:
        project_id = permissions.project_of(session, what, key)
        if permissions.role_in(session, user, project_id) is None:
            raise Forbidden(f"{user.name} is not a member of the project. Run glossator projects members add first.")
        permissions.check(session, user, {"project_id": project_id}, needed, changes=changes)
    return user
