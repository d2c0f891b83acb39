"""When a retraining starts without anybody asking for it."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import update

from db import changes
from db.base import now
from db.tables import Job, ModelVersion, Revision, Run
from engine.annotation.state import AnnotationState
from engine.datasets import snapshots
from engine.jobs import job_list, queue
from engine.projects.projects import change_settings
from engine.training.retraining import trigger
from engine.training.retraining.trigger_history import recent
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project, revise


@pytest.fixture
def impatient(workspace: Workspace) -> Workspace:
    """A workspace that waits for no quiet."""
    settings = workspace.settings.model_copy(update={"retrain_quiet_seconds": 0.0})
    return Workspace(settings, workspace.database, workspace.blobs)


def project_that_wants(workspace: Workspace, count: int) -> str:
    project = make_project(workspace)
    change_settings(workspace, project.id, retrain_after=count)
    return project.id


def run_on_all_of_it(workspace: Workspace, project_id: str) -> None:
    """The rows that a judged run on everything accepted so far leaves behind."""
    snapshot = snapshots.freeze(workspace, project_id, split="train")
    with workspace.database.write() as session:
        version = ModelVersion(number=0, checkpoint_sha256="a" * 64, code_version="0")
        job = Job(kind="retrain", project_id=project_id, status="done")
        session.add_all([version, job])
        session.flush()
        session.add(
            Run(
                project_id=project_id,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=version.id,
                seed=1,
                code_version="0",
                status="judged",
            )
        )


def test_enough_accepted_answers_start_one_retraining(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 6)
    make_bills(impatient, project_id, {"train": 2})
    jobs = trigger.check(impatient)
    assert [(job.kind, job.project_id) for job in jobs] == [("retrain", project_id)]
    assert trigger.check(impatient) == []
    assert len(job_list.list_jobs(impatient)) == 1


def test_documents_of_every_split_count(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 16)
    make_bills(impatient, project_id, {"train": 1, "recent": 2, "frozen": 2})
    assert trigger.check(impatient) == [], "three answers each"
    change_settings(impatient, project_id, retrain_after=15)
    assert len(trigger.check(impatient)) == 1


def test_it_waits_for_a_moment_of_quiet(workspace: Workspace) -> None:
    project_id = project_that_wants(workspace, 3)
    make_bills(workspace, project_id, {"train": 1})
    assert workspace.settings.retrain_quiet_seconds == 60
    assert trigger.check(workspace) == []
    with workspace.database.write() as session:
        session.execute(update(Revision).values(created_at=now() - timedelta(seconds=61)))
        changes.publish(session, "answers", None)
    assert len(trigger.check(workspace)) == 1


def test_what_a_run_has_seen_does_not_start_another(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 3)
    first = make_bills(impatient, project_id, {"train": 1})
    run_on_all_of_it(impatient, project_id)
    assert trigger.check(impatient) == []
    for annotation in first[:2]:
        revise(impatient, annotation, AnnotationState(no_answer=True))
    assert trigger.check(impatient) == []  # two are new, three are wanted
    revise(impatient, first[2], AnnotationState(no_answer=True))
    assert len(trigger.check(impatient)) == 1


def test_after_a_cancelled_or_failed_job_something_new_must_be_accepted(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 3)
    made = make_bills(impatient, project_id, {"train": 2})
    queue.cancel(impatient, trigger.check(impatient)[0].id)
    assert trigger.check(impatient) == []
    revise(impatient, made[0], AnnotationState(no_answer=True))
    assert len(trigger.check(impatient)) == 1


def test_a_project_can_leave_it_to_people(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 3)
    change_settings(impatient, project_id, retrain_automatically=False)
    make_bills(impatient, project_id, {"train": 2})
    assert trigger.check(impatient) == []


def test_each_project_is_looked_at_on_its_own(impatient: Workspace) -> None:
    one, other = make_project(impatient, "one"), make_project(impatient, "other")
    for project in (one, other):
        change_settings(impatient, project.id, retrain_after=4)
    make_bills(impatient, one.id, {"train": 2})
    make_bills(impatient, other.id, {"train": 1})
    assert [job.project_id for job in trigger.check(impatient)] == [one.id]


def grow_old(workspace: Workspace, annotation_id: str, days: float) -> None:
    with workspace.database.write() as session:
        moment = now() - timedelta(days=days)
        session.execute(update(Revision).where(Revision.annotation_id == annotation_id).values(created_at=moment))
        changes.publish(session, "answers", None)


def test_an_answer_that_waited_long_enough_starts_a_retraining_for_itself(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 20)
    made = make_bills(impatient, project_id, {"train": 1, "recent": 1})
    grow_old(impatient, made[0].id, 8)
    assert trigger.check(impatient) == [], "age is off until a project says how many days"
    change_settings(impatient, project_id, retrain_after_days=9)
    assert trigger.check(impatient) == []
    change_settings(impatient, project_id, retrain_after_days=7)
    [job] = trigger.check(impatient)
    [firing] = recent(impatient, project_id)
    assert (firing.trigger, firing.outcome, firing.job_id) == ("age", "asked", job.id)
    assert firing.message == "An accepted answer has waited for 8 days."
    queue.cancel(impatient, job.id)
    assert trigger.check(impatient) == []


def test_what_a_run_has_seen_does_not_grow_old(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 20)
    change_settings(impatient, project_id, retrain_after_days=7)
    made = make_bills(impatient, project_id, {"train": 2})
    grow_old(impatient, made[0].id, 8)
    run_on_all_of_it(impatient, project_id)
    revise(impatient, made[1], AnnotationState(no_answer=True))
    assert trigger.check(impatient) == []
    grow_old(impatient, made[1].id, 7.5)
    with impatient.database.write() as session:  # the run was before that
        session.execute(update(Job).values(created_at=now() - timedelta(days=8)))
    assert len(trigger.check(impatient)) == 1


def test_an_earlier_cancellation_does_not_keep_an_old_answer_waiting(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 20)
    change_settings(impatient, project_id, retrain_after_days=7)
    for annotation in make_bills(impatient, project_id, {"train": 1}):
        grow_old(impatient, annotation.id, 8)
    cancelled = queue.cancel(impatient, trigger.request(impatient, project_id).id)
    assert trigger.check(impatient) == [], "it was old already"
    with impatient.database.write() as session:
        session.get_one(Job, cancelled.id).created_at = now() - timedelta(days=5)
    [job] = trigger.check(impatient)
    queue.cancel(impatient, job.id)
    assert trigger.check(impatient) == []


def test_age_waits_for_quiet_too(workspace: Workspace) -> None:
    project_id = project_that_wants(workspace, 20)
    change_settings(workspace, project_id, retrain_after_days=7)
    made = make_bills(workspace, project_id, {"train": 1})
    grow_old(workspace, made[0].id, 8)
    assert trigger.check(workspace) == []
    for annotation in made[1:]:
        grow_old(workspace, annotation.id, 0.1)
    assert len(trigger.check(workspace)) == 1


def test_a_run_that_failed_has_learned_nothing(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 3)
    made = make_bills(impatient, project_id, {"train": 1})
    run_on_all_of_it(impatient, project_id)
    with impatient.database.write() as session:
        session.execute(update(Run).values(status="failed"))
    assert trigger.check(impatient) == [], "nothing was accepted since: it would fail again"
    revise(impatient, made[0], AnnotationState(no_answer=True))
    assert len(trigger.check(impatient)) == 1


def test_schedulers_that_look_at_the_same_moment_ask_once(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 3)
    make_bills(impatient, project_id, {"train": 1})
    ready, found = threading.Barrier(5), []

    def look() -> None:
        ready.wait()
        found.extend(trigger.check(impatient))

    schedulers = [threading.Thread(target=look) for _ in range(5)]
    for scheduler in schedulers:
        scheduler.start()
    for scheduler in schedulers:
        scheduler.join()
    assert len(found) == 1
    assert [one.trigger for one in recent(impatient, project_id)] == ["count"]


def test_answers_of_a_clock_that_was_ahead_are_learned_from_once(impatient: Workspace) -> None:
    project_id = project_that_wants(impatient, 3)
    make_bills(impatient, project_id, {"train": 1})
    with impatient.database.write() as session:
        session.execute(update(Revision).values(created_at=now() + timedelta(days=300)))
        changes.publish(session, "answers", None)
    [job] = trigger.check(impatient)
    queue.cancel(impatient, job.id)
    assert trigger.check(impatient) == []
