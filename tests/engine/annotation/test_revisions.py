"""Nothing acknowledged is lost, nothing is doubled, nobody is overwritten."""

import threading
import uuid

import pytest
from pydantic import ValidationError
from sqlalchemy import func, select

from db.tables import Annotation, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import RevisionConflict, RevisionRequest, append_revision
from engine.annotation.views import annotation_view
from engine.errors import NotFound, Refused
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_document, make_project, pages_of


class Bill:
    """An annotation on a bill, at revision 1."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.user = ensure_local_user(workspace)
        document = make_document(workspace, make_project(workspace).id, [bill(1)])
        self.page = pages_of(workspace, document.id)[0].id
        self.id = accept(workspace, document, "What is the total due?", [4]).id

    def save(self, base: int, key: str | None = None, action: str = "edit", **edit: object):
        edits = [{"page": self.page, **edit}] if edit else []
        request = RevisionRequest(
            idempotency_key=key or uuid.uuid4().hex, base=base, action=action, edits=edits, seconds=1.5
        )
        return append_revision(self.workspace, self.id, request, self.user.id)

    def revisions(self) -> list[Revision]:
        with self.workspace.database.read() as session:
            return list(session.scalars(select(Revision).order_by(Revision.number)))


@pytest.fixture
def a_bill(workspace: Workspace) -> Bill:
    return Bill(workspace)


def test_an_edit_is_appended_and_the_one_before_stays(a_bill: Bill) -> None:
    saved = a_bill.save(1, op="words", add=[3])
    assert (saved.revision, saved.status) == (2, "draft")
    first, second = a_bill.revisions()
    assert first.state["pages"][a_bill.page]["words"] == [4]
    assert second.state["pages"][a_bill.page]["words"] == [4, 3]
    assert annotation_view(a_bill.workspace, a_bill.id).text == "due: 11.50"


def test_the_same_key_again_is_the_same_revision(a_bill: Bill) -> None:
    first = a_bill.save(1, key="the-same-key", op="words", add=[3])
    again = a_bill.save(1, key="the-same-key", op="words", add=[3])
    assert again == first
    assert len(a_bill.revisions()) == 2


def test_the_same_key_is_found_even_when_others_saved_since(a_bill: Bill) -> None:
    first = a_bill.save(1, key="the-same-key", op="words", add=[3])
    a_bill.save(2, op="words", add=[0])
    assert a_bill.save(1, key="the-same-key", op="words", add=[3]) == first
    assert len(a_bill.revisions()) == 3


def test_an_edit_on_an_old_revision_is_a_conflict_and_changes_nothing(a_bill: Bill) -> None:
    a_bill.save(1, op="words", add=[3])
    with pytest.raises(RevisionConflict, match="starts from revision 1, and the newest is revision 2"):
        a_bill.save(1, op="words", add=[0])
    assert len(a_bill.revisions()) == 2


def test_a_base_that_does_not_exist_yet_is_a_conflict(a_bill: Bill) -> None:
    with pytest.raises(RevisionConflict):
        a_bill.save(7, op="words", add=[3])


def test_of_many_who_save_at_once_exactly_one_gets_through(a_bill: Bill) -> None:
    outcomes: list[str] = []

    def save(word: int) -> None:
        try:
            a_bill.save(1, op="words", add=[word])
            outcomes.append("saved")
        except RevisionConflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=save, args=(word,)) for word in (0, 1, 2, 3, 5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["conflict"] * 5 + ["saved"]
    assert [revision.number for revision in a_bill.revisions()] == [1, 2]


def test_a_request_sent_twice_at_once_is_saved_once(a_bill: Bill) -> None:
    results, failures = [], []

    def save() -> None:
        try:
            results.append(a_bill.save(1, key="sent-twice-at-once", op="words", add=[3]))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert {result.revision for result in results} == {2}
    assert len(a_bill.revisions()) == 2


def test_a_refused_edit_does_not_move_the_head(a_bill: Bill) -> None:
    with pytest.raises(Refused, match="no word 99"):
        a_bill.save(1, op="words", add=[99])
    with a_bill.workspace.database.read() as session:
        annotation = session.get_one(Annotation, a_bill.id)
        assert (annotation.head, annotation.status) == (1, "accepted")
    assert a_bill.save(1, op="words", add=[3]).revision == 2


def test_nothing_marked_cannot_be_accepted(a_bill: Bill) -> None:
    a_bill.save(1, op="clear")
    with pytest.raises(Refused, match="Nothing is marked"):
        a_bill.save(2, action="accept")


def test_no_answer_can_be_accepted_without_a_mark(a_bill: Bill) -> None:
    request = RevisionRequest(
        idempotency_key=uuid.uuid4().hex,
        base=1,
        action="accept",
        edits=[{"op": "clear", "page": a_bill.page}, {"op": "no_answer", "value": True}],
    )
    saved = append_revision(a_bill.workspace, a_bill.id, request, a_bill.user.id)
    assert saved.status == "accepted"
    assert annotation_view(a_bill.workspace, a_bill.id).text == ""


def test_a_stranger_s_proposal_cannot_be_named(a_bill: Bill) -> None:
    request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=1, prediction_id="0" * 32)
    with pytest.raises(Refused, match="another answer"):
        append_revision(a_bill.workspace, a_bill.id, request, a_bill.user.id)


def test_an_unknown_annotation_is_not_found(a_bill: Bill) -> None:
    request = RevisionRequest(idempotency_key=uuid.uuid4().hex, base=0)
    with pytest.raises(NotFound):
        append_revision(a_bill.workspace, "0" * 32, request, a_bill.user.id)


def test_every_revision_keeps_who_how_long_and_with_which_tools(a_bill: Bill) -> None:
    request = RevisionRequest(
        idempotency_key=uuid.uuid4().hex, base=1, seconds=12.5, interactions={"word": 3, "brush": 1}
    )
    append_revision(a_bill.workspace, a_bill.id, request, a_bill.user.id)
    newest = a_bill.revisions()[-1]
    assert (newest.author_id, newest.seconds, newest.interactions) == (a_bill.user.id, 12.5, {"word": 3, "brush": 1})


def test_reading_an_annotation_writes_nothing(a_bill: Bill) -> None:
    before = annotation_view(a_bill.workspace, a_bill.id)
    assert annotation_view(a_bill.workspace, a_bill.id) == before
    with a_bill.workspace.database.read() as session:
        assert session.scalar(select(func.count(Revision.id))) == 1


def test_names_of_tools_are_names() -> None:
    RevisionRequest(idempotency_key="12345678", base=1, interactions={"w" * 40: 1})
    with pytest.raises(ValidationError, match="40 characters"):
        RevisionRequest(idempotency_key="12345678", base=1, interactions={"w" * 41: 1})
