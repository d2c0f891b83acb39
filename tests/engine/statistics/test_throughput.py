"""Figures of the work, on both databases, against histories whose figures are known."""

import json
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import event
from typer.testing import CliRunner

from db.tables import Member
from engine.annotation.edits import EditMask, EditPrompts, EditWords
from engine.cli import app
from engine.errors import NotFound
from engine.followers import catch_up
from engine.settings import Settings
from engine.statistics.throughput import OTHERS, Figures, figures
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.review.verdicts import ReviewRequest, review
from engine.workspace import Workspace, open_workspace
from tests.support.drift import rebuild_all
from tests.support.factories import bill, make_document, make_project, pages_of
from tests.support.work_history import History, at, begin, make_weeks, mask_of


def figures_now(workspace: Workspace, project_id: str, **options: Any) -> Figures:
    catch_up(workspace)
    return figures(workspace, project_id, **options)


MONDAY = date(2026, 3, 2)
QUESTION = "What is the total due?"


@pytest.fixture
def history(workspace: Workspace) -> History:
    return begin(workspace, make_project(workspace), ("Ann", "Bo", "Cy"))


def answered(history: History, person: str, when: datetime, seconds: float = 10, **more):  # type: ignore[no-untyped-def]
    """One mask, accepted at once."""
    version = more.pop("version", None) or history.version(more.pop("number", 0), when - timedelta(days=1))
    document = make_document(history.workspace, history.project.id, [bill(0)])
    annotation = history.ask(document, QUESTION, person, version, when, [4])
    history.save(annotation, when, action=more.pop("action", "accept"), seconds=seconds, **more)
    return annotation


def test_masks_are_counted_on_the_day_in_utc_on_which_somebody_finished_them(history: History) -> None:
    for person, when in (
        ("Ann", at(MONDAY, 0)),
        ("Ann", at(MONDAY, 23.99)),
        ("Bo", at(MONDAY, 12)),
        ("Ann", at(MONDAY + timedelta(days=1), 0)),
        ("Ann", at(MONDAY - timedelta(days=30))),
    ):
        answered(history, person, when)
    found = figures_now(history.workspace, history.project.id, days=7, today=MONDAY + timedelta(days=1)).masks_a_day
    assert [(row.day, row.person, row.masks) for row in found] == [
        (MONDAY, "Ann", 2),
        (MONDAY, "Bo", 1),
        (MONDAY + timedelta(days=1), "Ann", 1),
    ]


def test_masks_are_counted_on_the_days_of_a_time_zone(history: History) -> None:
    for hours in (9.9, 10, 23.9, 33.9, 34.1):  # in Kiritimati, 14 hours ahead: 23:54, 0:00, 13:54, 23:54, 0:06
        answered(history, "Ann", at(MONDAY, hours))
    days = {"days": 7, "today": MONDAY + timedelta(days=2)}
    found = figures_now(history.workspace, history.project.id, zone=ZoneInfo("Pacific/Kiritimati"), **days)
    assert found.time_zone == "Pacific/Kiritimati"
    assert [((row.day - MONDAY).days, row.masks) for row in found.masks_a_day] == [(0, 1), (1, 3), (2, 1)]
    assert [row.masks for row in figures_now(history.workspace, history.project.id, **days).masks_a_day] == [3, 2]


def test_a_mask_counts_once_however_often_it_is_reopened(history: History) -> None:
    annotation = answered(history, "Ann", at(MONDAY))
    history.save(annotation, at(MONDAY + timedelta(days=1)), action="reopen", seconds=50)
    history.save(annotation, at(MONDAY + timedelta(days=2)), action="accept", seconds=50)
    found = figures_now(history.workspace, history.project.id, today=MONDAY + timedelta(days=2))
    assert [(row.day, row.masks) for row in found.masks_a_day] == [(MONDAY, 1)]
    assert found.by_model[0].seconds_median == 10  # until it was accepted first


def test_seconds_until_the_first_accept_are_summed_with_a_median_interval(history: History) -> None:
    version = history.version(0, at(MONDAY))
    seconds = [3.0, 41.0, 8.0, 19.0, 5.0, 77.0, 12.0]
    for one in seconds:
        document = make_document(history.workspace, history.project.id, [bill(0)])
        annotation = history.ask(document, QUESTION, "Ann", version, at(MONDAY), [4])
        page = pages_of(history.workspace, document.id)[0].id
        history.save(annotation, at(MONDAY), edits=[EditWords(op="words", page=page, add=[3])], seconds=one / 2)
        history.save(annotation, at(MONDAY), action="submit", seconds=one / 2)
        history.save(annotation, at(MONDAY), action="accept", person="Bo", seconds=900)
    answered(history, "Cy", at(MONDAY), seconds=0, version=version)  # by a script: no time was measured
    [found] = figures_now(history.workspace, history.project.id, today=MONDAY).by_model
    assert (found.masks, found.timed, found.seconds_median) == (8, 7, median(seconds))
    assert (found.seconds_low, found.seconds_high) == (min(seconds), max(seconds))  # 98 % between first and seventh
    assert found.unchanged == 1


def test_few_masks_have_a_median_without_an_interval(history: History) -> None:
    version = history.version(0, at(MONDAY))
    for one in (10, 20):
        answered(history, "Ann", at(MONDAY), seconds=one, version=version)
    [found] = figures_now(history.workspace, history.project.id, today=MONDAY).by_model
    assert (found.seconds_median, found.seconds_low, found.seconds_high) == (15, None, None)


def test_unchanged_is_what_was_accepted_with_no_edit_of_words_or_pixels(history: History) -> None:
    version = history.version(0, at(MONDAY))

    def finish(kind: str) -> None:
        document = make_document(history.workspace, history.project.id, [bill(0)])
        page = pages_of(history.workspace, document.id)[0]
        annotation = history.ask(document, QUESTION, "Ann", version, at(MONDAY), [4])
        edits: dict[str, list[Any]] = {
            "as it was": [],
            "a point": [EditPrompts(op="prompts", page=page.id, points=[(30, 30, True)])],
            "a word": [EditWords(op="words", page=page.id, add=[3])],
            "a mask": [
                EditPrompts(op="prompts", page=page.id),
                EditMask(op="mask", page=page.id, words=[1], mask=mask_of(page, [1])),
            ],
        }
        history.save(annotation, at(MONDAY), action="accept", edits=edits[kind], seconds=5)

    for kind, unchanged in (("as it was", 1), ("a point", 2), ("a word", 2), ("a mask", 2)):
        finish(kind)
        [found] = figures_now(history.workspace, history.project.id, today=MONDAY).by_model
        assert found.unchanged == unchanged, kind
    assert found.unchanged_share == 0.5 and 0.1 < found.unchanged_low < 0.2 and 0.8 < found.unchanged_high < 0.9


@pytest.mark.parametrize(("verdict", "unchanged"), [("accepted", 1), ("rejected", 0)])
def test_what_a_reviewer_rejected_was_not_accepted_unchanged(history: History, verdict: str, unchanged: int) -> None:
    annotation = answered(history, "Ann", at(MONDAY), action="submit")
    request = ReviewRequest(
        idempotency_key="a verdict on it", base=1, verdict=verdict, reason="Another amount is meant."
    )
    review(history.workspace, annotation.id, request, history.people["Bo"].id)
    [found] = figures_now(history.workspace, history.project.id, today=MONDAY).by_model
    assert (found.masks, found.unchanged) == (1, unchanged)


def test_a_mask_belongs_to_the_model_whose_proposal_was_corrected(history: History) -> None:
    """The named prediction, else the newest before the first revision; a newer model's later answer changes nothing."""
    old, new = history.version(0, at(MONDAY, 1)), history.version(1, at(MONDAY, 2))
    document = make_document(history.workspace, history.project.id, [bill(0)])
    annotation = history.ask(document, QUESTION, "Ann", old, at(MONDAY, 3), [4])
    history.save(annotation, at(MONDAY, 4), seconds=1, edits=[])
    later = history.ask(document, "Who is the customer?", "Ann", new, at(MONDAY, 5), [6])
    history.save(later, at(MONDAY, 6), action="accept", seconds=2)
    history.save(annotation, at(MONDAY, 7), action="accept", seconds=3)
    found = figures_now(history.workspace, history.project.id, today=MONDAY).by_model
    assert [(row.label, row.seconds_median) for row in found] == [("nano", 4), ("v1", 2)]


def test_the_queue_s_depth_follows_tasks_and_reviews(history: History) -> None:
    day = [MONDAY + timedelta(days=more) for more in range(6)]
    documents = [make_document(history.workspace, history.project.id, [bill(0)]) for _ in range(3)]
    version = history.version(0, at(MONDAY))
    tasks = [history.task(document, QUESTION, at(day[0])) for document in documents]
    tasks.append(history.task(documents[0], "Who is the customer?", at(day[0]), wanted=2))
    first = history.ask(documents[0], QUESTION, "Ann", version, at(day[0]), [4])
    history.save(first, at(day[1]), action="submit")  # one answered, waits for a reviewer
    for person, when in (("Ann", day[1]), ("Bo", day[3])):  # two people's answers, the task is done with the second
        other = history.ask(documents[0], "Who is the customer?", person, version, at(when), [6])
        history.save(other, at(when), action="accept")
    history.close(tasks[1], at(day[2]))
    history.save(first, at(day[4]), action="accept", person="Bo")
    rebuild_all(history.workspace, history.project.id)  # the history was dated back
    found = figures_now(history.workspace, history.project.id, days=30, today=day[5]).queue
    assert [row.day for row in found] == day
    assert [row.open for row in found] == [4, 3, 2, 1, 1, 1]
    assert [row.submitted for row in found] == [0, 1, 1, 1, 0, 0]
    queue = queue_view(history.workspace, history.project.id, history.people["Cy"].id)
    assert (queue.open, queue.to_review) == (found[-1].open, found[-1].submitted)
    tail = figures_now(history.workspace, history.project.id, days=2, today=day[5]).queue
    assert tail == found[-2:]


def test_a_returned_answer_opens_its_task_again(history: History) -> None:
    document = make_document(history.workspace, history.project.id, [bill(0)])
    history.task(document, QUESTION, at(MONDAY))
    annotation = history.ask(document, QUESTION, "Ann", history.version(0, at(MONDAY)), at(MONDAY), [4])
    history.save(annotation, at(MONDAY), action="submit")
    history.save(annotation, at(MONDAY), action="reopen")
    rebuild_all(history.workspace, history.project.id)  # the history was dated back
    [found] = figures_now(history.workspace, history.project.id, today=MONDAY).queue
    assert (found.open, found.submitted) == (1, 0)


def test_who_is_no_reviewer_sees_no_other_person_by_name(history: History) -> None:
    answered(history, "Ann", at(MONDAY))
    answered(history, "Bo", at(MONDAY))
    answered(history, "Cy", at(MONDAY))
    ann, bo = history.people["Ann"], history.people["Bo"]
    with history.workspace.database.write() as session:
        session.get_one(Member, (history.project.id, ann.id)).role = "annotator"

    def seen(viewer) -> tuple[list[tuple[str, int]], list[str]]:  # type: ignore[no-untyped-def]
        found = figures_now(history.workspace, history.project.id, viewer=viewer, today=MONDAY)
        return [(row.person, row.masks) for row in found.masks_a_day], [row.person for row in found.people]

    assert seen(ann) == ([("Ann", 1), (OTHERS, 2)], ["Ann"])
    assert seen(bo) == ([("Ann", 1), ("Bo", 1), ("Cy", 1)], ["Ann", "Bo", "Cy"])


def test_an_empty_project_has_empty_figures_and_an_unknown_one_none(workspace: Workspace) -> None:
    project = make_project(workspace)
    found = figures_now(workspace, project.id, today=MONDAY)
    assert (found.masks_a_day, found.by_model, found.people, found.queue) == ([], [], [], [])
    with pytest.raises(NotFound):
        figures_now(workspace, "no such project")


def test_figures_write_nothing_and_take_as_many_queries_for_many_masks_as_for_few(sqlite_workspace: Workspace) -> None:
    few, many = make_project(sqlite_workspace, "few"), make_project(sqlite_workspace, "many")
    make_weeks(sqlite_workspace, few, MONDAY, a_day=1, part=3)
    make_weeks(sqlite_workspace, many, MONDAY, a_day=2, part=3)
    catch_up(sqlite_workspace)
    asked: list[str] = []
    event.listen(sqlite_workspace.database.engine, "before_cursor_execute", lambda *a: asked.append(a[2]))

    def queries(project_id: str) -> int:
        asked.clear()
        figures(sqlite_workspace, project_id, today=MONDAY)
        assert all(statement.lstrip().startswith(("SELECT", "WITH", "BEGIN")) for statement in asked), asked
        return len(asked)

    assert queries(many.id) == queries(few.id)


def test_retraining_that_saves_time_shows_in_the_figures(sqlite_workspace: Workspace) -> None:
    project = make_project(sqlite_workspace)
    make_weeks(sqlite_workspace, project, MONDAY, a_day=3, part=2)
    found = figures_now(sqlite_workspace, project.id, today=MONDAY).by_model
    assert [row.label for row in found] == ["nano", "v1", "v2", "v3"]
    assert found[-1].seconds_high < found[0].seconds_low  # type: ignore[operator]
    assert found[-1].unchanged_low > found[0].unchanged_high


def test_the_command_prints_what_the_route_answers(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path))
    opened = open_workspace(Settings(data_dir=tmp_path, _env_file=None))
    history = begin(opened, make_project(opened, "bills"), ("Ann",))
    answered(history, "Ann", datetime.now(UTC), seconds=7)
    opened.close()
    run = CliRunner().invoke(app, ["figures", "--project", "bills", "--json"])
    assert run.exit_code == 0, run.output
    answer = json.loads(run.stdout.splitlines()[-1])
    assert answer["by_model"][0]["seconds_median"] == 7
    shown = CliRunner().invoke(app, ["figures", "--project", "bills"])
    assert "nano" in shown.stdout and "7.0 s" in shown.stdout
