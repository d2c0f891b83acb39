"""Pages that lie sideways: turned when read again as when read first, or by hand, unless answers mark them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sqlalchemy import select
from starlette.testclient import TestClient

from db.tables import (
    Annotation,
    AuditEntry,
    Document,
    ModelVersion,
    OutsideAnswer,
    Page,
    PageSignature,
    Prediction,
    Question,
)
from engine.accounts.users import ensure_local_user
from engine.annotation.edits import EditMask
from engine.annotation.outside_answers import load_outside_answers
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import PageGeometry, Patch, raster, to_patch
from engine.annotation.word_list import WordText
from engine.annotation.words import WordEditsRequest, edit_words, page_words
from engine.documents.ingest import ingest, limits_of
from engine.errors import Conflict, Refused
from engine.read_again import jobs as read_again
from engine.read_again.turning import turn_by_hand
from engine.workspace import Workspace
from tests.support import made_documents as made
from tests.support.factories import accept, make_project, pages_of


@dataclass(frozen=True)
class Sideways:
    """A scan whose page is stored as it came, sideways and without words: OCR had no time for it."""

    document: Document
    page_id: str
    user_id: str


Store = Callable[..., Sideways]
FAILING = '#!/bin/sh\n[ "$1" = --list-langs ] && printf "List\\neng\\n" && exit 0\nexit 1\n'


@pytest.fixture
def store(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    user = ensure_local_user(workspace)
    project = make_project(workspace)
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(FAILING)
    program.chmod(0o755)

    def store_scan(turn: int = 90) -> Sideways:
        image = made.text_image().rotate(-turn, expand=True)
        source = made.image_file(tmp_path / f"turned-{turn}.png", image)
        with monkeypatch.context() as failing:
            failing.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
            failing.setattr(
                "engine.documents.ingest.limits_of",
                lambda settings: replace(limits_of(settings), ocr="tesseract", confinement="off"),
            )
            stored = ingest(workspace, source, name=source.name, project_id=project.id, user_id=user.id)
        with workspace.database.read() as session:
            document = session.get_one(Document, stored.document_id)
            page_id = session.scalars(select(Page.id).where(Page.document_id == document.id)).one()
        return Sideways(document, page_id, user.id)

    return store_scan


def page_of(workspace: Workspace, sideways: Sideways) -> Page:
    with workspace.database.read() as session:
        return session.get_one(Page, sideways.page_id)


def pixels(workspace: Workspace, sideways: Sideways) -> np.ndarray:
    with Image.open(workspace.blobs.path(page_of(workspace, sideways).image_sha256)) as image:
        return np.asarray(image.convert("L"))


UPRIGHT = np.asarray(made.text_image().convert("L"))


def test_a_page_read_again_is_turned_upright_and_kept_so(workspace: Workspace, store: Store) -> None:
    sideways = store(90)
    before = page_of(workspace, sideways)
    assert (before.width, before.height, before.word_count) == (made.PAPER[1], made.PAPER[0], 0)
    done = read_again.read_page(workspace, sideways.page_id, sideways.user_id)
    assert done.turned == 270 and "1 page turned upright" in read_again.sentence([done])
    page = page_of(workspace, sideways)
    assert (page.width, page.height, page.rotation, page.turned_by) == (*made.PAPER, 270, None)
    assert np.array_equal(pixels(workspace, sideways), UPRIGHT)
    words = page_words(workspace, sideways.page_id)
    assert list(words.texts) == made.WORDS
    assert all(x0 < x1 <= page.width and y0 < y1 <= page.height for x0, y0, x1, y1 in words.boxes)
    with workspace.database.read() as session:  # found again among pages that were read upright
        signature = session.scalars(select(PageSignature).where(PageSignature.page_id == page.id)).one()
        assert signature.text.startswith("northwind traders")
    again = read_again.read_page(workspace, sideways.page_id, sideways.user_id)
    assert (again.turned, again.new, again.gone) == (0, 0, 0)


def test_a_marked_page_stays_and_says_why(workspace: Workspace, store: Store) -> None:
    sideways = store(90)
    accept(workspace, sideways.document, "What is the total?", mask=np.pad(np.ones((9, 9), bool), ((0, 831), (0, 691))))
    before = page_of(workspace, sideways)
    done = read_again.read_page(workspace, sideways.page_id, sideways.user_id)
    assert "It seems to lie sideways: Page 1 stays as it is: 1 answer marked it" in read_again.sentence([done])
    with pytest.raises(Conflict, match="1 answer marked it"):
        turn_by_hand(workspace, sideways.page_id, 90, sideways.user_id)
    page = page_of(workspace, sideways)
    assert (page.image_sha256, page.width, page.height) == (before.image_sha256, before.width, before.height)
    assert list(page_words(workspace, sideways.page_id).texts) == made.WORDS  # in the pixels of the page as it lies


@dataclass(frozen=True)
class Printed:
    """A letter with a text layer, whose words are no OCR's."""

    page: Page
    user_id: str


@pytest.fixture
def printed(workspace: Workspace, tmp_path: Path) -> Printed:
    user = ensure_local_user(workspace)
    project = make_project(workspace)
    source = made.text_pdf(tmp_path / "letter.pdf")
    stored = ingest(workspace, source, name=source.name, project_id=project.id, user_id=user.id)
    return Printed(pages_of(workspace, stored.document_id)[0], user.id)


def test_turning_by_hand_turns_words_and_proposals_and_turning_back_undoes_it(
    workspace: Workspace, client: TestClient, printed: Printed
) -> None:
    page, url = printed.page, f"/api/pages/{printed.page.id}"
    edits = [WordText(op="text", number=1, text="Fixed")]
    request = WordEditsRequest(idempotency_key="by-hand-1", base=0, edits=edits)
    edit_words(workspace, page.id, request, printed.user_id)
    boxes = page_words(workspace, page.id).boxes
    box = boxes[0]
    mask = np.zeros((page.height, page.width), bool)
    mask[box[1] : box[3], box[0] : box[2]] = True
    with workspace.database.write() as session:
        document = session.get_one(Document, page.document_id)
        question = Question(project_id=document.project_id, text="Who writes?")
        version = ModelVersion(project_id=document.project_id, number=1, checkpoint_sha256="0" * 64, code_version="1")
        session.add_all([question, version])
        session.flush()
        annotation = Annotation(
            project_id=document.project_id,
            document_id=document.id,
            question_id=question.id,
            author_id=printed.user_id,
        )
        session.add(annotation)
        session.flush()
        proposed = {"words": [0], "mask": to_patch(mask).model_dump(mode="json"), "text": "", "score": 0.9, "place": ""}
        session.add(
            Prediction(
                annotation_id=annotation.id,
                page_id=page.id,
                question_id=annotation.question_id,
                model_version_id=version.id,
                answer=proposed,
                score=0.9,
                answered=0.9,
                milliseconds=1,
            )
        )
        outside = {"document_id": document.id, "question_id": question.id, "page_id": page.id, "answer": proposed}
        session.add(OutsideAnswer(**outside, model="reader", words_version=1, confidence=0.9))
        assert load_outside_answers(session, document.id, [question.id])[question.id].answer.words == [0]
        annotation_id = annotation.id
    seen = client.get(f"/api/documents/{page.document_id}").json()["pages"][0]["image"]
    kept = client.get(f"{url}/image", params={"version": seen}).headers["cache-control"]
    turned = client.post(f"{url}/turn", json={"degrees": 90, "image": seen}).json()
    assert turned["reading"] is None and (turned["page"]["width"], turned["page"]["height"]) == (
        page.height,
        page.width,
    )
    assert "immutable" in kept and turned["page"]["image"] != seen
    for name in ("image", "thumbnail"):  # nobody is shown the old picture for ever under an address that stays
        assert "immutable" not in client.get(f"{url}/{name}", params={"version": seen}).headers["cache-control"]
        assert "immutable" not in client.get(f"{url}/{name}").headers["cache-control"]
    assert client.post(f"{url}/turn", json={"degrees": 90, "image": seen}).status_code == 409  # two people at once
    words = page_words(workspace, page.id)
    assert words.texts[1] == "Fixed"
    assert words.boxes == [(page.height - y1, x0, page.height - y0, x1) for x0, y0, x1, y1 in boxes]
    with workspace.database.read() as session:
        answer = session.scalars(select(Prediction.answer)).one()
        shown = raster(Patch.model_validate(answer["mask"]), PageGeometry((page.width, page.height), {}))
        assert np.array_equal(shown, np.rot90(mask, -1))
        waiting = load_outside_answers(session, page.document_id, [question.id])[question.id].answer
        # Its words may be others by now; its pixels are turned.
        assert (waiting.words, waiting.mask.model_dump(mode="json")) == ([], answer["mask"])
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "pages.turn")).one()
        assert entry.actor_id == printed.user_id

    stroke = EditMask(op="mask", page=page.id, words=[], mask=to_patch(mask[:50, :50]))
    late = RevisionRequest(idempotency_key="drawn-before", base=0, edits=[stroke], images={page.id: seen})
    with pytest.raises(Refused, match="Page 1 was turned meanwhile"):
        append_revision(workspace, annotation_id, late, printed.user_id)
    turn_by_hand(workspace, page.id, 270, printed.user_id)
    assert page_words(workspace, page.id).boxes == boxes
    with workspace.database.read() as session:
        assert session.scalars(select(Prediction.answer)).one() == proposed
        assert session.get_one(Page, page.id).rotation == page.rotation
    append_revision(workspace, annotation_id, late, printed.user_id)
    assert client.post(f"{url}/turn", json={"degrees": 180}).status_code == 409


def test_a_page_turned_by_hand_is_read_as_it_lies(workspace: Workspace, client: TestClient, store: Store) -> None:
    sideways = store(90)
    answer = client.post(f"/api/pages/{sideways.page_id}/turn", json={"degrees": 180}).json()
    assert answer["reading"]["kind"] == "read_again"  # its words are OCR's, and read anew
    done = read_again.read_page(workspace, sideways.page_id, sideways.user_id)
    assert "stays as a person has turned it" in read_again.sentence([done])
    page = page_of(workspace, sideways)
    assert (page.width, page.height, page.turned_by) == (made.PAPER[1], made.PAPER[0], sideways.user_id)
    assert list(page_words(workspace, sideways.page_id).texts) == made.WORDS
