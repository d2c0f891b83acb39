"""Pages of a project's list of documents: each document once, searched and sorted by the database."""

import unicodedata
from typing import Any

import pytest
from sqlalchemy import event

from db import migrate
from db.tables import Document
from engine.documents.lists.listing import DocumentPage, Sort, document_lines, document_page
from engine.documents.lists.totals import DocumentTotals, document_totals
from engine.errors import Refused
from engine.workspace import Workspace
from tests.support.annotators import answer
from tests.support.factories import bill, make_document, make_project
from tests.support.office import Office

pytestmark = pytest.mark.usefixtures("figures_at_once")


def _named(workspace: Workspace, *names: str) -> str:
    project = make_project(workspace).id
    for at, name in enumerate(names):
        make_document(workspace, project, [bill(at)], name=name)
    return project


def _found(workspace: Workspace, project: str, query: str) -> list[str]:
    page = document_page(workspace, project, query=query)
    assert page.total == len(page.lines)
    return [line.name for line in page.lines]


@pytest.mark.parametrize("sort", ["-created", "name"])
def test_pages_hold_each_document_once_while_others_arrive(workspace: Workspace, sort: Sort) -> None:
    names = ["b.pdf", "C.pdf", "a.pdf", "b.pdf", "d.pdf"]
    project = _named(workspace, *names)
    make_document(workspace, make_project(workspace, "another").id, [bill(9)])
    before = [line.id for line in document_lines(workspace, project)]
    seen: list[str] = []
    cursor = None
    for number in range(9):
        page: DocumentPage = document_page(workspace, project, sort=sort, limit=2, cursor=cursor)
        seen += [line.id for line in page.lines]
        cursor = page.next
        if cursor is None:
            break
        make_document(workspace, project, [bill(20 + number)], name="A.pdf")  # in front of the cursor, both ways
    assert len(seen) == len(set(seen)) and set(seen) == set(before)
    if sort == "-created":
        assert seen == before
    else:
        called = {line.id: line.name for line in document_lines(workspace, project)}
        assert [called[key].lower() for key in seen] == ["a.pdf", "b.pdf", "b.pdf", "c.pdf", "d.pdf"]


def test_the_last_page_has_no_cursor(workspace: Workspace) -> None:
    project = _named(workspace, "a.pdf", "b.pdf")
    assert document_page(workspace, project, limit=2).next is None
    first = document_page(workspace, project, limit=1)
    last = document_page(workspace, project, limit=1, cursor=first.next)
    assert [first.total, last.total, last.next] == [2, 2, None]


@pytest.mark.parametrize("cursor", ["x", "é", "WyJuYW1lIl0", "WyItY3JlYXRlZCIsIDFd", "W10", "bnVsbA"])
def test_a_cursor_of_another_list_is_refused(sqlite_workspace: Workspace, cursor: str) -> None:
    project = _named(sqlite_workspace, "a.pdf")
    with pytest.raises(Refused, match="another list"):
        document_page(sqlite_workspace, project, cursor=cursor)


def test_a_search_finds_parts_of_names_in_any_case(workspace: Workspace) -> None:
    decomposed = unicodedata.normalize("NFD", "Müller Straße 7.pdf")
    project = _named(workspace, "Invoice 100_a.pdf", "invoice 2.pdf", decomposed)
    assert _found(workspace, project, "VOICE") == ["invoice 2.pdf", "Invoice 100_a.pdf"]
    assert _found(workspace, project, "100 invoice") == ["Invoice 100_a.pdf"]
    assert _found(workspace, project, "0_a") == ["Invoice 100_a.pdf"]
    assert _found(workspace, project, "MÜLLER STRASSE") == [decomposed]
    assert len(_found(workspace, project, "  ")) == 3
    assert (
        _found(workspace, project, "%") == _found(workspace, project, "_b") == _found(workspace, project, "\0x") == []
    )


def test_a_page_of_the_list_never_reads_all_documents(sqlite_workspace: Workspace) -> None:
    """SQLite tells how it finds rows: through an index that holds the order, and all that is compared."""
    project = _named(sqlite_workspace, "a.pdf", "b.pdf")
    steps: list[str] = []

    def explain(connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            plan = connection.connection.dbapi_connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            steps.extend(step for *_, step in plan if "documents" in step or "TEMP B-TREE" in step)

    event.listen(sqlite_workspace.database.engine, "before_cursor_execute", explain)
    for sort in ("-created", "name"):
        steps.clear()
        document_page(sqlite_workspace, project, sort=sort, limit=1)
        assert "COVERING INDEX" in steps[0], steps
    assert not [step for step in steps if step.startswith("SCAN documents")]


def test_names_of_documents_that_were_there_before_are_found(workspace: Workspace) -> None:
    project = _named(workspace, "Größe.pdf", "other.pdf")
    migrate.downgrade(workspace.database, "0009")
    migrate.upgrade(workspace.database)
    assert _found(workspace, project, "GRÖSSE") == ["Größe.pdf"]
    assert migrate.differences(workspace.database) == []
    with workspace.database.read() as session:
        keys = {document.name: document.name_key for document in session.query(Document)}
    assert keys == {"Größe.pdf": "grösse.pdf", "other.pdf": "other.pdf"}


def test_totals_are_the_sums_of_the_lines(workspace: Workspace) -> None:
    office = Office(workspace, bills=3)
    for task in office.tasks()[:2]:
        answer(workspace, task.id, office.ben)
    make_document(workspace, make_project(workspace, "another").id, [bill(9)])
    for viewer in (None, office.ann.id, office.ben.id):
        lines = document_lines(workspace, office.project.id, viewer)
        sums = (sum(getattr(line, name) for line in lines) for name in ("pages", "questions", "accepted"))
        assert document_totals(workspace, office.project.id, viewer) == DocumentTotals(3, *sums)
    assert document_totals(workspace, make_project(workspace, "empty").id) == DocumentTotals(0, 0, 0, 0)
