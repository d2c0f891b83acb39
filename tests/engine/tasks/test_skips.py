"""Skips: nobody gets a skipped task until a reviewer has decided; counts, undo, overlap, gold questions and audit."""

import csv
from pathlib import Path

import pytest

from engine import audit
from engine.datasets.filters import Filters
from engine.documents.lists.listing import Skipped, document_page
from engine.errors import Conflict, Refused
from engine.interchange.exports import export
from engine.tasks import skips
from engine.tasks.queue import next_task as queue
from engine.tasks.queue.queue_view import queue_view
from engine.workspace import Workspace
from tests.support.annotators import answer, begin
from tests.support.office import NUMBER, Office


def counted(office: Office) -> tuple[int, int, int, int]:
    view = queue_view(office.workspace, office.project.id, office.ann.id)
    assert view.open + view.submitted + view.done + view.automatic + view.skipped + view.dismissed == view.total
    return view.open, view.skipped, view.dismissed, view.total


def test_a_skipped_task_comes_to_nobody_until_a_reviewer_sends_it_back(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    first, second, *_ = (task.id for task in office.tasks())
    assert office.taken(office.ann) == first
    draft = begin(workspace, first, office.ann)
    line = skips.skip(workspace, first, office.ann.id, "unreadable", "a stain")
    assert (line.person, line.reason, line.note, line.waits) == (office.ann.name, "unreadable", "a stain", True)
    assert line.annotation_id == draft.id
    assert office.taken(office.ann, first) == second
    assert office.taken(office.ben) not in (first, second)
    assert counted(office) == (3, 1, 0, 4)
    with pytest.raises(Conflict, match="was skipped and waits for a reviewer"):
        queue.heartbeat(workspace, first, office.ben.id)
    assert skips.list_skips(workspace, project, reason="not_sure") == []
    assert [each.id for each in skips.list_skips(workspace, project, reason="unreadable", waiting=True)] == [line.id]
    skips.decide(workspace, first, office.rita.id, "returned", "look at page 2")
    assert counted(office) == (4, 0, 0, 4)
    assert skips.list_skips(workspace, project, waiting=True) == []
    queue.release(workspace, second, office.ann.id)
    assert office.taken(office.ann) == first
    [decided] = skips.list_skips(workspace, project)
    assert (decided.verdict, decided.remark, decided.decided_by) == ("returned", "look at page 2", office.rita.name)
    said = [entry.what for entry in audit.entries(workspace, project)]
    assert any(what.startswith("skipped a task, unreadable") for what in said)
    assert any(what.startswith("decided on a skipped task, back to the queue") for what in said)


def test_a_dismissed_task_counts_as_finished_and_can_be_sent_back(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    [task] = (task.id for task in office.tasks())
    skips.skip(workspace, task, office.ann.id, "wrong_document")
    reason = queue_view(workspace, office.project.id, office.ben.id).reason
    assert reason is not None
    assert "1 question was skipped" in reason
    skips.decide(workspace, task, office.rita.id, "dismissed")
    assert counted(office) == (0, 0, 1, 1)
    assert office.next(office.ben).task is None
    with pytest.raises(Conflict, match="somebody has decided"):
        skips.decide(workspace, task, office.rita.id, "dismissed")
    skips.decide(workspace, task, office.rita.id, "returned")
    assert counted(office) == (1, 0, 0, 1)
    assert office.taken(office.ben) == task


def test_an_answer_settles_a_skip_and_its_removal_would_ask_again(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    [task] = (task.id for task in office.tasks())
    skips.skip(workspace, task, office.ann.id, "not_sure")
    answer(workspace, task, office.rita)
    [line] = skips.list_skips(workspace, office.project.id)
    assert (line.waits, line.verdict) == (False, None)
    assert skips.list_skips(workspace, office.project.id, waiting=True) == []
    assert counted(office)[:3] == (0, 0, 0)


def test_a_skip_is_withdrawn_by_its_person_alone_and_needs_its_note(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    [task] = (task.id for task in office.tasks())
    with pytest.raises(Refused, match="Write what is wrong"):
        skips.skip(workspace, task, office.ann.id, "other", "  ")
    first = skips.skip(workspace, task, office.ann.id, "not_sure")
    again = skips.skip(workspace, task, office.ann.id, "other", "two totals")
    assert (again.id, again.reason, again.note) == (first.id, "other", "two totals")
    with pytest.raises(Conflict, match="You have not skipped"):
        skips.withdraw(workspace, task, office.ben.id)
    skips.withdraw(workspace, task, office.ann.id)
    assert office.taken(office.ann) == task
    answer(workspace, task, office.ann)
    with pytest.raises(Conflict, match="You have answered"):
        skips.skip(workspace, task, office.ann.id, "not_sure")


def test_a_skip_stops_an_overlapping_task_and_keeps_the_answers_it_has(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    office.set(overlap_share=1.0, overlap_people=2)
    [task] = (task.id for task in office.tasks())
    answer(workspace, task, office.ann)
    skips.skip(workspace, task, office.ben.id, "not_sure")
    assert office.next(office.rita).task is None
    assert counted(office) == (0, 1, 0, 1)
    answer(workspace, task, office.rita)
    assert counted(office)[:3] == (0, 0, 0)


def test_documents_are_listed_by_the_reason_of_skipped_tasks_that_wait(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    first, *_, last = office.tasks()
    skips.skip(workspace, first.id, office.ann.id, "unreadable")
    skips.skip(workspace, last.id, office.ann.id, "not_sure")

    def listed(reason: Skipped, query: str = "") -> tuple[set[str], int]:
        page = document_page(workspace, project, office.rita.id, skipped=reason, query=query)
        return {line.id for line in page.lines}, page.total

    assert listed("any") == ({first.document_id, last.document_id}, 2)
    assert listed("unreadable") == ({first.document_id}, 1)
    assert listed("other") == listed("any", "nowhere") == (set(), 0)
    skips.decide(workspace, first.id, office.rita.id, "returned")
    assert listed("any") == ({last.document_id}, 1)


def test_exports_name_the_tasks_that_nobody_could_answer(office: Office, tmp_path: Path) -> None:
    workspace, project = office.workspace, office.project.id
    answered, waiting, dismissed, returned = (task.id for task in office.tasks())
    answer(workspace, answered, office.ann, [4])
    before = export(workspace, project, "csv", tmp_path / "before")
    assert not (tmp_path / "before" / "skipped.csv").exists()
    skips.skip(workspace, waiting, office.ann.id, "other", "=two totals")
    skips.skip(workspace, dismissed, office.ann.id, "unreadable")
    skips.skip(workspace, returned, office.ann.id, "not_sure")
    skips.decide(workspace, dismissed, office.rita.id, "dismissed", "a stain")
    skips.decide(workspace, returned, office.rita.id, "returned")
    for name in ("out", "again"):
        made = export(workspace, project, "csv", tmp_path / name)
    assert made.snapshot_sha256 != before.snapshot_sha256
    lines = list(csv.DictReader((tmp_path / "out" / "skipped.csv").open(encoding="utf-8-sig")))
    said = [(line["task_id"], line["reason"], line["note"], line["verdict"], line["remark"]) for line in lines]
    assert said == [
        (waiting, "other", "'=two totals", "waiting", ""),
        (dismissed, "unreadable", "", "dismissed", "a stain"),
    ]
    assert (tmp_path / "again" / "skipped.csv").read_bytes() == (tmp_path / "out" / "skipped.csv").read_bytes()
    card = (tmp_path / "out" / "README.md").read_text()
    assert "could not answer 2 tasks" in card and "| unreadable | dismissed | 1 |" in card
    narrow = export(workspace, project, "csv", tmp_path / "narrow", filters=Filters(questions=(NUMBER,)))
    assert narrow.answers == 1
    chosen = list(csv.DictReader((tmp_path / "narrow" / "skipped.csv").open(encoding="utf-8-sig")))
    assert {line["question"] for line in chosen} == {NUMBER} and len(chosen) < len(lines)
