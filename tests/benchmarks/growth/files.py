"""Files of a grown project: each document and each page gets its own, where growing gives them a few in common."""

import os
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select, text

from db.tables import Document, Page
from engine.workspace import Workspace


def store_files(workspace: Workspace, project: str, *, document_bytes: int, page_bytes: int = 0) -> list[str]:
    """Store a file of random bytes for each document of a project, and one for each of its pages.

    Args:
        workspace: Open workspace.
        project: Id of the project.
        document_bytes: Size of a document's file.
        page_bytes: Size of a page's image, which no viewer can show; 0: pages keep the images that they have.

    Returns:
        Ids of the pages.
    """
    of_project = Document.project_id == project
    with workspace.database.read() as session:
        documents = session.scalars(select(Document.id).where(of_project)).all()
        pages = session.scalars(select(Page.id).join(Document, Document.id == Page.document_id).where(of_project)).all()
    with ThreadPoolExecutor(8) as pool:
        files = list(pool.map(lambda _: workspace.blobs.put(os.urandom(document_bytes)), documents))
        images = list(pool.map(lambda _: workspace.blobs.put(os.urandom(page_bytes)), pages if page_bytes else ()))
    with workspace.database.engine.begin() as connection:  # past the services, whose work is not measured
        for table, column, keys, hashes in (
            ("documents", "sha256", documents, files),
            ("pages", "image_sha256", pages, images),
        ):
            changed = [{"key": key, "sha": sha} for key, sha in zip(keys, hashes, strict=False)]
            if changed:
                connection.execute(text(f"UPDATE {table} SET {column} = :sha WHERE id = :key"), changed)
    return list(pages)
