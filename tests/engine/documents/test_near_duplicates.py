"""A page that comes in again joins the group, and so the split, of the first one, in any scan and order."""

import json
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import delete, select
from typer.testing import CliRunner

from db.tables import Document, DocumentGroup, Job, Page, PageSignature, PageWord, Project, SignatureBand
from engine.cli import app
from engine.datasets import snapshots
from engine.documents.duplicates.signature_backfill import find_unsigned, sign
from engine.documents.incoming import take_early
from engine.documents.ingest import ingest
from engine.documents.lists.listing import document_lines
from engine.documents.lists.views import document_view
from engine.documents.reading import read_jobs
from engine.documents.reading.reading_state import READ
from engine.errors import Refused
from engine.jobs.in_process_worker import InProcessWorker
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import erasing
from engine.workspace import Workspace
from tests.support.factories import accept
from tests.support.made_documents import text_pdf
from tests.support.stored_pages import Paper, filled_anew, group_of, paper, read_on, scanned_again, store


def of_both_kinds(workspace: Workspace, project: Project) -> tuple[Document, Document, Paper, Paper]:
    """A document that trains and one that judges, with their pages."""
    found: dict[bool, tuple[Document, Paper]] = {}
    for number in range(10):  # ten groups hold all splits
        page = paper(number)
        document = store(workspace, project.id, [page], f"paper {number}.png")
        found.setdefault(group_of(workspace, document.id).split == "train", (document, page))
        if len(found) == 2:
            break
    (trains, first), (judges, second) = found[True], found[False]
    return trains, judges, first, second


def test_a_rescan_joins_the_group_of_the_page_and_the_list_says_so(workspace: Workspace, project: Project) -> None:
    first = store(workspace, project.id, [paper(0)], "first.png")
    again = store(workspace, project.id, [scanned_again(paper(0))], "again.png")
    other = store(workspace, project.id, [paper(1)], "other.png")
    assert again.group_id == first.group_id != other.group_id
    assert {line.name: line.same_as for line in document_lines(workspace, project.id)} == {
        "first.png": None,
        "again.png": "first.png",
        "other.png": None,
    }


def test_the_same_form_with_other_values_is_no_duplicate(workspace: Workspace, project: Project) -> None:
    first = store(workspace, project.id, [paper(2)])
    assert store(workspace, project.id, [filled_anew(2)]).group_id != first.group_id


def test_a_duplicate_is_known_in_its_own_project_alone(workspace: Workspace, project: Project) -> None:
    with workspace.database.write() as session:
        other = Project(name="another", settings=project.settings)
        session.add(other)
    first = store(workspace, project.id, [paper(0)])
    assert store(workspace, other.id, [scanned_again(paper(0))]).group_id != first.group_id


def test_a_document_joining_groups_of_different_splits_is_quarantined(workspace: Workspace, project: Project) -> None:
    trains, judges, first, second = of_both_kinds(workspace, project)
    before = {document.id: group_of(workspace, document.id) for document in (trains, judges)}
    joining = store(workspace, project.id, [scanned_again(first), scanned_again(second)], "both.png")
    for document in (trains, judges, joining):
        accept(workspace, document, "What is on it?", [0])
    group = group_of(workspace, joining.id)
    assert group.quarantined_at is not None
    assert group.id not in {one.id for one in before.values()}
    for document in (trains, judges):
        after = group_of(workspace, document.id)
        assert (after.id, after.split, after.quarantined_at) == (
            before[document.id].id,
            before[document.id].split,
            None,
        )
    frozen = {item.document.id for item in snapshots.load(workspace, snapshots.freeze(workspace, project.id))}
    assert frozen == {trains.id, judges.id}
    line = next(line for line in document_lines(workspace, project.id) if line.id == joining.id)
    assert line.quarantined
    assert line.warnings == [
        f"It shows the same page as {trains.name}, a training document, and as {judges.name}, a holdout document. "
        "It is excluded from training and evaluation."
    ]
    third = store(workspace, project.id, [scanned_again(first, 3), scanned_again(second, 3)], "both again.png")
    assert third.group_id != trains.group_id and group_of(workspace, third.id).quarantined_at is not None


def test_the_reason_of_a_quarantine_names_no_deleted_document(workspace: Workspace, project: Project) -> None:
    trains, judges, first, second = of_both_kinds(workspace, project)
    joining = store(workspace, project.id, [scanned_again(first), scanned_again(second)], "both.png")

    def reason_without(document: Document) -> list[str]:
        lifecycle.remove(workspace, project.id, [document.id], None)
        erasing.mark(workspace, project.id, [document.id], None)
        assert erasing.erase_marked(workspace) == 1
        return document_view(workspace, joining.id).warnings

    excluded = "It is excluded from training and evaluation."
    assert reason_without(judges) == [f"It shows the same page as {trains.name}, a training document. {excluded}"]
    assert reason_without(trains) == [f"It shows the same page as a document that was deleted. {excluded}"]


def test_a_document_that_may_have_trained_never_moves_to_where_it_would_judge(
    workspace: Workspace, project: Project
) -> None:
    """As one does whose reading was stopped, and resumed after a snapshot held it."""
    trains, judges, _, second = of_both_kinds(workspace, project)
    before = group_of(workspace, trains.id)
    read_on(workspace, trains.id, [scanned_again(second)], may_move=False)
    after = group_of(workspace, trains.id)
    assert (after.id, after.split) == (before.id, before.split) and after.quarantined_at is not None
    assert document_view(workspace, trains.id).warnings == [
        f"It shows the same page as {judges.name}, a holdout document. It is excluded from training and evaluation."
    ]


def test_two_uploads_of_the_same_page_at_once_share_a_group(workspace: Workspace, project: Project) -> None:
    pages = [paper(3), *(scanned_again(paper(3), chance) for chance in range(5))]
    failures: list[BaseException] = []
    together = threading.Barrier(len(pages))

    def upload(number: int) -> None:
        try:
            together.wait()
            store(workspace, project.id, [pages[number]], f"{number}.png")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(len(pages))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with workspace.database.read() as session:
        assert len(set(session.scalars(select(Document.group_id)))) == 1
        assert len(session.scalars(select(DocumentGroup)).all()) == 1


def test_a_file_that_was_deleted_comes_back_into_its_group(workspace: Workspace, project: Project) -> None:
    first = store(workspace, project.id, [paper(4)])
    forget(workspace, first)
    again = store(workspace, project.id, [paper(4)])
    rescan = store(workspace, project.id, [scanned_again(paper(4))], "rescan.png")
    assert again.id != first.id
    assert again.group_id == rescan.group_id == first.group_id


def test_no_snapshot_takes_a_document_whose_pages_are_still_coming_in(workspace: Workspace, project: Project) -> None:
    document = store(workspace, project.id, [paper(0)])
    accept(workspace, document, "What is on it?", [0])
    with workspace.database.write() as session:
        read_jobs.request(session, session.get_one(Document, document.id), 3)
    with pytest.raises(Refused, match="no accepted answer"):
        snapshots.freeze(workspace, project.id)
    with workspace.database.write() as session:
        session.execute(delete(Job))
    assert snapshots.freeze(workspace, project.id).counts["documents"] == 1


LINES = [
    [f"{word} {number * 37 + row * 11 + 100} {word[::-1]} {kind}" for row, word in enumerate(words.split())]
    for number, (kind, words) in enumerate(
        {
            "harbour": "anchor buoy captain deck engine fender galley hull",
            "garden": "acorn birch clover daisy elder fern grass hazel",
            "kitchen": "apron bowl colander dish egg fork grater hob",
            "school": "algebra blackboard chalk desk exam figure grammar homework",
        }.items()
    )
]


def test_a_long_document_moves_to_where_its_later_pages_belong(
    workspace: Workspace, project: Project, tmp_path: Path
) -> None:
    there = ingest(
        workspace, text_pdf(tmp_path / "a.pdf", LINES[:1]), name="a.pdf", project_id=project.id, user_id=None
    )
    source = text_pdf(tmp_path / "b.pdf", [LINES[1], LINES[2], LINES[3], LINES[0]])
    worker = InProcessWorker(workspace, {READ: read_jobs.read_further_pages}, at_once=1)
    taken = take_early(workspace, source, name="b.pdf", project_id=project.id, user_id=None, worker=worker)
    end = time.monotonic() + 60
    while document_view(workspace, taken.document_id).reading is not None:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert document_view(workspace, taken.document_id).pages[-1].number == 4
    assert group_of(workspace, taken.document_id).id == group_of(workspace, there.document_id).id
    with workspace.database.read() as session:
        groups = set(session.scalars(select(PageSignature.group_id)))
    assert groups == {group_of(workspace, there.document_id).id}, "what is remembered of its pages moved along"


def test_documents_of_earlier_versions_are_signed_and_none_changes_its_split(
    workspace: Workspace, project: Project
) -> None:
    trains, judges, first, second = of_both_kinds(workspace, project)
    with workspace.database.write() as session:  # as an earlier version left it: the rescans have groups of their own
        session.execute(delete(SignatureBand))
        session.execute(delete(PageSignature))
    rescan = store(workspace, project.id, [scanned_again(second)], "rescan.png")
    with workspace.database.write() as session:
        session.execute(delete(SignatureBand))
        session.execute(delete(PageSignature))
        session.get_one(DocumentGroup, rescan.group_id).split = "train"
    splits = {name: group_of(workspace, one.id).split for name, one in (("t", trains), ("j", judges), ("r", rescan))}
    waiting = len(find_unsigned(workspace))
    done = sign(workspace)
    assert (done.documents, done.quarantined) == (waiting, [judges.name])
    assert find_unsigned(workspace) == []
    assert sign(workspace).documents == 0
    assert {
        name: group_of(workspace, one.id).split for name, one in (("t", trains), ("j", judges), ("r", rescan))
    } == splits
    assert group_of(workspace, judges.id).quarantined_at is not None, "a model may have learned from its rescan"
    assert group_of(workspace, rescan.id).quarantined_at is None
    line = next(line for line in document_lines(workspace, project.id) if line.id == judges.id)
    assert line.warnings == [
        "It shows the same page as rescan.png, a training document. It is excluded from training and evaluation."
    ]
    again = store(workspace, project.id, [scanned_again(first)], "first again.png")
    assert again.group_id == trains.group_id


def test_commands_sign_what_is_unsigned_and_list_what_is_the_same(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(workspace.settings.data_dir))
    monkeypatch.setenv("GLOSSATOR_DATABASE_URL", workspace.database.url.render_as_string(hide_password=False))
    store(workspace, project.id, [paper(0)], "first.png")
    with workspace.database.write() as session:
        session.execute(delete(SignatureBand))
        session.execute(delete(PageSignature))
    signed = CliRunner().invoke(app, ["documents", "sign", "--json"])
    assert json.loads(signed.stdout.splitlines()[-1]) == {"documents": 1, "quarantined": []}
    store(workspace, project.id, [scanned_again(paper(0))], "again.png")
    listed = CliRunner().invoke(app, ["documents", "list", "--project", project.name, "--json"])
    documents = json.loads(listed.stdout.splitlines()[-1])["documents"]
    assert [(line["name"], line["same_as"], line["quarantined"]) for line in documents] == [
        ("again.png", "first.png", False),
        ("first.png", None, False),
    ]


def forget(workspace: Workspace, document: Document) -> None:
    """Delete a document that nobody asked anything of."""
    with workspace.database.write() as session:
        pages = select(Page.id).where(Page.document_id == document.id)
        session.execute(delete(PageWord).where(PageWord.page_id.in_(pages)))
        session.execute(delete(Page).where(Page.document_id == document.id))
        session.execute(delete(Document).where(Document.id == document.id))
