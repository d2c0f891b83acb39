"""Two units of work at once, of which neither sees the other before its commit, leave kept states right."""

from collections.abc import Callable

import pytest
from sqlalchemy import select

from db.tables import Annotation, AutomaticAnswer, Task
from engine.accounts.members import put_member, remove_member
from engine.accounts.users import change_user, ensure_local_user
from engine.annotation import removal
from engine.selection import auto_accept
from engine.tasks.opening import task_changes
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, judge, save
from tests.support.drift import find_drift
from tests.support.factories import pages_of
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version
from tests.support.two_at_once import POSTGRESQL, overlapping

Act = Callable[["Scene"], object]


class Scene:
    """An office with a submitted answer, a draft to a standard question, and one to a question asked freely."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.office = Office(workspace)
        self.project = self.office.project.id
        self.office.set(review_required=True)
        self.boss = ensure_local_user(workspace)
        self.office.ask(NUMBER, TOTAL, CUSTOMER)
        tasks = self.office.tasks()
        self.submitted = answer(workspace, tasks[0].id, self.office.ann)
        self.draft = begin(workspace, tasks[1].id, self.office.ann)
        self.free = begin(workspace, tasks[2].id, self.office.ben)
        self.office.ask(NUMBER, TOTAL)
        with workspace.database.write() as session:
            session.add(
                AutomaticAnswer(
                    project_id=self.project,
                    task_id=tasks[1].id,
                    model_version_id=make_version(workspace, None).id,
                    page_id=pages_of(workspace, tasks[1].document_id)[0].id,
                    answer={"words": [1], "mask": {"box": [0, 0, 0, 0], "counts": []}, "text": "", "score": 1.0},
                    score=1.0,
                    answered=1.0,
                    confidence=1.0,
                    threshold=0.9,
                )
            )


def reject(scene: Scene) -> None:
    judge(scene.workspace, scene.submitted.id, scene.office.rita, "rejected")


def submit(scene: Scene) -> None:
    save(scene.workspace, scene.draft.id, scene.office.ann, [1])


def submit_freely(scene: Scene) -> None:
    save(scene.workspace, scene.free.id, scene.office.ben, [1])


def leave(scene: Scene) -> None:
    remove_member(scene.workspace, scene.project, scene.office.ann.id, by=scene.boss)


def disable(scene: Scene) -> None:
    change_user(scene.workspace, scene.office.ann.id, disabled=True, by=scene.boss)


def demote(scene: Scene) -> None:
    change_user(scene.workspace, scene.office.ann.id, role="annotator", by=scene.boss)


def withdraw(scene: Scene) -> None:
    auto_accept.undo(scene.workspace, scene.project, by=scene.boss)


def close(scene: Scene) -> None:
    scene.office.ask("Who else?")


def reopen(scene: Scene) -> None:
    scene.office.ask(NUMBER, TOTAL, CUSTOMER)


def draw(scene: Scene) -> None:
    scene.office.set(overlap_share=1.0)


def take_away(scene: Scene) -> None:
    removal.remove(scene.workspace, scene.submitted.id, None, scene.boss.id)


PAIRS: list[tuple[Act, Act]] = [
    (reject, leave),
    (reject, disable),
    (reject, demote),
    (submit, withdraw),
    (submit, close),
    (submit, draw),
    (submit_freely, reopen),
    (reject, close),
    (take_away, close),
    (take_away, draw),
]
ORDERS = [pair for one, other in PAIRS for pair in ((one, other), (other, one))]


@POSTGRESQL
@pytest.mark.parametrize(("first", "second"), ORDERS, ids=lambda act: act.__name__)
def test_kept_states_are_right_after_changes_that_miss_each_other(
    workspace: Workspace, first: Act, second: Act
) -> None:
    scene = Scene(workspace)
    if demote in (first, second):
        remove_member(workspace, scene.project, scene.office.ann.id, by=scene.boss)
        change_user(workspace, scene.office.ann.id, role="admin", by=scene.boss)
    overlapping(workspace, lambda: first(scene), lambda: second(scene))
    assert not find_drift(workspace)
    task_changes.work_off(workspace, scene.project)
    assert not find_drift(workspace)


@POSTGRESQL
def test_who_returns_while_an_answer_is_rejected_has_the_place(workspace: Workspace) -> None:
    scene = Scene(workspace)
    remove_member(workspace, scene.project, scene.office.ann.id, by=scene.boss)
    overlapping(
        workspace,
        lambda: put_member(workspace, scene.project, scene.office.ann.id, "annotator", by=scene.boss),
        lambda: reject(scene),
    )
    with workspace.database.read() as session:
        same = (Task.document_id == Annotation.document_id) & (Task.question_id == Annotation.question_id)
        state = session.scalar(select(Task.state).join(Annotation, same).where(Annotation.id == scene.submitted.id))
    assert state == "returned"
    assert not find_drift(workspace)
