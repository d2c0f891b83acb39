"""What is old and named by nobody goes after the days of the settings; everything else stays, on both databases."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from db.base import now
from db.ids import first_id
from db.tables import Annotation, AuditEntry, Invitation, Job, LoginSession, Page, Prediction
from engine import audit
from engine.accounts import sessions
from engine.accounts.digests import digest
from engine.annotation.proposal import newest_proposal
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.documents.reading.reading_state import CUT_OFF
from engine.lifecycle import retention
from engine.workspace import Workspace
from tests.support.annotators import begin, edits, tasks_of
from tests.support.office import Office

OLD, NEW = timedelta(days=40), timedelta(days=1)
POINT = {"points": [{"x": 1, "y": 1, "positive": True}]}


@pytest.fixture
def office(workspace: Workspace) -> Office:
    days = {"keep_predictions_days": 30, "keep_sessions_days": 30, "keep_jobs_days": 30}
    return Office(replace(workspace, settings=workspace.settings.model_copy(update=days)))


def test_old_proposals_go_unless_somebody_built_on_them_or_a_page_shows_them(office: Office) -> None:
    workspace, first, second = office.workspace, *tasks_of(office.workspace, office.project.id)[:2]
    edited, untouched = begin(workspace, first.id, office.ann), begin(workspace, second.id, office.ann)
    built_on = _predict(office, edited.id, OLD + timedelta(days=3))
    replaced = _predict(office, edited.id, OLD + timedelta(days=2), POINT)
    shown_alone = _predict(office, edited.id, OLD + timedelta(days=1))
    newest_click = _predict(office, edited.id, OLD, POINT)
    overtaken = _predict(office, untouched.id, OLD + timedelta(days=1))
    young_before = _predict(office, untouched.id, NEW + timedelta(hours=1))
    shown = _predict(office, untouched.id, NEW)
    _build_on(office, edited, built_on)
    counted = retention.clean_up(workspace, delete_rows=False)
    before = _predictions(workspace)
    assert {built_on, replaced, shown_alone, newest_click, overtaken, young_before, shown} <= before
    deleted = retention.clean_up(workspace, delete_rows=True)
    assert before - _predictions(workspace) == {replaced, overtaken}
    assert counted == deleted
    assert deleted[0].rows == 2
    with workspace.database.read() as session:
        proposal = newest_proposal(session, untouched.id)
        assert proposal is not None
        assert proposal.id == shown


def test_a_proposal_that_somebody_builds_on_while_rows_are_deleted_stays(office: Office, monkeypatch) -> None:
    workspace = office.workspace
    task = tasks_of(workspace, office.project.id)[0]
    answer = begin(workspace, task.id, office.ann)
    old = _predict(office, answer.id, OLD)
    _predict(office, answer.id, NEW)
    keys = retention._keys

    def look_then_save(*arguments):
        for ids in keys(*arguments):
            if old in ids:
                _build_on(office, answer, old)
            yield ids

    monkeypatch.setattr(retention, "_keys", look_then_save)
    assert retention.clean_up(workspace, delete_rows=True)[0].rows == 0
    assert old in _predictions(workspace)


def test_ended_logins_expired_invitations_and_finished_jobs_go(office: Office) -> None:
    workspace, project, ann = office.workspace, office.project.id, office.ann.id
    with workspace.database.write() as session:
        living, ended, expired = (sessions.begin(workspace, session, ann) for _ in range(3))
        session.flush()
        session.get_one(LoginSession, digest(ended)).revoked_at = now() - OLD
        session.get_one(LoginSession, digest(expired)).expires_at = now() - OLD
        for name, age in (("a" * 64, OLD), ("b" * 64, NEW)):
            session.add(
                Invitation(
                    token_sha256=name, project_id=project, role="annotator", created_by=ann, expires_at=now() - age
                )
            )
        for name, age, status, result in (
            ("done", OLD, "done", {}),
            ("cut off", OLD, "done", {CUT_OFF: True}),
            ("cancelled", OLD, "cancelled", {}),
            ("young", NEW, "done", {}),
        ):
            session.add(
                Job(
                    id=first_id(now() - age) + uuid.uuid4().hex[12:],
                    project_id=project,
                    kind="read",
                    asked_as=name,
                    status=status,
                    result=result,
                    finished_at=now() - age,
                )
            )
    rows = {outcome.name: outcome.rows for outcome in retention.clean_up(workspace, delete_rows=True)}
    assert rows == {"unused proposals": 0, "ended logins": 2, "expired invitations": 1, "finished jobs": 1}
    with workspace.database.read() as session:
        assert session.get(LoginSession, digest(living)) is not None
        assert set(session.scalars(select(Invitation.token_sha256))) == {"b" * 64}
        assert {"cut off", "cancelled", "young"} <= set(session.scalars(select(Job.asked_as)))
        assert "done" not in set(session.scalars(select(Job.asked_as)))
    expected = "ended logins 2, expired invitations 1, finished jobs 1"
    assert audit.entries(workspace)[0].what == f"deleted rows that were older than the settings allow: {expected}"


def test_a_worker_deletes_what_came_of_age_in_the_last_days(office: Office) -> None:
    workspace = office.workspace
    answer = begin(workspace, tasks_of(workspace, office.project.id)[0].id, office.ann)
    long_ago = _predict(office, answer.id, OLD)
    lately = _predict(office, answer.id, timedelta(days=33))
    shown = _predict(office, answer.id, NEW)
    retention.look_after(workspace)
    assert {long_ago, lately, shown} & _predictions(workspace) == {long_ago, shown}
    again = _predict(office, answer.id, timedelta(days=34))
    retention.look_after(workspace)  # within the hour
    assert again in _predictions(workspace)
    assert retention.clean_up(workspace, delete_rows=True)[0].rows == 2


def test_without_days_everything_stays(office: Office) -> None:
    days = {"keep_predictions_days": 0, "keep_sessions_days": 0, "keep_jobs_days": 0}
    workspace = replace(office.workspace, settings=office.workspace.settings.model_copy(update=days))
    answer = begin(workspace, tasks_of(workspace, office.project.id)[0].id, office.ann)
    old = _predict(office, answer.id, OLD)
    _predict(office, answer.id, NEW)
    assert [outcome.rows for outcome in retention.clean_up(workspace, delete_rows=True)] == [0, 0, 0, 0]
    assert old in _predictions(workspace)
    with workspace.database.read() as session:
        assert session.scalar(select(AuditEntry.id).where(AuditEntry.action == "cleanup")) is None


def _predict(office: Office, annotation_id: str, age: timedelta, prompts: Mapping[str, object] | None = None) -> str:
    """Add a proposal of a past time; return its id."""
    with office.workspace.database.write() as session:
        annotation = session.get_one(Annotation, annotation_id)
        page = session.scalars(select(Page.id)).first()
        moment = now() - age
        made = Prediction(
            id=first_id(moment) + uuid.uuid4().hex[12:],
            annotation_id=annotation_id,
            page_id=page,
            question_id=annotation.question_id,
            prompts=dict(prompts or {}),
            answer={"words": [4], "mask": {}, "text": "12"},
            score=0.5,
            answered=0.5,
            milliseconds=1.0,
            created_at=moment,
        )
        session.add(made)
        session.flush()
        return made.id


def _build_on(office: Office, annotation: Annotation, prediction_id: str) -> None:
    request = RevisionRequest(
        idempotency_key=uuid.uuid4().hex,
        base=0,
        action="edit",
        edits=edits(office.workspace, annotation.document_id, [4]),
        prediction_id=prediction_id,
    )
    append_revision(office.workspace, annotation.id, request, office.ann.id)


def _predictions(workspace: Workspace) -> set[str]:
    with workspace.database.read() as session:
        return set(session.scalars(select(Prediction.id)))
