"""Checks of a database that an earlier version made, after this version has upgraded it."""

import uuid
from typing import Any

from sqlalchemy import select, text

from db import migrate
from db.tables import Annotation, ModelVersion, Revision, Snapshot
from engine.annotation import views
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.datasets import snapshots
from engine.followers import catch_up
from engine.lifecycle.stored_check import check_stored
from engine.tasks.opening import task_changes
from engine.tasks.review.verdicts import reviews_of
from engine.training.retraining.changes import changes_of
from engine.training.retraining.views import run_view
from engine.workspace import Workspace
from tests.support.drift import find_drift

# Tables whose rows follow from others, or which a migration empties because everything in them has ended.
# Sums have further rows since uploads are summed by person; `find_drift` compares them with what they sum.
_OTHER_ROWS = frozenset(("alembic_version", "leases", "changes", "followers", "project_figures", "task_changes"))


def rows_of(workspace: Workspace, tables: list[str]) -> dict[str, int]:
    """Return the number of rows of each table that there is."""
    with workspace.database.read() as session:
        return {name: session.scalar(text(f'SELECT count(*) FROM "{name}"')) or 0 for name in tables}


def assert_is_whole(workspace: Workspace, known: dict[str, Any]) -> None:
    """Compare an upgraded database with what the version that made it said of it, and work with it."""
    assert migrate.differences(workspace.database) == []
    before = {name: rows for name, rows in known["rows"].items() if name not in _OTHER_ROWS}
    assert rows_of(workspace, list(before)) == before
    _assert_answers(workspace, known)
    _assert_reviews(workspace, known)
    _assert_runs(workspace, known)
    _work_on(workspace, known)
    task_changes.work_off(workspace, known["project"])
    catch_up(workspace)
    assert find_drift(workspace) == []
    checked = check_stored(workspace, read=True, on_blob=lambda *_: None)
    with workspace.database.read() as session:
        weights = set(session.scalars(select(ModelVersion.checkpoint_sha256)))
    assert (checked.database, checked.followers, checked.files.damaged) == ([], [], [])
    assert set(checked.files.missing) <= weights, "weights alone are not kept beside the samples"


def _assert_answers(workspace: Workspace, known: dict[str, Any]) -> None:
    assert len(known["answers"]) == 3
    for answer in known["answers"]:
        view = views.annotation_view(workspace, answer["id"])
        assert (view.status, view.text) == (answer["status"], answer["text"])
        assert view.question.model_dump() == answer["question"]
        state = view.state.model_dump(mode="json")
        assert state["no_answer"] == answer["state"]["no_answer"]
        for page, mark in answer["state"]["pages"].items():
            assert state["pages"][page]["words"] == mark["words"]
            assert state["pages"][page]["mask"] == mark["mask"]
    documents = {answer["question"]["text"] for answer in known["answers"]}
    assert "What is the total?" in documents


def _assert_reviews(workspace: Workspace, known: dict[str, Any]) -> None:
    for annotation, verdicts in known.get("reviews", {}).items():
        lines = [line.model_dump() for line in reviews_of(workspace, annotation)]
        assert [{name: line[name] for name in said} for line, said in zip(lines, verdicts, strict=True)] == verdicts


def _assert_runs(workspace: Workspace, known: dict[str, Any]) -> None:
    for run, (status, sentence) in known.get("runs", {}).items():
        view = run_view(workspace, run)
        assert (view.status, view.verdict["sentence"]) == (status, sentence) and view.metrics
        assert changes_of(workspace, run, kinds=["same", "better", "worse"]).changes
    with workspace.database.read() as session:
        stored = session.scalars(select(Snapshot)).all()
    assert {snapshot.id for snapshot in stored} >= set(known.get("snapshots", {}))
    for snapshot in stored:
        answers = known.get("snapshots", {}).get(snapshot.id, snapshot.counts["annotations"])
        assert len(list(snapshots.load(workspace, snapshot))) == answers


def _work_on(workspace: Workspace, known: dict[str, Any]) -> None:
    """Save a revision of the answer that was left as a draft."""
    [answer, *_] = (answer for answer in known["answers"] if answer["status"] == "draft")
    with workspace.database.read() as session:
        annotation = session.get_one(Annotation, answer["id"])
        author, head = annotation.author_id, annotation.head
    edits = [{"op": "words", "page": known["page"], "add": [0, 1]}]
    request = RevisionRequest.model_validate(
        {"idempotency_key": uuid.uuid4().hex, "base": head, "action": "accept", "edits": edits}
    )
    saved = append_revision(workspace, answer["id"], request, author)
    with workspace.database.read() as session:
        numbers = session.scalars(select(Revision.number).where(Revision.annotation_id == answer["id"])).all()
    assert saved.status == "accepted" and saved.revision == head + 1 and sorted(numbers)[-1] == head + 1
