"""Reviews: a reviewer is not the author, a verdict is one revision, and a rejection has a reason."""

import threading
import uuid
from typing import Any

import pytest
from sqlalchemy import func, select, update

from db.base import now
from db.tables import Annotation, Lease, Project, Review, Revision, User
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import RevisionConflict
from engine.annotation.views import annotation_view
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.projects.projects import change_settings
from engine.tasks.review import review_queue
from engine.tasks.review.verdicts import ReviewRequest, review, reviews_of, revisions_of
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, edits, judge, make_person, save, tasks_of
from tests.support.factories import accept, bill, make_document, make_project

pytestmark = pytest.mark.usefixtures("figures_at_once")

QUESTION = "What is the total due?"


class Desk:
    """A project that wants reviews, with an answer that Ann has handed in."""

    def __init__(self, workspace: Workspace, bills: int = 1) -> None:
        self.workspace = workspace
        self.project: Project = make_project(workspace)
        change_settings(workspace, self.project.id, review_required=True)
        self.ann, self.ben = (make_person(workspace, name, self.project.id) for name in ("Ann", "Ben"))
        self.rita, self.rolf = (make_person(workspace, name, self.project.id, "reviewer") for name in ("Rita", "Rolf"))
        for number in range(bills):
            make_document(workspace, self.project.id, [bill(number)])
        replace_standard_questions(workspace, self.project.id, [QUESTION], self.rita.id)
        self.tasks = tasks_of(workspace, self.project.id)
        self.answers = [answer(workspace, task.id, self.ann, [4]) for task in self.tasks]
        self.id = self.answers[0].id

    def status(self) -> tuple[str, int]:
        with self.workspace.database.read() as session:
            annotation = session.get_one(Annotation, self.id)
            return annotation.status, annotation.head

    def next(self, reviewer: User, after: str | None = None) -> review_queue.NextReview:
        return review_queue.next_review(self.workspace, self.project.id, reviewer.id, after)


@pytest.fixture
def desk(workspace: Workspace) -> Desk:
    return Desk(workspace)


def test_where_reviews_are_wanted_an_annotator_s_accept_is_a_submission(desk: Desk) -> None:
    assert desk.status() == ("submitted", 1)
    assert [line.action for line in revisions_of(desk.workspace, desk.id)] == ["submit"]


@pytest.mark.parametrize("who", ["reviewer", "admin"])
def test_a_reviewer_s_own_accept_stands(desk: Desk, who: str) -> None:
    person = desk.rita if who == "reviewer" else ensure_local_user(desk.workspace)
    assert save(desk.workspace, answer(desk.workspace, desk.tasks[0].id, person).id, person).status == "accepted"


def test_without_reviews_accept_is_accept(desk: Desk) -> None:
    change_settings(desk.workspace, desk.project.id, review_required=False)
    assert save(desk.workspace, desk.id, desk.ann).status == "accepted"


def test_an_annotator_changes_no_answer_but_their_own(desk: Desk) -> None:
    with pytest.raises(Forbidden, match="belongs to Ann"):
        save(desk.workspace, desk.id, desk.ben, [1], action="edit")
    assert desk.status() == ("submitted", 1)
    assert save(desk.workspace, desk.id, desk.rita, [1], action="edit").revision == 2


@pytest.mark.parametrize("verdict", ["accepted", "rejected"])
def test_a_verdict_is_a_revision_by_the_reviewer_with_the_state_that_was_judged(desk: Desk, verdict: str) -> None:
    before = annotation_view(desk.workspace, desk.id).state
    saved = judge(desk.workspace, desk.id, desk.rita, verdict, quality=True, completeness=False, seconds=7.5)
    assert (saved.revision, saved.status, saved.state) == (2, verdict, before)
    assert desk.status() == (verdict, 2)
    line = reviews_of(desk.workspace, desk.id)[0]
    assert (line.reviewer, line.verdict, line.revision, line.quality, line.completeness, line.reason) == (
        "Rita",
        verdict,
        1,
        True,
        False,
        "Look again.",
    )
    newest = revisions_of(desk.workspace, desk.id)[-1]
    assert (newest.author, newest.action, newest.seconds) == ("Rita", verdict.removesuffix("ed"), 0)
    with desk.workspace.database.read() as session:
        assert session.scalar(select(Review.seconds)) == 7.5


def test_a_fix_carries_what_the_reviewer_mended(desk: Desk) -> None:
    document = desk.tasks[0].document_id
    saved = judge(desk.workspace, desk.id, desk.rita, "fixed", edits=edits(desk.workspace, document, [3, 4]))
    assert (saved.status, annotation_view(desk.workspace, desk.id).text) == ("fixed", "due: 10.50")
    assert revisions_of(desk.workspace, desk.id)[-1].action == "fix"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"verdict": "rejected", "reason": "  "}, "Give a reason"),
        ({"verdict": "fixed"}, "Nothing was changed"),
        ({"verdict": "accepted", "edits": [{"op": "no_answer", "value": True}]}, "Edits are allowed"),
        ({"verdict": "fixed", "edits": [{"op": "no_answer", "value": False}, {"op": "clear", "page": "?"}]}, "page"),
    ],
)
def test_a_verdict_that_cannot_be_leaves_nothing(desk: Desk, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        judge(desk.workspace, desk.id, desk.rita, **more)
    assert desk.status() == ("submitted", 1)
    assert reviews_of(desk.workspace, desk.id) == []


def test_nobody_judges_their_own_answer(desk: Desk) -> None:
    with desk.workspace.database.write() as session:
        session.get_one(User, desk.ann.id).role = "admin"
    with pytest.raises(Forbidden, match="your own"):
        judge(desk.workspace, desk.id, desk.ann)
    save(desk.workspace, desk.id, desk.rita, [1], action="submit")  # now it says what Rita says
    with pytest.raises(Forbidden, match="your own"):
        judge(desk.workspace, desk.id, desk.rita)
    assert judge(desk.workspace, desk.id, desk.rolf).status == "accepted"


def test_only_reviewers_of_the_project_judge_by_whatever_way_they_come(desk: Desk) -> None:
    """Routes ask too; the command line, and what comes after it, do not go through routes."""
    annotator = make_person(desk.workspace, "anton", desk.project.id, "annotator")
    stranger = make_person(desk.workspace, "otto", make_project(desk.workspace, "elsewhere").id, "admin")
    with desk.workspace.database.write() as session:
        session.get_one(User, desk.rolf.id).disabled_at = now()
    for person, refusal in ((annotator, Forbidden), (stranger, NotFound), (desk.rolf, NotFound)):
        with pytest.raises(refusal):
            judge(desk.workspace, desk.id, person)
    assert reviews_of(desk.workspace, desk.id) == []
    assert judge(desk.workspace, desk.id, ensure_local_user(desk.workspace)).status == "accepted"


def test_a_reviewer_may_take_a_verdict_back(desk: Desk) -> None:
    judge(desk.workspace, desk.id, desk.rita, "rejected")
    assert judge(desk.workspace, desk.id, desk.rita, "accepted").status == "accepted"
    assert [line.verdict for line in reviews_of(desk.workspace, desk.id)] == ["rejected", "accepted"]


def test_a_draft_is_not_judged(desk: Desk) -> None:
    save(desk.workspace, desk.id, desk.ann, action="reopen", replace=False)
    with pytest.raises(Refused, match="still a draft"):
        judge(desk.workspace, desk.id, desk.rita)
    with pytest.raises(NotFound):
        review(
            desk.workspace,
            "0" * 32,
            ReviewRequest(idempotency_key="12345678", base=1, verdict="accepted"),
            desk.rita.id,
        )


def test_an_answer_that_moved_on_is_not_judged_unseen(desk: Desk) -> None:
    save(desk.workspace, desk.id, desk.ann, [1])
    with pytest.raises(RevisionConflict, match="the newest is revision 2"):
        judge(desk.workspace, desk.id, desk.rita, base=1)
    assert reviews_of(desk.workspace, desk.id) == []


def test_the_same_verdict_sent_again_or_twice_at_once_is_one(desk: Desk) -> None:
    request = ReviewRequest(
        idempotency_key=uuid.uuid4().hex, base=1, verdict="rejected", reason="The currency is missing."
    )
    results: list[int] = []
    failures: list[BaseException] = []

    def send() -> None:
        try:
            results.append(review(desk.workspace, desk.id, request, desk.rita.id).revision)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    send()
    assert (failures, set(results), len(results)) == ([], {2}, 5)
    assert len(reviews_of(desk.workspace, desk.id)) == 1


def test_of_two_reviewers_who_judge_at_once_one_hears_of_the_other(desk: Desk) -> None:
    outcomes: list[str] = []

    def send(reviewer: User, verdict: str) -> None:
        try:
            outcomes.append(judge(desk.workspace, desk.id, reviewer, verdict, base=1).status)
        except RevisionConflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=send, args=pair) for pair in ((desk.rita, "accepted"), (desk.rolf, "rejected"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 2 and "conflict" in outcomes
    assert len(reviews_of(desk.workspace, desk.id)) == 1
    assert desk.status()[0] in outcomes


def test_a_rejected_answer_that_is_mended_comes_back_for_review(desk: Desk) -> None:
    judge(desk.workspace, desk.id, desk.rita, "rejected")
    assert desk.next(desk.rolf).annotation_id is None
    save(desk.workspace, desk.id, desk.ann, [3, 4])
    assert desk.next(desk.rolf).annotation_id == desk.id


def test_the_oldest_answer_comes_first_and_no_two_reviewers_get_the_same(workspace: Workspace) -> None:
    desk = Desk(workspace, bills=3)
    first, second, third = (each.id for each in desk.answers)
    assert desk.next(desk.rita).annotation_id == first
    assert desk.next(desk.rolf).annotation_id == second
    assert desk.next(desk.rita).annotation_id == first  # what one holds comes first
    passed = desk.next(desk.rita, first)
    assert (passed.annotation_id, passed.to_review) == (third, 3)
    assert desk.next(desk.rita, third).annotation_id == first
    judge(workspace, first, desk.rita)
    assert desk.next(desk.rita, first).annotation_id == third


def test_reviewers_who_ask_at_the_same_moment_get_different_answers(workspace: Workspace) -> None:
    desk = Desk(workspace, bills=6)
    reviewers = [make_person(workspace, f"Reviewer {number}", desk.project.id, "reviewer") for number in range(6)]
    taken: list[str | None] = []
    start = threading.Barrier(len(reviewers))

    def take(reviewer: User) -> None:
        start.wait()
        taken.append(desk.next(reviewer).annotation_id)

    threads = [threading.Thread(target=take, args=(reviewer,)) for reviewer in reviewers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, taken)) == sorted(each.id for each in desk.answers)


def test_answers_that_people_disagree_on_come_first(workspace: Workspace) -> None:
    desk = Desk(workspace, bills=3)
    answer(workspace, desk.tasks[1].id, desk.ben, [4])
    answer(workspace, desk.tasks[2].id, desk.ben, [1])
    found = desk.next(desk.rita)
    assert found.annotation_id == desk.answers[2].id
    lines = review_queue.waiting_answers(workspace, desk.project.id, desk.rita.id)
    assert [line.disputed for line in lines] == [True, True, False, False, False]


def test_a_review_lease_runs_out_and_a_late_heartbeat_names_who_has_it(desk: Desk) -> None:
    assert desk.next(desk.rita).annotation_id == desk.id
    with pytest.raises(Conflict, match="reviewed by Rita, until"):
        review_queue.heartbeat(desk.workspace, desk.id, desk.rolf.id)
    assert "Rita is reviewing the last answer, until" in (desk.next(desk.rolf).reason or "")
    with desk.workspace.database.write() as session:
        session.execute(update(Lease).values(expires_at=now()))
    assert desk.next(desk.rolf).annotation_id == desk.id
    with pytest.raises(Conflict, match="reviewed by Rolf, until"):
        review_queue.heartbeat(desk.workspace, desk.id, desk.rita.id)
    review_queue.release(desk.workspace, desk.id, desk.rita.id)
    assert review_queue.heartbeat(desk.workspace, desk.id, desk.rolf.id) > now()
    review_queue.release(desk.workspace, desk.id, desk.rolf.id)
    assert desk.next(desk.rita).annotation_id == desk.id


def test_an_empty_review_queue_says_why(desk: Desk) -> None:
    with desk.workspace.database.write() as session:
        session.get_one(User, desk.ann.id).role = "admin"
    assert "Only your own answers" in (desk.next(desk.ann).reason or "")
    judge(desk.workspace, desk.id, desk.rita)
    assert "has been judged" in (desk.next(desk.rita).reason or "")
    change_settings(desk.workspace, desk.project.id, review_required=False)
    assert "need none" in (desk.next(desk.rita).reason or "")


def test_an_answer_that_was_imported_can_be_judged(desk: Desk) -> None:
    document = make_document(desk.workspace, desk.project.id, [bill(9)])
    imported = accept(desk.workspace, document, QUESTION, [4], author="importer")
    assert judge(desk.workspace, imported.id, desk.rita, "rejected").revision == 2


def test_reading_history_and_verdicts_writes_nothing(desk: Desk) -> None:
    reviews_of(desk.workspace, desk.id)
    revisions_of(desk.workspace, desk.id)
    review_queue.waiting_answers(desk.workspace, desk.project.id, desk.rita.id)
    with desk.workspace.database.read() as session:
        assert session.scalar(select(func.count(Revision.id))) == 1
        assert session.scalar(select(func.count(Lease.subject))) == 0
