"""Pages read again by OCR: words by hand stay, answers keep the words that stand, others are put up for a look."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import select, update
from starlette.testclient import TestClient

from db import document_texts
from db.tables import AuditEntry, Document, Job, LabelReview, Page, PageWord, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.word_list import WordAdd, WordText
from engine.annotation.words import WordEditsRequest, Words, edit_words, page_words
from engine.documents.ingest import ingest, limits_of
from engine.documents.reading.reading_state import READ_AGAIN
from engine.errors import Conflict, Refused
from engine.jobs import queue
from engine.read_again import jobs as read_again
from engine.tasks.review.label_review_queue import sentence
from engine.workspace import Workspace
from tests.support import made_documents as made
from tests.support.factories import accept, make_project


@dataclass(frozen=True)
class Stored:
    """A scan that was read badly: its first word is not what is printed."""

    document: Document
    page_id: str
    user_id: str


@pytest.fixture
def stored(recorded_ocr: Path, workspace: Workspace, tmp_path: Path) -> Stored:
    user = ensure_local_user(workspace)
    project = make_project(workspace)
    source = made.image_file(tmp_path / "letter.png")
    found = ingest(workspace, source, name="letter.png", project_id=project.id, user_id=user.id)
    with workspace.database.write() as session:
        document = session.get_one(Document, found.document_id)
        page_id = session.scalars(select(Page.id).where(Page.document_id == document.id)).one()
        session.execute(
            update(PageWord).where(PageWord.page_id == page_id, PageWord.number == 0).values(text="N0rthw1nd")
        )
        session.execute(update(Page).where(Page.id == page_id).values(text_source="layer"))
    return Stored(document, page_id, user.id)


def texts(words: Words) -> list[str]:
    return list(words.texts)


def test_words_that_stand_keep_their_numbers_and_wrong_ones_are_replaced(stored: Stored, workspace: Workspace) -> None:
    before = page_words(workspace, stored.page_id)
    done = read_again.read_page(workspace, stored.page_id, stored.user_id)
    after = page_words(workspace, stored.page_id)
    assert (done.new, done.gone) == (1, 1)
    assert texts(after) == made.WORDS
    assert after.numbers == [len(made.WORDS), *before.numbers[1:]]
    assert after.retired.texts == ["N0rthw1nd"]
    with workspace.database.read() as session:
        page = session.get_one(Page, stored.page_id)
        assert (page.text_source, page.word_count) == ("ocr", len(made.WORDS))
        assert document_texts.mismatches(session, [stored.document.id]) == []  # searches find the new words
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "words.read_again")).one()
        assert entry.actor_id == stored.user_id


def test_words_by_hand_stay(stored: Stored, workspace: Workspace) -> None:
    edits = [
        WordText(op="text", number=2, text="LIMITED"),
        WordAdd(op="add", text="signed", box=(90, 640, 190, 680)),
    ]
    request = WordEditsRequest(idempotency_key="by-hand-1", base=0, edits=edits)
    edit_words(workspace, stored.page_id, request, stored.user_id)
    read_again.read_page(workspace, stored.page_id, stored.user_id)
    found = texts(page_words(workspace, stored.page_id))
    assert found == [*made.WORDS[:2], "LIMITED", *made.WORDS[3:], "signed"]


def test_an_answer_whose_words_are_gone_is_put_up_for_a_look_and_others_are_not(
    stored: Stored, workspace: Workspace
) -> None:
    gone = accept(workspace, stored.document, "Who writes?", [0, 1])
    accept(workspace, stored.document, "Which number?", [5])
    with workspace.database.read() as session:
        revisions = session.scalars(select(Revision.state).order_by(Revision.id)).all()
    done = read_again.read_page(workspace, stored.page_id, stored.user_id)
    assert [each.text for each in done.shaken] == ["N0rthw1nd Traders"]
    assert "1 answer named words that are gone" in read_again.sentence([done])
    read_again.read_page(workspace, stored.page_id, stored.user_id)  # no second look at the same
    with workspace.database.read() as session:
        look = session.scalars(select(LabelReview)).one()
        assert (look.annotation_id, look.kind, look.model_version_id) == (gone.id, "words", None)
        assert "they were “N0rthw1nd Traders”" in sentence(look, "")
        assert session.scalars(select(Revision.state).order_by(Revision.id)).all() == revisions


def test_reading_again_twice_changes_nothing(stored: Stored, workspace: Workspace) -> None:
    read_again.read_page(workspace, stored.page_id, stored.user_id)
    before = page_words(workspace, stored.page_id)
    done = read_again.read_page(workspace, stored.page_id, stored.user_id)
    assert (done.new, done.gone) == (0, 0)
    assert page_words(workspace, stored.page_id) == before


def test_a_correction_from_before_conflicts_with_words_read_again(stored: Stored, workspace: Workspace) -> None:
    read_again.read_page(workspace, stored.page_id, stored.user_id)
    request = WordEditsRequest(
        idempotency_key="too-late-1", base=0, edits=[WordText(op="text", number=0, text="Northwind")]
    )
    with pytest.raises(Conflict):
        edit_words(workspace, stored.page_id, request, stored.user_id)


def test_a_page_that_ocr_cannot_read_keeps_its_words(
    stored: Stored, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = page_words(workspace, stored.page_id)
    limits = replace(limits_of(workspace.settings), ocr="tesseract")
    monkeypatch.setattr("engine.read_again.page_words.limits_of", lambda _: limits)
    monkeypatch.setenv("PATH", str(tmp_path))  # no Tesseract there
    with pytest.raises(Refused, match=r"Page 1 keeps its words\. Tesseract is not installed"):
        read_again.read_page(workspace, stored.page_id, stored.user_id)
    assert page_words(workspace, stored.page_id) == before


def test_a_job_reads_a_document_again(stored: Stored, workspace: Workspace) -> None:
    asked = read_again.ask(workspace, stored.document.id, stored.user_id)
    with pytest.raises(Conflict):
        with workspace.database.write() as session:
            session.execute(update(Job).values(payload={**asked.payload, "pages": []}))
        read_again.ask(workspace, stored.document.id, stored.user_id)
    job = queue.lease(workspace, "test", [READ_AGAIN])
    assert job is not None
    job.payload = asked.payload
    said: list[str] = []
    result = read_again.read_job_pages(
        workspace, job, on_progress=lambda _, sentence: said.append(sentence), should_stop=lambda: None
    )
    assert result["pages"] == 1 and "1 new word, 1 word gone" in result["sentence"]
    assert said == ["Read 1 of 1 pages again."]


def test_the_routes_ask_for_a_job(client: TestClient, stored: Stored, workspace: Workspace) -> None:
    answer = client.post(f"/api/pages/{stored.page_id}/read-again")
    assert (answer.status_code, answer.json()["kind"]) == (202, "read_again")


def test_a_page_on_which_ocr_finds_nothing_keeps_its_words(
    stored: Stored, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limits = replace(limits_of(workspace.settings), ocr="auto")  # an engine itself
    monkeypatch.setattr("engine.read_again.page_words.limits_of", lambda _: limits)
    blank = tmp_path / "blank.png"
    Image.new("L", made.PAPER, 255).save(blank)
    with workspace.database.write() as session:
        session.get_one(Page, stored.page_id).image_sha256 = workspace.blobs.put_file(blank)
    with pytest.raises(Refused, match="keeps its words, because OCR found none"):
        read_again.read_page(workspace, stored.page_id, stored.user_id)
    assert len(page_words(workspace, stored.page_id).texts) == len(made.WORDS)
