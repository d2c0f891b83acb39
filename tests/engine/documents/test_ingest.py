"""From a file to a document: once, whole, or one sentence."""

import threading
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from sqlalchemy import func, select

from db.tables import Document, DocumentGroup, Page, PageWord
from engine.documents import ingest as ingest_module
from engine.documents.ingest import ingest
from engine.documents.reading.open import read_document
from engine.documents.refusal import DocumentRefused
from engine.errors import NotFound, Refused
from engine.projects.projects import create_project
from engine.workspace import Workspace


def pdf(path: Path, *lines: str, pages: int = 1) -> Path:
    document = pymupdf.open()
    for number in range(pages):
        page = document.new_page()
        for at, line in enumerate(lines):
            page.insert_text((72, 72 + 20 * at), f"{line} {number + 1}" if pages > 1 else line)
    document.save(path)
    return path


def files(workspace: Workspace) -> set[Path]:
    return {path for path in workspace.blobs.folder.rglob("*") if path.is_file()}


def test_a_pdf_becomes_pages_with_words_in_order(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    done = ingest(
        workspace,
        pdf(tmp_path / "a.pdf", "Invoice number 77", "Total 12.50", pages=2),
        name="a.pdf",
        project_id=project.id,
        user_id=None,
    )
    assert (done.created, done.pages, done.words) == (True, 2, 14)
    with workspace.database.read() as session:
        pages = session.scalars(select(Page).order_by(Page.number)).all()
        words = session.scalars(
            select(PageWord).where(PageWord.page_id == pages[1].id).order_by(PageWord.position)
        ).all()
    assert [word.text for word in words] == ["Invoice", "number", "77", "2", "Total", "12.50", "2"]
    assert all(0 <= word.x0 < word.x1 <= pages[1].width and 0 <= word.y0 < word.y1 <= pages[1].height for word in words)
    assert all(page.image_sha256 in workspace.blobs for page in pages)


def test_the_same_file_twice_is_one_document(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    path = pdf(tmp_path / "a.pdf", "Hello")
    first = ingest(workspace, path, name="a.pdf", project_id=project.id, user_id=None)
    second = ingest(workspace, path, name="another name.pdf", project_id=project.id, user_id=None)
    assert second.document_id == first.document_id and not second.created
    with workspace.database.read() as session:
        assert session.scalar(select(func.count(Document.id))) == 1
        assert session.scalar(select(func.count(DocumentGroup.id))) == 1


def test_the_same_file_from_many_at_once_is_one_document(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    path = pdf(tmp_path / "a.pdf", "Hello")
    results, failures = [], []

    def upload() -> None:
        try:
            results.append(ingest(workspace, path, name="a.pdf", project_id=project.id, user_id=None))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=upload) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({done.document_id for done in results}) == 1
    assert sum(done.created for done in results) == 1


def test_different_files_at_once_get_different_places_in_the_split(workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(workspace, "p")
    paths = [pdf(tmp_path / f"{number}.pdf", f"Number {number}") for number in range(4)]
    failures = []

    def upload(path: Path) -> None:
        try:
            ingest(workspace, path, name=path.name, project_id=project.id, user_id=None)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=upload, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with workspace.database.read() as session:
        assert sorted(session.scalars(select(DocumentGroup.sequence))) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.pdf", b"", "empty"),
        ("broken.pdf", b"%PDF-1.7\nthis is not one", "broken"),
        ("notes.docx", b"PK\x03\x04 and so on", "not_supported"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "broken"),
    ],
)
def test_a_bad_file_gets_one_sentence_and_leaves_nothing(
    sqlite_workspace: Workspace, tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    project = create_project(sqlite_workspace, "p")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DocumentRefused) as refused:
        ingest(sqlite_workspace, path, name=name, project_id=project.id, user_id=None)
    sentence = str(refused.value)
    assert refused.value.reason == reason
    assert name in sentence and sentence.endswith(".") and "\n" not in sentence
    with sqlite_workspace.database.read() as session:
        assert session.scalar(select(Document)) is None and session.scalar(select(DocumentGroup)) is None
    assert files(sqlite_workspace) == set()


def test_an_encrypted_pdf_is_refused_as_such(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page()
    path = tmp_path / "secret.pdf"
    document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    project = create_project(sqlite_workspace, "p")
    with pytest.raises(DocumentRefused, match="password"):
        ingest(sqlite_workspace, path, name="secret.pdf", project_id=project.id, user_id=None)


def test_an_unknown_project_takes_no_document(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        ingest(workspace, pdf(tmp_path / "a.pdf", "Hello"), name="a.pdf", project_id="0" * 32, user_id=None)
    with workspace.database.read() as session:
        assert session.scalar(select(Document)) is None


def test_a_very_long_name_keeps_its_ending(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project = create_project(sqlite_workspace, "p")
    done = ingest(
        sqlite_workspace,
        pdf(tmp_path / "a.pdf", "Hello"),
        name="n" * 400 + "\0.pdf",
        project_id=project.id,
        user_id=None,
    )
    assert len(done.name) <= 255 and done.name.endswith(".pdf") and "\0" not in done.name


def test_a_file_that_changes_while_it_is_read_is_refused(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the original would not be what the pages show, and could never come in again."""
    project = create_project(workspace, "p")
    source, other = pdf(tmp_path / "scan.pdf", "Invoice 1"), pdf(tmp_path / "other.pdf", "Something else")
    read = read_document

    def then_replaced(*given: Any, **named: Any) -> Any:
        found = read(*given, **named)
        source.write_bytes(other.read_bytes())
        return found

    with monkeypatch.context() as patched:
        patched.setattr(ingest_module, "read_document", then_replaced)
        with pytest.raises(Refused, match="changed while it was read"):
            ingest(workspace, source, name="scan.pdf", project_id=project.id, user_id=None)
    assert ingest(workspace, source, name="scan.pdf", project_id=project.id, user_id=None).created
