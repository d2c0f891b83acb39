"""Accepted revisions are counted again after every change, and only then."""

import pytest

from engine import changes
from engine.annotation.removal import remove, restore
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.datasets import snapshots
from engine.datasets.accepted_now import accepted_now
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_document, make_project

QUESTION = "What is the total due?"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Projects whose answers were read, from now on."""
    read: list[str] = []
    real = snapshots.accepted_revisions

    def noting(session, project_id, splits=None):  # type: ignore[no-untyped-def]
        read.append(project_id)
        return real(session, project_id, splits)

    monkeypatch.setattr(snapshots, "accepted_revisions", noting)
    return read


def test_answers_are_read_again_only_after_a_change(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(workspace).id
    answer = accept(workspace, make_document(workspace, project, [bill(1)]), QUESTION, [4])
    read = counted(monkeypatch)
    first = accepted_now(workspace, project, ("train",))
    assert len(first) == 1 and accepted_now(workspace, project, ("train",)) is first and len(read) == 1
    accept(workspace, make_document(workspace, project, [bill(2)]), QUESTION, [4])
    assert len(accepted_now(workspace, project, ("train",))) == 2 and len(read) == 2
    reopened = RevisionRequest(idempotency_key="taken back", base=1, action="reopen", edits=[])
    append_revision(workspace, answer.id, reopened, answer.author_id)
    assert len(accepted_now(workspace, project, ("train",))) == 1
    again = RevisionRequest(idempotency_key="and forth", base=2, action="accept", edits=[])
    append_revision(workspace, answer.id, again, answer.author_id)
    with workspace.database.read() as session:
        assert accepted_now(workspace, project, ("train",)) == snapshots.accepted_revisions(
            session, project, ("train",)
        )


def test_removed_and_restored_answers_are_seen_at_once(workspace: Workspace) -> None:
    project = make_project(workspace).id
    answer = accept(workspace, make_document(workspace, project, [bill(1)]), QUESTION, [4])
    assert len(accepted_now(workspace, project, ("train",))) == 1
    remove(workspace, answer.id, 1, answer.author_id)
    assert not accepted_now(workspace, project, ("train",))
    restore(workspace, answer.id, answer.author_id)
    assert len(accepted_now(workspace, project, ("train",))) == 1


def test_a_mark_differs_after_every_change_and_after_pruning(workspace: Workspace) -> None:
    project = make_project(workspace).id
    marks = []
    for number in range(3):
        make_document(workspace, project, [bill(number)])
        with workspace.database.read() as session:
            marks.append(changes.mark(session))
    assert len(set(marks)) == 3
    with workspace.database.read() as session:
        assert changes.mark(session) == marks[-1]
