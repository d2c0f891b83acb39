"""Sample documents for a first start, typeset from HTML."""

import io
import tempfile
from importlib.resources import files
from pathlib import Path

import pymupdf
from sqlalchemy import select

from db.tables import Document
from engine.accounts.users import ensure_local_user
from engine.documents.ingest import ingest
from engine.projects.projects import DEFAULT_NAME, ensure_project
from engine.workspace import Workspace

SAMPLES = {
    "letter": "Letter of the water works.pdf",
    "registration": "Registration form.pdf",
    "invoice": "Invoice HV-20418.pdf",
}
A4 = pymupdf.paper_rect("a4")
MARGINS = (54, 54, -54, -54)  # points


def add_samples(workspace: Workspace) -> int:
    """Add the samples to the default project if it is empty, and return their number."""
    user = ensure_local_user(workspace)
    with workspace.database.write() as session:
        project_id = ensure_project(session, DEFAULT_NAME, workspace.settings, user.id).id
        if session.scalar(select(Document.id).where(Document.project_id == project_id).limit(1)) is not None:
            return 0
    with tempfile.TemporaryDirectory(prefix="glossator-samples-") as folder:
        for stem, name in SAMPLES.items():
            path = Path(folder) / name
            path.write_bytes(typeset(stem))
            ingest(
                workspace, path, name=name, project_id=project_id, user_id=user.id, origin="sample", licence="CC0-1.0"
            )
    return len(SAMPLES)


def typeset(stem: str) -> bytes:
    """Return a sample as PDF on A4.

    The same text gives the same bytes, so a second start adds no duplicate.
    """
    story = pymupdf.Story((files("engine.samples") / f"{stem}.html").read_text(encoding="utf-8"))
    content = io.BytesIO()
    writer = pymupdf.DocumentWriter(content)
    more = 1
    while more:
        device = writer.begin_page(A4)
        more, _ = story.place(A4 + MARGINS)
        story.draw(device)
        writer.end_page()
    writer.close()
    return content.getvalue()
