"""Agreement of a project: people with each other and with known answers, the model with what was accepted."""

from collections import OrderedDict
from collections.abc import Sequence

import pytest
from sqlalchemy import select

from db.tables import Annotation, ModelVersion, Prediction, Revision
from engine import leases
from engine.annotation.proposal import StoredAnswer
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.annotation.state import to_patch
from engine.datasets import snapshots
from engine.errors import NotFound
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.fields.types import FieldType
from engine.followers import catch_up
from engine.projects.projects import change_settings
from engine.statistics import project_agreement
from engine.tasks.standard_questions import replace_standard_questions
from engine.tasks.tasks import set_gold
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import answer, begin, edits, judge, make_person, save, tasks_of
from tests.support.factories import SIZE, bill, line, make_document, make_project, pages_of
from tests.support.task_actions import Campaign


class Team:
    """Three bills, one question; Ann, Ben and Cem answer, Rita reviews."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project = make_project(workspace)
        self.documents = [make_document(workspace, self.project.id, [bill(number)]) for number in range(3)]
        self.ann, self.ben, self.cem = (make_person(workspace, name, self.project.id) for name in ("Ann", "Ben", "Cem"))
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        replace_standard_questions(workspace, self.project.id, ["What is the total due?"], self.rita.id)
        self.tasks = [task.id for task in tasks_of(workspace, self.project.id)]

    def figures(self) -> project_agreement.ProjectAgreement:
        return project_agreement.project_agreement(self.workspace, self.project.id)

    def frozen(self) -> list[tuple[str, str]]:
        """(author, status) of what a snapshot takes, by document."""
        items = snapshots.load(self.workspace, snapshots.freeze(self.workspace, self.project.id))
        return [(item.author, item.status) for item in sorted(items, key=lambda item: item.document.id)]


@pytest.fixture
def team(workspace: Workspace) -> Team:
    return Team(workspace)


def propose(workspace: Workspace, annotation: Annotation, words: Sequence[int], prompts: object = None) -> None:
    """What the model proposed for an annotation."""
    page = pages_of(workspace, annotation.document_id)[0]
    boxes = [box for _, box in bill(0)]
    mask = to_patch(rasterise([boxes[at] for at in words], (SIZE[1], SIZE[0])))
    with workspace.database.write() as session:
        version = ModelVersion(number=0, checkpoint_sha256="a" * 64, code_version="0")
        session.add(version)
        session.flush()
        proposed = StoredAnswer(words=list(words), mask=mask, text="", score=0.5)
        session.add(
            Prediction(
                annotation_id=annotation.id,
                page_id=page.id,
                question_id=annotation.question_id,
                model_version_id=version.id,
                prompts=prompts or {},
                answer=proposed.model_dump(mode="json"),
                score=0.5,
                answered=0.9,
                milliseconds=1.0,
            )
        )


def test_people_are_compared_pair_by_pair_on_what_both_answered(team: Team) -> None:
    for person, words in ((team.ann, [4]), (team.ben, [4]), (team.cem, [1])):
        answer(team.workspace, team.tasks[0], person, words)
    answer(team.workspace, team.tasks[1], team.ann, [4])
    answer(team.workspace, team.tasks[1], team.ben, [])
    answer(team.workspace, team.tasks[2], team.ann, [4])
    found = team.figures()
    assert [(pair.people, pair.questions, pair.iou, pair.word_f1) for pair in found.pairs] == [
        (("Ann", "Ben"), 2, 0.5, 0.5),
        (("Ann", "Cem"), 1, 0.0, 0.0),
        (("Ben", "Cem"), 1, 0.0, 0.0),
    ]
    assert (found.between_people.questions, found.between_people.iou) == (4, 0.25)
    assert [(each.person, each.questions) for each in found.people] == [("Ann", 3), ("Ben", 3), ("Cem", 2)]


def test_what_somebody_mended_after_a_verdict_does_not_count_for_them(team: Team) -> None:
    change_settings(team.workspace, team.project.id, review_required=True)
    answer(team.workspace, team.tasks[0], team.ann, [4])
    late = answer(team.workspace, team.tasks[0], team.ben, [1])
    judge(team.workspace, late.id, team.rita, "rejected")
    save(team.workspace, late.id, team.ben, [4])
    assert team.figures().between_people.iou == 0.0


def test_a_reviewer_s_fix_is_not_the_annotator_s_agreement(team: Team) -> None:
    answer(team.workspace, team.tasks[0], team.ann, [4])
    wrong = answer(team.workspace, team.tasks[0], team.ben, [1])
    judge(
        team.workspace,
        wrong.id,
        team.rita,
        "fixed",
        edits=edits(team.workspace, team.documents[0].id, [4]),
    )
    assert team.figures().between_people.iou == 0.0


def test_a_correction_after_handing_in_does_not_count_for_them(team: Team) -> None:
    """Who has handed in sees the other answers, and could copy them."""
    answer(team.workspace, team.tasks[0], team.ann, [4])
    own = answer(team.workspace, team.tasks[0], team.ben, [1])
    save(team.workspace, own.id, team.ben, action="reopen", replace=False)
    save(team.workspace, own.id, team.ben, [4])
    assert team.figures().between_people.iou == 0.0


def test_what_was_copied_from_a_known_answer_does_not_count(team: Team) -> None:
    known = answer(team.workspace, team.tasks[0], team.rita, [4])
    set_gold(team.workspace, team.tasks[0], known.id, team.rita.id)
    own = answer(team.workspace, team.tasks[0], team.ann, [1])
    save(team.workspace, own.id, team.ann, action="reopen", replace=False)
    save(team.workspace, own.id, team.ann, [4])
    people = {each.person: (each.gold_questions, each.gold_iou) for each in team.figures().people}
    assert people["Ann"] == (1, 0.0)


def test_equal_values_at_other_places_and_other_values_at_the_same_place_are_seen(team: Team) -> None:
    """Ann and Ben mark one date as it is printed twice; Cem marks the same words as Ann, and corrects their text."""
    dated = FieldDefinition(name="issued", question="What is the date?", type="date")
    paper = make_document(team.workspace, team.project.id, [line("12.03.2026 March 12, 2026", y=20)], name="dates.png")
    replace_fields(team.workspace, team.project.id, [dated], team.rita.id)
    [task] = [task for task in tasks_of(team.workspace, team.project.id) if task.document_id == paper.id]
    answer(team.workspace, task.id, team.ann, [0])
    answer(team.workspace, task.id, team.ben, [1, 2, 3])
    cem = begin(team.workspace, task.id, team.cem)
    corrected = [*edits(team.workspace, paper.id, [0]), {"op": "text", "text": "13.03.2026"}]
    request = {"idempotency_key": "corrected", "base": 0, "action": "accept", "edits": corrected}
    append_revision(team.workspace, cem.id, RevisionRequest.model_validate(request), team.cem.id)
    found = team.figures()
    pairs = {pair.people: (pair.iou, pair.value_equal) for pair in found.pairs}
    assert pairs == {("Ann", "Ben"): (0.0, 1.0), ("Ann", "Cem"): (1.0, 0.0), ("Ben", "Cem"): (0.0, 0.0)}
    between = found.between_people
    assert (between.typed, between.equal_elsewhere, between.other_value_here) == (3, 1, 1)
    [by_question] = found.by_question
    assert (by_question.question, by_question.type, by_question.between_people) == (dated.question, "date", between)
    plain = dated.model_copy(update={"type": FieldType.STRING})
    replace_fields(team.workspace, team.project.id, [plain], team.rita.id)
    assert team.figures().between_people.value_equal == 0.0


def test_a_gold_answer_is_right_by_its_value_in_a_typed_field(team: Team) -> None:
    dated = FieldDefinition(name="issued", question="What is the date?", type="date")
    paper = make_document(team.workspace, team.project.id, [line("12.03.2026 March 12, 2026 Berlin", y=20)])
    replace_fields(team.workspace, team.project.id, [dated], team.rita.id)
    [task] = [task for task in tasks_of(team.workspace, team.project.id) if task.document_id == paper.id]
    known = answer(team.workspace, task.id, team.rita, [0])
    set_gold(team.workspace, task.id, known.id, team.rita.id)
    answer(team.workspace, task.id, team.ann, [1, 2, 3])
    answer(team.workspace, task.id, team.ben, [4])
    people = {person.person: (person.gold_iou, person.gold_right) for person in team.figures().people}
    assert people == {"Ann": (0.0, 1.0), "Ben": (0.0, 0.0), "Rita": (None, None)}
    reliability = {row.person: row.reliability for row in team.figures().reliability}
    assert reliability["Ann"] > reliability["Ben"]


def test_people_are_measured_against_known_answers(team: Team) -> None:
    for task in team.tasks[:2]:
        known = answer(team.workspace, task, team.rita, [4])
        set_gold(team.workspace, task, known.id, team.rita.id)
    answer(team.workspace, team.tasks[0], team.ann, [4])
    answer(team.workspace, team.tasks[1], team.ann, [1])
    answer(team.workspace, team.tasks[0], team.ben, [4])
    people = {each.person: (each.gold_questions, each.gold_iou) for each in team.figures().people}
    assert people["Ann"] == (2, 0.5)
    assert people["Ben"] == (1, 1.0)
    assert people["Rita"] == (0, None)


def test_the_model_is_measured_by_what_it_showed_against_what_was_accepted(team: Team) -> None:
    change_settings(team.workspace, team.project.id, review_required=True)
    good, bad, waiting = (answer(team.workspace, task, team.ann, [4]) for task in team.tasks)
    for annotation, words in ((good, [4]), (bad, [1]), (waiting, [4])):
        propose(team.workspace, annotation, words)
    propose(team.workspace, bad, [4], prompts={"points": [[1.0, 1.0, True]]})  # after a person helped: not its own
    for annotation in (good, bad):
        judge(team.workspace, annotation.id, team.rita)
    found = team.figures().model
    assert (found.questions, found.iou, found.word_f1) == (2, 0.5, 0.5)


def test_an_unknown_project_has_no_agreement(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        project_agreement.project_agreement(workspace, "0" * 32)


def test_several_accepted_answers_to_a_question_count_once_in_training(team: Team) -> None:
    answer(team.workspace, team.tasks[0], team.ann)
    answer(team.workspace, team.tasks[0], team.ben)
    answer(team.workspace, team.tasks[1], team.ben)
    assert team.frozen() == [("Ann", "accepted"), ("Ben", "accepted")]  # the first one stands
    with team.workspace.database.read() as session:
        assert len(snapshots.accepted_revisions(session, team.project.id)) == 2


def test_an_answer_that_a_reviewer_judged_or_mended_goes_before_a_newer_one(team: Team) -> None:
    judged = answer(team.workspace, team.tasks[0], team.ann)
    judge(team.workspace, judged.id, team.rita)
    answer(team.workspace, team.tasks[0], team.ben)
    mended = answer(team.workspace, team.tasks[1], team.ann)
    document = team.documents[1].id
    judge(team.workspace, mended.id, team.rita, "fixed", edits=edits(team.workspace, document, [3, 4]))
    answer(team.workspace, team.tasks[1], team.ben)
    assert team.frozen() == [("Ann", "accepted"), ("Ann", "fixed")]


def test_a_known_answer_is_never_replaced_by_the_answer_of_who_was_measured(team: Team) -> None:
    known = answer(team.workspace, team.tasks[0], team.rita)
    set_gold(team.workspace, team.tasks[0], known.id, team.rita.id)
    measured = answer(team.workspace, team.tasks[0], team.ann, [1])
    judge(team.workspace, measured.id, team.rita, becomes_label=True)
    assert team.frozen() == [("Rita", "accepted")]


def test_who_asks_for_drafts_gets_them_beside_the_one_accepted_answer(team: Team) -> None:
    answer(team.workspace, team.tasks[0], team.ann)
    answer(team.workspace, team.tasks[0], team.ben)
    draft = answer(team.workspace, team.tasks[0], team.cem)
    save(team.workspace, draft.id, team.cem, action="reopen", replace=False)
    snapshot = snapshots.freeze(team.workspace, team.project.id, statuses=("accepted", "fixed", "draft"))
    assert sorted(item.author for item in snapshots.load(team.workspace, snapshot)) == ["Ann", "Cem"]


def test_figures_that_were_remembered_follow_every_change(team: Team) -> None:
    change_settings(team.workspace, team.project.id, review_required=True)
    one = answer(team.workspace, team.tasks[0], team.ann, [4])
    assert team.figures().between_people.questions == 0
    answer(team.workspace, team.tasks[0], team.ben, [1])
    assert team.figures().between_people.iou == 0.0
    judge(team.workspace, one.id, team.rita)
    assert team.figures().model.questions == 0
    propose(team.workspace, one, [4])
    assert (team.figures().model.questions, team.figures().model.iou) == (1, 1.0)
    known = answer(team.workspace, team.tasks[1], team.rita, [4])
    answer(team.workspace, team.tasks[1], team.ann, [4])
    assert all(each.gold_questions == 0 for each in team.figures().people)
    set_gold(team.workspace, team.tasks[1], known.id, team.rita.id)
    assert {each.person: each.gold_questions for each in team.figures().people}["Ann"] == 1


def test_remembered_comparisons_equal_those_made_anew_after_many_actions(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign(workspace, seed=5)
    campaign.office.set(overlap_share=1.0, overlap_people=2)
    project = campaign.office.project.id
    for _ in range(12 if workspace.database.dialect == "sqlite" else 5):
        for _ in range(10):
            campaign.act()
        remembered = project_agreement.project_agreement(workspace, project)
        with monkeypatch.context() as patch:
            patch.setattr(project_agreement, "_remembered", OrderedDict())
            assert project_agreement.project_agreement(workspace, project) == remembered, campaign.done


def test_agreement_is_told_apart_by_whether_a_proposal_was_shown(team: Team) -> None:
    for task, words in zip(team.tasks, ([4], [4], [1]), strict=True):
        for person, marked in ((team.ann, [4]), (team.ben, words)):
            given = answer(team.workspace, task, person, marked)
            if task == team.tasks[0]:
                propose(team.workspace, given, [4])
    found = team.figures()
    assert (found.between_people.questions, found.with_proposal.questions, found.without_proposal.questions) == (
        3,
        1,
        2,
    )
    assert (found.with_proposal.iou, found.without_proposal.iou) == (1.0, 0.5)


def test_haste_lowers_reliability_and_is_named_whatever_the_browser_counted(team: Team) -> None:
    """Both agree with each other on everything; Ann's saves come at once after her leases, and count no second."""
    replace_standard_questions(team.workspace, team.project.id, ["What is due?", "Which number?"], team.rita.id)
    change_settings(team.workspace, team.project.id, overlap_share=1.0)
    tasks = [task.id for task in tasks_of(team.workspace, team.project.id)]
    for task in tasks:
        with team.workspace.database.write() as session:
            leases.acquire(session, leases.task_subject(task, team.ann.id), team.ann.id)
        save(team.workspace, begin(team.workspace, task, team.ann).id, team.ann, [4], seconds=0.0)
        save(team.workspace, begin(team.workspace, task, team.ben).id, team.ben, [4], seconds=6.0)
    catch_up(team.workspace)
    ann, ben = sorted(team.figures().reliability, key=lambda row: row.person)
    assert ann.hasty_share == 1.0 and ann.reliability == 0 and "in under 1.5 seconds" in (ann.sentence or "")
    assert ben.hasty_share == 0 and ben.reliability == 1.0 and ben.sentence is None


def test_seconds_are_at_most_those_since_the_lease(team: Team) -> None:
    task = team.tasks[0]
    with team.workspace.database.write() as session:
        leases.acquire(session, leases.task_subject(task, team.ann.id), team.ann.id)
    save(team.workspace, begin(team.workspace, task, team.ann).id, team.ann, [4], seconds=3600.0)
    with team.workspace.database.read() as session:
        assert 0 < session.scalars(select(Revision.seconds)).one() < 600
