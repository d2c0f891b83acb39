"""Things by the names that people type: a document of a project, a page by its number, who is acting."""

from sqlalchemy import or_, select

from db.tables import Document, User
from db.tables.people import Role
from engine.accounts import permissions
from engine.accounts.users import ensure_local_user, user_named
from engine.commands.common import fail
from engine.documents.views import PageLine, document_view
from engine.errors import Forbidden
from engine.workspace import Workspace


def document_called(workspace: Workspace, project_id: str, name: str) -> Document:
    """Return a document by its name or id. Ends the command with a sentence when there is none, or more than one."""
    with workspace.database.read() as session:
        found = session.scalars(
            select(Document).where(Document.project_id == project_id, or_(Document.id == name, Document.name == name))
        ).all()
    if not found:
        fail(f"The project has no document {name!r}; glossator documents list names them, glossator ingest adds one.")
    if len(found) > 1:
        fail(f"{len(found)} documents are called {name!r}; name one by its id: {', '.join(d.id for d in found)}")
    return found[0]


def page_numbered(workspace: Workspace, document_id: str, number: int) -> PageLine:
    """Return a page of a document by its number, from 1. Ends the command with a sentence when there is none."""
    pages = document_view(workspace, document_id).pages
    page = next((each for each in pages if each.number == number), None)
    if page is None:
        fail(f"The document has no page {number}; its pages are 1 to {len(pages)}.")
    return page


def acting(workspace: Workspace, name: str | None, what: str, key: str, needed: Role = "annotator") -> User:
    """Return the user `name`, else the one of local mode, as who a command acts on `what` ("annotation_id") with the id `key`.

    They must be allowed to: Forbidden for who is disabled, no member of the project, or less than `needed` there, as over REST.
    """
    local = ensure_local_user(workspace)
    user = user_named(workspace, name) if name else local
    if user.disabled_at is not None:
        raise Forbidden(f"{user.name} is disabled; glossator users enable comes first.")
    with workspace.database.read() as session:
        project_id = permissions.project_of(session, what, key)
        if permissions.role_in(session, user, project_id) is None:
            raise Forbidden(f"{user.name} is no member of the project; glossator projects members add comes first.")
        permissions.check(session, user, {"project_id": project_id}, needed)
    return user
