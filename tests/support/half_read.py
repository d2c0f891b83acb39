"""Documents whose pages are coming in, or were left half read."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, select

from db.base import now
from db.tables import Document, Job, Page, PageWord
from engine.documents.incoming import take
from engine.documents.lists.views import document_view
from engine.documents.reading import read_jobs
from engine.projects.projects import create_project
from engine.workspace import Workspace
from tests.engine.documents.test_ingest import pdf
from tests.support.waiting import wait_until


def whole(workspace: Workspace, document_id: str) -> None:
    """Wait until nobody reads the document any more."""
    wait_until(lambda: document_view(workspace, document_id).reading is None)


def content(workspace: Workspace, document_id: str) -> list[tuple[int, str, int]]:
    """Number, picture and words of each page."""
    with workspace.database.read() as session:
        return [
            (
                page.number,
                page.image_sha256,
                session.scalar(select(func.count()).where(PageWord.page_id == page.id)) or 0,
            )
            for page in session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number))
        ]


def half_read(workspace: Workspace, document_id: str, pages: int, there: int = 2, failure: str = "") -> Job:
    """Leave a document as somebody does who stopped reading after `there` of `pages` pages."""
    with workspace.database.write() as session:
        for page in session.scalars(select(Page).where(Page.document_id == document_id, Page.number > there)):
            for word in session.scalars(select(PageWord).where(PageWord.page_id == page.id)):
                session.delete(word)
            session.flush()
            session.delete(page)
        job = read_jobs.request(session, session.get_one(Document, document_id), pages)
        job.failure = failure
        if failure:
            job.run_after = now() + timedelta(hours=1)
        return job


def stored(workspace: Workspace, tmp_path: Path, pages: int = 6) -> tuple[Path, str, str]:
    """A file, the project that has all of it, and its document."""
    project = create_project(workspace, "p")
    source = pdf(tmp_path / "long.pdf", "Invoice number", pages=pages)
    return source, project.id, take(workspace, source, name="long.pdf", project_id=project.id, user_id=None).document_id
