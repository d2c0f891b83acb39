"""Snapshots: what is frozen stays as it was, and never crosses a split."""

import json
import signal
import subprocess
import sys

import pytest
from sqlalchemy import select

from db.base import now
from db.blobs import sha256_of
from db.tables import Document, DocumentGroup, ModelVersion, PageWord, Prediction, Snapshot
from engine.accounts.users import add_user
from engine.annotation.state import AnnotationState
from engine.datasets import frozen_words, manifest_rows, snapshots
from engine.datasets.filters import Filters
from engine.datasets.frozen_words import WordsReader, words_of
from engine.datasets.labels import project_facts
from engine.datasets.manifest import parts_of, read_head
from engine.errors import NotFound, Refused
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_bills, make_document, make_project, pages_of, revise


def test_the_same_choice_is_the_same_snapshot(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 2})
    first = snapshots.freeze(workspace, project.id)
    second = snapshots.freeze(workspace, project.id)
    assert (first.id, first.sha256) == (second.id, second.sha256)
    with workspace.database.read() as session:
        assert len(session.scalars(select(Snapshot)).all()) == 1


def test_a_new_revision_makes_a_new_snapshot_and_leaves_the_old_one_as_it_was(workspace: Workspace) -> None:
    project = make_project(workspace)
    changed = make_bills(workspace, project.id, {"train": 2})[0]
    before = snapshots.freeze(workspace, project.id)
    revise(workspace, changed, AnnotationState(no_answer=True))
    after = snapshots.freeze(workspace, project.id)
    assert before.sha256 != after.sha256
    was, now_ = (
        next(item for item in snapshots.load(workspace, one) if item.annotation_id == changed.id)
        for one in (before, after)
    )
    assert (was.revision, was.state.no_answer) == (1, False)
    assert (now_.revision, now_.state.no_answer) == (2, True)


def test_a_snapshot_of_one_split_holds_no_document_of_another(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 3, "recent": 2, "frozen": 1})
    train = snapshots.freeze(workspace, project.id, split="train")
    rest = snapshots.freeze(workspace, project.id, split=("recent", "frozen"))
    assert {item.document.split for item in snapshots.load(workspace, train)} == {"train"}
    trained = {item.document.sha256 for item in snapshots.load(workspace, train)}
    judged = {item.document.sha256 for item in snapshots.load(workspace, rest)}
    assert len(trained) == 3
    assert len(judged) == 3
    assert not trained & judged
    assert rest.counts["by_split"] == {"recent": 6, "frozen": 3}


def test_only_what_is_accepted_now_is_frozen(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    accept(workspace, document, "A draft?", [1], status="draft")
    accept(workspace, document, "Accepted?", [1])
    accept(workspace, document, "Mended by the reviewer?", [1], status="fixed")
    reopened = accept(workspace, document, "Reopened?", [1])
    revise(workspace, reopened, AnnotationState(), status="draft")
    frozen = snapshots.load(workspace, snapshots.freeze(workspace, project.id))
    assert sorted(item.question for item in frozen) == ["Accepted?", "Mended by the reviewer?"]


def test_a_quarantined_document_neither_trains_nor_judges(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 1})
    odd = make_document(workspace, project.id, [bill(9)], quarantined=True)
    accept(workspace, odd, "What is the total due?", [4])
    frozen = list(snapshots.load(workspace, snapshots.freeze(workspace, project.id)))
    assert odd.id not in {item.document.id for item in frozen}
    everything = snapshots.freeze(workspace, project.id, quarantined=True)
    assert {item.document.split for item in snapshots.load(workspace, everything)} == {"train", "quarantined"}


def test_words_that_are_retired_later_stay_in_the_snapshot(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    accept(workspace, document, "What is the total due?", [4])
    snapshot = snapshots.freeze(workspace, project.id)
    page = pages_of(workspace, document.id)[0]
    with workspace.database.write() as session:
        session.get_one(PageWord, (page.id, 4)).retired_at = now()
    frozen = next(iter(snapshots.load(workspace, snapshot))).document.pages[0]
    assert [word.text for word in words_of(workspace, frozen)] == [text for text, _ in bill(1)]
    assert snapshots.freeze(workspace, project.id).sha256 != snapshot.sha256


def test_the_manifest_names_the_model_that_was_corrected(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    annotation = accept(workspace, document, "What is the total due?", [4])
    with workspace.database.write() as session:
        version = ModelVersion(number=0, checkpoint_sha256="a" * 64, code_version="0")
        session.add(version)
        session.flush()
        prediction = Prediction(
            annotation_id=annotation.id,
            page_id=pages_of(workspace, document.id)[0].id,
            question_id=annotation.question_id,
            model_version_id=version.id,
            answer={},
            score=0.5,
            answered=0.5,
            milliseconds=1.0,
        )
        session.add(prediction)
        session.flush()
        number = prediction.id
    revision = revise(workspace, annotation, AnnotationState(no_answer=True))
    with workspace.database.write() as session:
        session.get_one(type(revision), revision.id).prediction_id = number
    revise(workspace, annotation, AnnotationState(no_answer=True))  # a later edit names no prediction
    frozen = next(iter(snapshots.load(workspace, snapshots.freeze(workspace, project.id))))
    assert frozen.model_version == "a" * 64


def test_an_empty_choice_is_refused_with_a_sentence(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"recent": 1})
    with pytest.raises(Refused, match="no accepted answer on a document of the split train"):
        snapshots.freeze(workspace, project.id, split="train")


def test_a_manifest_that_was_changed_on_disk_is_refused(sqlite_workspace: Workspace) -> None:
    project = make_project(sqlite_workspace)
    make_bills(sqlite_workspace, project.id, {"train": 1})
    snapshot = snapshots.freeze(sqlite_workspace, project.id)
    [part] = parts_of(sqlite_workspace, snapshot.sha256)
    part["items"] = part["items"][:1]
    path = sqlite_workspace.blobs.path(read_head(sqlite_workspace, snapshot.sha256)["parts"][0])
    path.write_text(json.dumps(part))
    with pytest.raises(Refused, match="changed on disk"):
        list(snapshots.load(sqlite_workspace, snapshot))
    path.unlink()
    with pytest.raises(NotFound):
        list(snapshots.load(sqlite_workspace, snapshot))


def test_many_answers_are_frozen_in_files_that_follow_from_the_answers_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 4, "recent": 3}, questions=3)
    whole = snapshots.freeze(workspace, project.id)
    at_once = list(snapshots.load(workspace, whole))
    monkeypatch.setattr(manifest_rows, "MOST_ROWS", 5)
    monkeypatch.setattr(manifest_rows, "PART_GROUPS", 2**16)
    monkeypatch.setattr(frozen_words, "MOST_PAGES", 2)
    found = []
    for together in (1, 7, 400):  # labels, and words, that are read at a time
        monkeypatch.setattr(snapshots, "_AT_ONCE", together)
        monkeypatch.setattr(frozen_words, "_WORDS_AT_ONCE", together)
        found.append(snapshots.freeze(workspace, project.id))
    assert len({snapshot.sha256 for snapshot in found}) == 1 and found[0].counts == whole.counts
    parts = list(parts_of(workspace, found[0].sha256))
    assert [len(part["items"]) for part in parts] == [6, 6, 6, 3], "whole documents, five answers or more"
    items = list(snapshots.load(workspace, found[0]))
    assert [(one.annotation_id, one.state) for one in items] == [(one.annotation_id, one.state) for one in at_once]
    assert len(read_head(workspace, found[0].sha256)["words"]) >= 4, "two pages in a file, of one split"
    words = [
        [WordsReader(workspace).of(page) for one in items for page in one.document.pages] for items in (items, at_once)
    ]
    assert words[0] == words[1] and all(words[0])


def test_an_answer_more_changes_one_part_and_the_words_of_no_other_document(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 30}, questions=1)
    with workspace.database.read() as session:
        groups = sorted(session.scalars(select(DocumentGroup.id)))
    # Every file ends after one of these groups, as after every 128th or 16th in a large project.
    monkeypatch.setattr(manifest_rows, "ends_after", lambda group_id, _: group_id in groups[4::5])
    monkeypatch.setattr(frozen_words, "ends_after", lambda group_id, _: group_id in groups[4::5])
    before = read_head(workspace, snapshots.freeze(workspace, project.id).sha256)
    with workspace.database.read() as session:
        document = session.scalars(select(Document).where(Document.group_id == groups[12])).one()
    accept(workspace, document, "One more?", [1])
    after = read_head(workspace, snapshots.freeze(workspace, project.id).sha256)
    assert len(before["parts"]) == len(after["parts"]) == 6
    assert [one == other for one, other in zip(before["parts"], after["parts"], strict=True)].count(False) == 1
    assert before["words"] == after["words"]


def test_snapshots_of_one_split_and_of_all_share_the_files_of_words(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 6, "recent": 4}, questions=1)
    train, both = (
        set(read_head(workspace, snapshots.freeze(workspace, project.id, split=split).sha256)["words"].values())
        for split in ("train", None)
    )
    assert train < both


def test_a_snapshot_reports_its_progress_and_is_not_stored_when_stopped(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 5}, questions=2)
    monkeypatch.setattr(snapshots, "_AT_ONCE", 4)
    heard: list[tuple[int, int]] = []

    def stop(done: int, of: int) -> None:
        heard.append((done, of))
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        snapshots.freeze(workspace, project.id, on_progress=stop)
    assert heard == [(0, 10), (4, 10)]
    with workspace.database.read() as session:
        assert not session.scalars(select(Snapshot)).all()
    snapshot = snapshots.freeze(workspace, project.id, on_progress=lambda *said: heard.append(said))
    assert heard[2:] == [(0, 10), (4, 10), (8, 10), (10, 10)]
    assert len(list(snapshots.load(workspace, snapshot))) == 10


def test_what_is_accepted_while_a_snapshot_is_made_is_in_none_of_its_parts(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 2}, questions=1)
    last = make_document(workspace, project.id, [bill(9)], split="train")
    accept(workspace, last, "What is the bill number?", [4])
    monkeypatch.setattr(snapshots, "_AT_ONCE", 1)
    with workspace.database.snapshot_read() as session:
        labels = snapshots.chosen_labels(session, project_facts(session, project.id), Filters())
        taken = next(labels).taken
        accept(workspace, last, "Who asks meanwhile?", [1])
        taken += [label for chosen in labels for label in chosen.taken]
    assert len(taken) == 3
    assert snapshots.freeze(workspace, project.id).counts["annotations"] == 4


def test_who_froze_a_snapshot_is_kept(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_bills(workspace, project.id, {"train": 1})
    ada = add_user(workspace, "ada", "a long password", "admin")
    assert snapshots.freeze(workspace, project.id, by=ada).created_by == ada.id


_KILLED = """
import os, signal, sys
from pathlib import Path
from engine.datasets import manifest_rows, snapshots
from engine.settings import Settings
from engine.workspace import open_workspace

workspace = open_workspace(Settings(data_dir=Path(sys.argv[1]), _env_file=None))
snapshots._AT_ONCE, manifest_rows.MOST_ROWS = 4, 4
stored = set(workspace.blobs.folder.glob("??/*"))


def end(done: int, of: int) -> None:
    while done >= 8:
        if set(workspace.blobs.folder.glob("??/*")) - stored:
            os.kill(os.getpid(), signal.SIGKILL)


snapshots.freeze(workspace, sys.argv[2], on_progress=end)
"""


def test_a_killed_snapshot_leaves_whole_files_and_the_next_one_is_the_same(
    sqlite_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = sqlite_workspace, make_project(sqlite_workspace)
    make_bills(workspace, project.id, {"train": 6}, questions=2)
    folder = workspace.settings.data_dir
    before = set(workspace.blobs.folder.rglob("*"))
    words = [sys.executable, "-c", _KILLED, str(folder), project.id]
    assert subprocess.run(words, capture_output=True, check=False).returncode == -signal.SIGKILL
    with workspace.database.read() as session:
        assert not session.scalars(select(Snapshot)).all()
    workspace.blobs.clean_up()  # as the next start does
    left = {path for path in workspace.blobs.folder.rglob("*") if path.is_file()} - before
    assert left and all(sha256_of(path) == path.name for path in left)
    monkeypatch.setattr(manifest_rows, "MOST_ROWS", 4)
    snapshot = snapshots.freeze(workspace, project.id)
    assert len(list(snapshots.load(workspace, snapshot))) == 12
    assert {path.name for path in left} <= {snapshot.sha256, *_files(workspace, snapshot.sha256)}


def _files(workspace: Workspace, sha256: str) -> list[str]:
    head = read_head(workspace, sha256)
    return [*head["parts"], *head["words"].values(), *(file["sha256"] for file in head["left_out"])]
