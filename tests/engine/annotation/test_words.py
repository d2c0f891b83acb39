"""Fixed words: numbers are stable, nothing is overwritten or done twice, old marks stay readable."""

import threading
import uuid
from typing import Any

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from db.tables import Page, PageWord, Revision, WordEdit
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.views import annotation_view
from engine.annotation.word_list import MOST_WORDS, ListedWord, WordAdd, WordList, WordText
from engine.annotation.words import WordEditsRequest, WordsConflict, edit_words, page_words
from engine.datasets.frozen_words import words_of
from engine.datasets.snapshots import freeze, load
from engine.errors import NotFound, Refused
from engine.workspace import Workspace
from model.boxes import Box
from tests.support.factories import accept, bill, make_document, make_project, pages_of


class Sheet:
    """The only page of a bill: Bill: B1001, Total due: 11.50 (words 2, 3, 4), Customer: Nr1, a line each."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.user = ensure_local_user(workspace).id
        self.project = make_project(workspace).id
        self.document = make_document(workspace, self.project, [bill(1)])
        self.page = pages_of(workspace, self.document.id)[0].id

    def edit_words(self, *edits: dict[str, Any], base: int | None = None, key: str | None = None):
        base = self.words.version if base is None else base
        request = WordEditsRequest(idempotency_key=key or uuid.uuid4().hex, base=base, edits=list(edits))
        return edit_words(self.workspace, self.page, request, self.user)

    @property
    def words(self):
        return page_words(self.workspace, self.page)

    def box(self, number: int) -> Box:
        words = self.words
        return words.boxes[words.numbers.index(number)]

    def halves(self, number: int, *texts: str) -> dict[str, Any]:
        x0, y0, x1, y1 = self.box(number)
        middle = (x0 + x1) // 2
        boxes = [(x0, y0, middle, y1), (middle, y0, x1, y1)]
        parts = [{"text": text, "box": box} for text, box in zip(texts, boxes, strict=True)]
        return {"op": "split", "number": number, "parts": parts}

    def count(self, table: type) -> int:
        with self.workspace.database.read() as session:
            return session.scalar(select(func.count()).select_from(table)) or 0


@pytest.fixture
def sheet(workspace: Workspace) -> Sheet:
    return Sheet(workspace)


def test_a_text_is_written_anew_and_the_word_keeps_its_number(sheet: Sheet) -> None:
    before = sheet.words
    answer = accept(sheet.workspace, sheet.document, "What is the total due?", [4])
    after = sheet.edit_words({"op": "text", "number": 4, "text": "  12.50 "})
    assert (after.version, after.saved_version) == (1, 1)
    assert after.numbers == before.numbers and after.boxes == before.boxes
    assert after.texts == [*before.texts[:4], "12.50", *before.texts[5:]]
    assert annotation_view(sheet.workspace, answer.id).text == "12.50"


def test_split_words_stand_where_the_word_stood_and_the_old_answer_reads_them(sheet: Sheet) -> None:
    before = sheet.words
    answer = accept(sheet.workspace, sheet.document, "What is the total due?", [4])
    after = sheet.edit_words(sheet.halves(4, "11", ".50"))
    at, new = before.numbers.index(4), before.next
    assert after.numbers == [*before.numbers[:at], new, new + 1, *before.numbers[at + 1 :]]
    assert after.texts[at : at + 2] == ["11", ".50"]
    assert after.lines[at] == after.lines[at + 1] == before.lines[at]
    assert (after.retired.numbers, after.retired.texts, after.retired.places) == ([4], [before.texts[at]], [at])
    assert sheet.words.model_dump() == after.model_dump(exclude={"saved_version", "saved_at"})
    view = annotation_view(sheet.workspace, answer.id)
    assert view.state.pages[sheet.page].words == [4]  # a revision is never rewritten
    assert view.text == "11 .50"


def test_merged_words_read_as_one_and_an_undone_split_restores_the_number(sheet: Sheet) -> None:
    before = sheet.words
    answer = accept(sheet.workspace, sheet.document, "What is the total due?", [3, 4])
    merged = sheet.edit_words({"op": "merge", "numbers": [4, 3]})
    first, second = before.texts[3], before.texts[4]
    assert merged.texts[3] == first + second and merged.numbers[3] == before.next
    x0, y0, x1, y1 = merged.boxes[3]
    assert (x0, y0) == before.boxes[3][:2] and (x1, y1) == before.boxes[4][2:]
    assert annotation_view(sheet.workspace, answer.id).text == first + second
    undone = sheet.edit_words({"op": "restore", "numbers": [3, 4], "instead": [before.next]})
    assert (undone.numbers, undone.boxes, undone.texts) == (before.numbers, before.boxes, before.texts)
    assert undone.next == before.next + 1  # a number is never given twice
    again = sheet.edit_words({"op": "restore", "numbers": [before.next], "instead": [3, 4]})
    assert (again.numbers, again.texts) == (merged.numbers, merged.texts)


def test_an_added_word_finds_its_place_in_its_line(sheet: Sheet) -> None:
    before = sheet.words
    x0, y0, x1, y1 = before.boxes[4]
    after = sheet.edit_words({"op": "add", "text": "EUR", "box": [x1 + 4, y0 + 1, x1 + 40, y1]})
    assert after.texts == [*before.texts[:5], "EUR", *before.texts[5:]]
    assert after.lines[5] == before.lines[4]
    between = sheet.edit_words({"op": "add", "text": "≈", "box": [x0 - 6, y0, x0 - 1, y1]})
    assert between.texts[4:6] == ["≈", before.texts[4]]
    top = sheet.edit_words({"op": "add", "text": "top", "box": [2, 0, 30, 3]})
    assert top.texts[0] == "top" and top.lines[0] not in before.lines


def test_an_added_word_in_a_right_to_left_line_follows_the_word_to_its_right(sheet: Sheet) -> None:
    words = sheet.words
    line = [number for number, each in zip(words.numbers, words.lines, strict=True) if each == words.lines[4]]
    texts = ["סך", "לתשלום", "שקל"]
    edited = sheet.edit_words(*({"op": "text", "number": n, "text": t} for n, t in zip(line, texts, strict=False)))
    near = min(line, key=lambda number: edited.boxes[edited.numbers.index(number)][0])
    x0, y0, _, y1 = edited.boxes[edited.numbers.index(near)]
    after = sheet.edit_words({"op": "add", "text": "חדש", "box": [x0 - 12, y0, x0 - 2, y1]})
    assert after.texts.index("חדש") == after.numbers.index(near) + 1


def test_a_removed_word_leaves_the_page_but_not_the_answer_that_named_it(sheet: Sheet) -> None:
    answer = accept(sheet.workspace, sheet.document, "What is the total due?", [3, 4])
    before = sheet.words
    after = sheet.edit_words({"op": "remove", "number": 4})
    assert 4 not in after.numbers and len(after.numbers) == len(before.numbers) - 1
    view = annotation_view(sheet.workspace, answer.id)
    assert view.text == f"{before.texts[3]} {before.texts[4]}"
    with sheet.workspace.database.read() as session:
        assert session.get_one(Page, sheet.page).word_count == len(after.numbers)


def test_an_answer_that_names_a_retired_word_can_still_be_edited(sheet: Sheet) -> None:
    answer = accept(sheet.workspace, sheet.document, "What is the total due?", [3, 4])
    sheet.edit_words(sheet.halves(4, "11", ".50"))
    edits = [{"op": "words", "page": sheet.page, "remove": [4]}]
    request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=1, edits=edits)
    saved = append_revision(sheet.workspace, answer.id, request, sheet.user)
    assert saved.state.pages[sheet.page].words == [3]
    back = {"op": "mask", "page": sheet.page, "words": [3, 4], "mask": saved.state.pages[sheet.page].mask.model_dump()}
    undo = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=2, edits=[back])
    assert append_revision(sheet.workspace, answer.id, undo, sheet.user).state.pages[sheet.page].words == [3, 4]
    assert sheet.count(Revision) == 3


def test_a_snapshot_names_the_words_that_stand_on_the_page(sheet: Sheet) -> None:
    accept(sheet.workspace, sheet.document, "What is the total due?", [3, 4])
    after = sheet.edit_words(sheet.halves(4, "11", ".50"))
    (item,) = load(sheet.workspace, freeze(sheet.workspace, sheet.project))
    (page,) = item.document.pages
    named = item.state.pages[sheet.page].words
    texts = [word.text for word in words_of(sheet.workspace, page) if word.number in named]
    assert texts == [after.texts[3], "11", ".50"]


def test_the_same_key_again_changes_nothing(sheet: Sheet) -> None:
    first = sheet.edit_words({"op": "remove", "number": 4}, key="the-same-key")
    again = sheet.edit_words({"op": "remove", "number": 4}, base=0, key="the-same-key")
    assert again == first
    sheet.edit_words({"op": "remove", "number": 3})
    late = sheet.edit_words({"op": "remove", "number": 4}, base=0, key="the-same-key")
    assert (late.saved_version, late.version) == (1, 2)
    assert sheet.count(WordEdit) == 2


def test_a_change_of_older_words_is_a_conflict_and_changes_nothing(sheet: Sheet) -> None:
    sheet.edit_words({"op": "text", "number": 4, "text": "one"})
    with pytest.raises(WordsConflict, match="version 1"):
        sheet.edit_words({"op": "text", "number": 4, "text": "two"}, base=0)
    assert sheet.words.texts[sheet.words.numbers.index(4)] == "one"


def test_of_two_at_once_one_gets_through(sheet: Sheet) -> None:
    start, ends = threading.Barrier(2), []
    seen = {text: _parts(sheet, text) for text in ("a", "b")}  # both saw the word as it was

    def write(text: str) -> None:
        start.wait()
        try:
            sheet.edit_words({"op": "split", **seen[text]}, base=0)
            ends.append("saved")
        except WordsConflict:
            ends.append("conflict")

    threads = [threading.Thread(target=write, args=(text,)) for text in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["conflict", "saved"]
    assert sheet.words.version == 1 and sheet.count(WordEdit) == 1


def _parts(sheet: Sheet, text: str) -> dict[str, Any]:
    return {key: value for key, value in sheet.halves(4, text, text).items() if key != "op"}


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ({"op": "text", "number": 99, "text": "x"}, "no word 99"),
        ({"op": "merge", "numbers": [3, 3]}, "two different"),
        ({"op": "add", "text": "x", "box": [5, 5, 5, 9]}, "empty or outside the page"),
        ({"op": "add", "text": "x", "box": [5, 5, 100_000, 9]}, "empty or outside the page"),
        ({"op": "restore", "numbers": [3]}, "is on the page already"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_of_the_save_stays(sheet: Sheet, edit: Any, sentence: str) -> None:
    before = sheet.words
    with pytest.raises(Refused, match=sentence):
        sheet.edit_words({"op": "remove", "number": 0}, edit)
    assert sheet.words == before
    with pytest.raises(NotFound):
        request = WordEditsRequest(idempotency_key="unknown-page", base=0, edits=[{"op": "remove", "number": 0}])
        edit_words(sheet.workspace, "nowhere", request, sheet.user)


def test_what_was_changed_is_logged_with_what_it_was(sheet: Sheet) -> None:
    box = list(sheet.box(4))
    text = sheet.words.texts[4]
    sheet.edit_words({"op": "text", "number": 4, "text": "12.50"})
    with sheet.workspace.database.read() as session:
        (edit,) = session.scalars(select(WordEdit))
    assert (edit.version, edit.author_id) == (1, sheet.user)
    assert edit.edits == [{"op": "text", "number": 4, "text": "12.50"}]
    assert [(each["number"], each["text"], list(each["box"])) for each in edit.before] == [(4, text, box)]


def test_positions_stay_the_places_in_the_list(sheet: Sheet) -> None:
    sheet.edit_words(sheet.halves(4, "11", ".50"))
    sheet.edit_words({"op": "merge", "numbers": [0, 1]})
    sheet.edit_words({"op": "add", "text": "x", "box": [0, 0, 5, 3]})
    with sheet.workspace.database.read() as session:
        rows = session.scalars(select(PageWord.position).order_by(PageWord.position)).all()
    assert rows == list(range(len(rows)))


def test_a_conflict_over_rest_brings_the_words_and_a_fixed_page_is_asked_anew(client: TestClient) -> None:
    from tests.annotator.test_rest import pdf, upload

    taken = upload(client, pdf("Total due: 2,987.88")).json()["documents"][0]["document_id"]
    page = client.get(f"/api/documents/{taken}").json()["pages"][0]["id"]
    url = f"/api/pages/{page}/words"
    assert client.get(url).json()["version"] == 0
    asked = client.post(f"/api/documents/{taken}/ask", json={"question": "What is the total due?"}).json()
    body = {"idempotency_key": "first-key", "base": 0, "edits": [{"op": "text", "number": 2, "text": "3,000.00"}]}
    saved = client.put(url, json=body)
    assert saved.status_code == 200 and saved.json()["texts"][2] == "3,000.00"
    late = client.put(url, json={**body, "idempotency_key": "second-key"})
    assert late.status_code == 409 and late.json()["current"]["version"] == 1
    bad = client.put(
        url, json={**body, "idempotency_key": "third-key", "edits": [{"op": "text", "number": 2, "text": " "}]}
    )
    assert bad.status_code == 422 and "needs text" in bad.json()["detail"]
    refined = client.post(
        f"/api/annotations/{asked['id']}/refine", json={"page_id": page, "points": [_middle(client, url, 2)]}
    )
    assert "3,000.00" in refined.json()["text"]  # the encoded page of the old words is not asked any more


def _middle(client: TestClient, url: str, number: int) -> tuple[int, int, bool]:
    words = client.get(url).json()
    x0, y0, x1, y1 = words["boxes"][words["numbers"].index(number)]
    return (x0 + x1) // 2, (y0 + y1) // 2, True


def test_positions_stay_places_in_the_list_whatever_one_save_makes(sheet: Sheet) -> None:
    sheet.edit_words(sheet.halves(4, "11.", "50"))
    _, y0, x1, y1 = sheet.box(1)
    saved = sheet.edit_words(
        sheet.halves(0, "Bi", "ll:"),
        {"op": "add", "text": "first", "box": (0, 0, 5, 5)},
        {"op": "merge", "numbers": [2, 3]},
        {"op": "remove", "number": 5},
        {"op": "add", "text": "gone", "box": (x1 + 2, y0, x1 + 9, y1)},
        {"op": "remove", "number": 13},
    )
    with sheet.workspace.database.read() as session:
        rows = session.scalars(select(PageWord).where(PageWord.page_id == sheet.page).order_by(PageWord.position)).all()
    assert [row.position for row in rows] == list(range(len(rows)))
    assert [row.number for row in rows if row.retired_at is None] == saved.numbers == sheet.words.numbers
    assert [row.text for row in rows if row.retired_at is None] == saved.texts
    assert (saved.next, sheet.words.retired) == (14, saved.retired)


def test_a_save_makes_no_more_new_words_than_a_person_would(sheet: Sheet) -> None:
    box = sheet.box(0)
    parts = {"op": "split", "parts": [{"text": "a", "box": box}] * 50}
    before = sheet.words
    with pytest.raises(Refused, match="more than 1,000 new words"):
        # Each word splits into fifty, of which one splits again.
        sheet.edit_words(*({**parts, "number": 0 if at == 0 else 7 + 50 * (at - 1)} for at in range(21)))
    assert sheet.words == before
    assert (
        len(sheet.edit_words(*({**parts, "number": 0 if at == 0 else 7 + 50 * (at - 1)} for at in range(20))).numbers)
        == 987
    )


def test_a_page_that_is_full_of_words_takes_no_new_ones() -> None:
    full = WordList([ListedWord(number, 0, "a", (0, 0, 5, 5)) for number in range(MOST_WORDS)], (10, 10))
    full.apply([WordText(op="text", number=7, text="b")])
    with pytest.raises(Refused, match="takes no more"):
        full.apply([WordAdd(op="add", text="c", box=(0, 0, 5, 5))])


def doubt(sheet: Sheet, confidences: dict[int, float]) -> None:
    """The OCR read words of the page with these confidences."""
    with sheet.workspace.database.write() as session:
        for number, confidence in confidences.items():
            session.get_one(PageWord, (sheet.page, number)).confidence = confidence


def confidence(sheet: Sheet, number: int) -> float | None:
    with sheet.workspace.database.read() as session:
        return session.get_one(PageWord, (sheet.page, number)).confidence


def test_words_of_low_confidence_are_told_until_somebody_writes_or_confirms_them(sheet: Sheet) -> None:
    assert sheet.words.doubtful == []  # a text layer is not doubted
    doubt(sheet, {1: 0.99, 3: 0.6, 4: 0.7, 6: 0.5})
    assert sheet.words.doubtful == [3, 4, 6]
    written = sheet.edit_words({"op": "text", "number": 4, "text": "12.50"})
    confirmed = sheet.edit_words({"op": "text", "number": 3, "text": written.texts[3]})
    assert (written.doubtful, confirmed.doubtful, sheet.words.doubtful) == ([3, 6], [6], [6])
    assert (confidence(sheet, 3), confidence(sheet, 4), confidence(sheet, 1)) == (None, None, 0.99)


def test_an_undone_text_is_doubtful_as_it_was_read(sheet: Sheet) -> None:
    doubt(sheet, {4: 0.7})
    read = sheet.words.texts[4]
    sheet.edit_words({"op": "text", "number": 4, "text": "12.50"})
    sheet.edit_words({"op": "text", "number": 4, "text": "12.60"})
    assert sheet.edit_words({"op": "text", "number": 4, "text": "12.50"}).doubtful == []
    undone = sheet.edit_words({"op": "text", "number": 4, "text": read, "doubtful": True})
    assert (undone.texts[4], undone.doubtful, confidence(sheet, 4)) == (read, [4], 0.7)
    at_once = sheet.edit_words(
        {"op": "text", "number": 4, "text": "1"}, {"op": "text", "number": 4, "text": read, "doubtful": True}
    )
    assert (at_once.doubtful, confidence(sheet, 4)) == ([4], 0.7)
    never = sheet.edit_words({"op": "text", "number": 2, "text": "x", "doubtful": True})  # no OCR has read it
    assert (never.doubtful, confidence(sheet, 2)) == ([4], None)


def test_split_and_merged_words_are_sure_and_come_back_with_their_doubt(sheet: Sheet) -> None:
    doubt(sheet, {3: 0.6, 4: 0.7})
    before = sheet.words
    merged = sheet.edit_words({"op": "merge", "numbers": [3, 4]})
    assert (merged.doubtful, merged.retired.doubtful) == ([], [3, 4])
    restored = sheet.edit_words({"op": "restore", "numbers": [3, 4], "instead": [before.next]})
    assert (restored.doubtful, restored.retired.doubtful) == ([3, 4], [])
    assert sheet.edit_words(sheet.halves(4, "11", ".50")).doubtful == [3]
