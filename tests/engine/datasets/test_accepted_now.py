"""Accepted revisions are counted again after every change, and only then."""

import pytest

from db import changes as changes_of_rows
from engine.annotation.removal import remove, restore
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.datasets import snapshots
from engine.datasets.accepted_now import Remaining, accepted_now
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_document, make_project

QUESTION = "What is the total due?"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Documents whose answers were read, from now on; None: all of a project."""
    read: list[object] = []
    real = snapshots.accepted_by_document

    def noting(session, project_id, splits=None, documents=None):  # type: ignore[no-untyped-def]
        read.append(documents)
        return real(session, project_id, splits, documents)

    monkeypatch.setattr(snapshots, "accepted_by_document", noting)
    return read


def test_answers_are_read_again_only_of_changed_documents(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(workspace).id
    answer = accept(workspace, make_document(workspace, project, [bill(1)]), QUESTION, [4])
    read = counted(monkeypatch)
    first = accepted_now(workspace, project, ("train",))
    assert first.count == 1 and accepted_now(workspace, project, ("train",)) is first and read == [None]
    second = make_document(workspace, project, [bill(2)])
    accept(workspace, second, QUESTION, [4])
    assert accepted_now(workspace, project, ("train",)).count == 2 and read == [None, {second.id}]
    assert len(first.revisions()) == 1, "what was returned before is somebody else's"
    reopened = RevisionRequest(idempotency_key="taken back", base=1, action="reopen", edits=[])
    append_revision(workspace, answer.id, reopened, answer.author_id)
    assert accepted_now(workspace, project, ("train",)).count == 1
    again = RevisionRequest(idempotency_key="and forth", base=2, action="accept", edits=[])
    append_revision(workspace, answer.id, again, answer.author_id)
    assert accepted_now(workspace, project, ("train",)).count == 2
    assert read[2:] == [{answer.document_id}, {answer.document_id}]
    with workspace.database.write() as session:
        changes_of_rows.publish(session, "answers", project)  # somewhere in the project
    with workspace.database.read() as session:
        assert accepted_now(workspace, project, ("train",)).revisions() == snapshots.accepted_revisions(
            session, project, ("train",)
        )
    assert read[4] is None


def test_removed_and_restored_answers_are_seen_at_once(workspace: Workspace) -> None:
    project = make_project(workspace).id
    answer = accept(workspace, make_document(workspace, project, [bill(1)]), QUESTION, [4])
    assert accepted_now(workspace, project, ("train",)).count == 1
    remove(workspace, answer.id, 1, answer.author_id)
    assert not accepted_now(workspace, project, ("train",)).count
    restore(workspace, answer.id, answer.author_id)
    assert accepted_now(workspace, project, ("train",)).count == 1


def test_what_remains_without_a_snapshot_follows_changes(workspace: Workspace) -> None:
    project = make_project(workspace).id
    answers = [accept(workspace, make_document(workspace, project, [bill(at)]), QUESTION, [4]) for at in range(1, 5)]
    accepted = accepted_now(workspace, project, ("train",))
    by_time = sorted(accepted.revisions().items(), key=lambda each: each[1])
    seen = {revision for revision, _ in by_time[:2]}
    assert accepted.without("first", seen) == Remaining(2, by_time[2][1])
    assert accepted.without("second", set()) == Remaining(4, by_time[0][1])
    remove(workspace, answers[3].id, 1, answers[3].author_id)
    fewer = accepted_now(workspace, project, ("train",))
    assert fewer.without("first", seen) == Remaining(1, by_time[2][1])
    assert fewer.newest == by_time[2][1] and accepted.newest == by_time[3][1]
    assert fewer.without("third", set(fewer.revisions())) == Remaining(0, None)
