"""Standard questions, the queue, reviews and agreement from a shell."""

from pathlib import Path

import pytest
from sqlalchemy import update
from typer.testing import CliRunner, Result

from db.tables import Task
from engine.accounts import members, users
from engine.annotation.views import annotation_lines
from engine.cli import app
from engine.datasets.freezes import freezing
from engine.documents.lists.listing import document_lines
from engine.projects.projects import create_project
from engine.settings import Settings
from engine.tasks.review.verdicts import revisions_of
from engine.workspace import open_workspace
from tests.engine.commands.test_commands import last_line
from tests.support.annotators import answer, make_person, tasks_of
from tests.support.factories import bill, make_document


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("GLOSSATOR_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return command


@pytest.fixture
def bills(tmp_path: Path):
    """A project with two bills and an annotator."""
    workspace = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None))
    project = create_project(workspace, "bills")
    for number in range(2):
        make_document(workspace, project.id, [bill(number)])
    yield workspace, project, make_person(workspace, "ann", project.id)
    workspace.close()


def test_questions_are_set_and_listed_in_their_order(run, bills, tmp_path: Path) -> None:
    (tmp_path / "questions.txt").write_text("What is the total due?\n\nWho is the customer?\n")
    from_file = run("questions", "set", "--project", "bills", "--file", "questions.txt", "--json")
    assert [each["text"] for each in last_line(from_file)["questions"]] == [
        "What is the total due?",
        "Who is the customer?",
    ]
    named = run("questions", "set", "--project", "bills", "Who is the customer?")
    assert named.exit_code == 0 and "1  Who is the customer?" in named.stdout
    assert [
        each["position"] for each in last_line(run("questions", "list", "--project", "bills", "--json"))["questions"]
    ] == [0]
    both = run("questions", "set", "--project", "bills", "--clear", "one?")
    assert both.exit_code == 2
    assert last_line(run("questions", "set", "--project", "bills", "--clear", "--json")) == {"questions": []}
    absent = run("questions", "set", "--project", "bills", "--file", "absent.txt")
    assert absent.exit_code == 1 and "cannot be read" in absent.output


def test_an_answer_is_queued_judged_known_and_measured(run, bills) -> None:
    workspace, project, ann = bills
    settings = run("projects", "set", "bills", "--review-required", "--overlap-share", 1, "--gold-share", 0.5)
    for line in ("review_required = True", "overlap_share = 1.0", "overlap_people = 2", "gold_share = 0.5"):
        assert line in settings.output
    assert "overlap_people" in run("projects", "set", "bills", "--overlap-people", 9).output
    run("questions", "set", "--project", "bills", "What is the total due?")
    task = tasks_of(workspace, project.id)[0]
    annotation = answer(workspace, task.id, ann)
    queue = last_line(run("queue", "--project", "bills", "--json"))
    assert (queue["open"], queue["total"], queue["to_review"]) == (2, 2, 1)
    assert "2 open" in run("queue", "--project", "bills").output

    waiting = last_line(run("review", "list", "--project", "bills", "--json"))["answers"]
    assert [(each["annotation_id"], each["author"], each["disputed"]) for each in waiting] == [
        (annotation.id, "ann", False)
    ]
    unexplained = run("review", "judge", annotation.id, "rejected")
    assert unexplained.exit_code == 1 and "Give a reason" in unexplained.output
    own = run("review", "judge", annotation.id, "accepted", "--by", "ann")
    assert own.exit_code == 1 and "Only a reviewer" in own.output
    judged = last_line(run("review", "judge", annotation.id, "accepted", "--quality", "--json"))
    assert (judged["revision"], judged["status"]) == (2, "accepted")
    shown = last_line(run("review", "show", annotation.id, "--json"))
    assert [each["action"] for each in shown["revisions"]] == ["submit", "accept"]
    assert [(each["reviewer"], each["quality"], each["completeness"]) for each in shown["reviews"]] == [
        ("local", True, None)
    ]
    assert "10.50" in run("review", "show", annotation.id).output

    assert run("tasks", "gold", task.id, annotation.id).exit_code == 0
    lines = last_line(run("tasks", "list", "--project", "bills", "--json"))["tasks"]
    assert [each["gold"] for each in lines] == [annotation.id, None]
    assert "gold" in run("tasks", "list", "--project", "bills").output
    answer(workspace, task.id, make_person(workspace, "ben", project.id), [1])
    found = last_line(run("agreement", "--project", "bills", "--json"))
    between = found["between_people"]
    assert [between[name] for name in ("questions", "iou", "word_f1", "typed", "value_equal")] == [1, 0.0, 0.0, 1, 0.0]
    assert {each["person"]: each["gold_questions"] for each in found["people"]} == {"ann": 0, "ben": 1}
    table = run("agreement", "--project", "bills").output
    assert "ann and ben" in table and "ben, gold questions" in table


def test_whoever_a_command_acts_as_may_do_no_more_than_over_rest(run, bills) -> None:
    workspace, project, ann = bills
    elsewhere = create_project(workspace, "elsewhere")
    make_person(workspace, "otto", elsewhere.id, "admin")
    make_person(workspace, "rita", project.id, "reviewer")
    gone = make_person(workspace, "gone", project.id, "admin")
    users.change_user(workspace, gone.id, disabled=True, by=users.ensure_local_user(workspace))
    run("questions", "set", "--project", "bills", "What is the total due?")
    given = answer(workspace, tasks_of(workspace, project.id)[0].id, ann)
    [other, document] = [each.id for each in document_lines(workspace, project.id)]
    stranger, small, disabled = "otto is not a member of the project", "of the project can do this", "gone is disabled"
    commands: list[tuple[tuple[str, ...], dict[str, str]]] = [
        (("review", "judge", given.id, "accepted", "--by"), {"otto": stranger, "ann": small, "gone": disabled}),
        (("review", "list", "--project", "bills", "--by"), {"otto": stranger, "ann": small, "gone": disabled}),
        (("answers", "accept", given.id, "--as"), {"otto": stranger, "gone": disabled}),
        (("answers", "mark", given.id, "--words", "1", "--as"), {"otto": stranger, "gone": disabled}),
        (("answers", "refine", given.id, "--point", "30,65", "--as"), {"otto": stranger, "gone": disabled}),
        (("ask", document, "Who?", "--project", "bills", "--as"), {"otto": stranger, "gone": disabled}),
        (("ask", other, "Who?", "--project", "bills", "--as"), {"otto": stranger}),
        (("models", "promote", "nano", "--project", "bills", "--as"), {"otto": stranger, "rita": small, "ann": small}),
        (("models", "rollback", "--project", "bills", "--as"), {"otto": stranger, "rita": small, "gone": disabled}),
        (("models", "prune", "--project", "bills", "--as"), {"otto": stranger, "rita": small, "gone": disabled}),
    ]
    for words, refusals in commands:
        for person, sentence in refusals.items():
            refused = run(*words, person)
            assert refused.exit_code == 1 and sentence in " ".join(refused.output.split()), (words, refused.output)
    assert [each.action for each in revisions_of(workspace, given.id)] == ["accept"]
    assert len(annotation_lines(workspace, document)) + len(annotation_lines(workspace, other)) == 1
    # An author who is no member any more changes nothing either, as over REST.
    members.remove_member(workspace, project.id, ann.id, by=users.ensure_local_user(workspace))
    assert "ann is not a member" in run("answers", "reopen", given.id, "--as", "ann").output
    assert run("review", "judge", given.id, "accepted", "--by", "rita").exit_code == 0


def test_states_of_tasks_are_checked_and_corrected(run, bills) -> None:
    workspace, _, _ = bills
    run("questions", "set", "--project", "bills", "What is the total due?")
    right = run("check")
    assert right.exit_code == 0 and "All states, figures and search entries are right." in right.output
    with workspace.database.engine.begin() as connection:  # past every service
        connection.execute(update(Task).values(state="done"))
    wrong = run("check", "--project", "bills")
    assert wrong.exit_code == 1 and "Differing: 2 states of tasks, 2 counts of tasks, 2 figures." in wrong.output
    corrected = run("check", "--rebuild", "--json")
    assert corrected.exit_code == 0
    assert len(last_line(corrected)["tasks"]) == 2 and last_line(corrected)["left"]["tasks"] == []
    assert run("check").exit_code == 0


def test_tasks_are_listed_from_a_cursor_on(run, bills) -> None:
    run("questions", "set", "--project", "bills", "What is the total due?")
    whole = last_line(run("tasks", "list", "--project", "bills", "--json"))
    assert len(whole["tasks"]) == 2 and whole["next"] is None
    first = last_line(run("tasks", "list", "--project", "bills", "--limit", 1, "--json"))
    assert first["tasks"] == whole["tasks"][:1]
    rest = last_line(run("tasks", "list", "--project", "bills", "--cursor", first["next"], "--json"))
    assert rest["tasks"] == whole["tasks"][1:]
    foreign = run("jobs", "list", "--limit", 0)
    assert foreign.exit_code == 2
    wrong = run("tasks", "list", "--project", "bills", "--cursor", "x")
    assert wrong.exit_code == 1 and "another list" in wrong.output


def test_a_question_is_removed_with_its_answers_restored_and_deleted(run, bills) -> None:
    workspace, project, ann = bills
    asked = ["What is the bill number?", "What is the total?"]
    run("questions", "set", *asked, "--project", "bills")
    question = next(task for task in tasks_of(workspace, project.id))
    answer(workspace, question.id, ann)
    refused = run("questions", "remove", "Who?", "--project", "bills")
    assert "The project has no question 'Who?'" in refused.stderr
    removed = run("questions", "remove", asked[0], "--yes", "--project", "bills", "--json")
    [gone] = last_line(removed)["questions"]
    assert (gone["text"], gone["answers"], gone["people"], gone["tasks"]) == (asked[0], 1, 1, 2)
    listed = last_line(run("questions", "list", "--project", "bills", "--json"))["questions"]
    assert [each["text"] for each in listed] == [asked[1]]
    [line] = last_line(run("questions", "removed", "--project", "bills", "--json"))["questions"]
    assert (line["text"], line["answers"], line["standard"]) == (asked[0], 1, True)
    assert "What is the bill" in run("questions", "removed", "--project", "bills").stdout
    assert "The bin has no question 'Who?'" in run("questions", "restore", "Who?", "--project", "bills").stderr
    assert "Restored 1 question" in run("questions", "restore", asked[0], "--project", "bills").stdout
    assert run("questions", "removed", "--project", "bills").stderr == "The bin has no questions.\n"
    run("questions", "remove", *asked, "--yes", "--project", "bills")
    with freezing(workspace.database, project.id):
        waiting = last_line(run("questions", "delete", "--yes", "--project", "bills", "--json"))
        said = run("questions", "delete", "--yes", "--project", "bills").stdout
    assert (waiting["questions"], len(waiting["waits"])) == ([], 2)
    assert said == (
        "Deleted 0 questions for good.\n"
        "2 questions cannot be restored any more, and wait for a worker. Answers of the project are being frozen.\n"
    )
    deleted = last_line(run("questions", "delete", "--yes", "--project", "bills", "--json"))
    assert deleted == {"questions": waiting["waits"], "waits": [], "stays": [], "overwritten": True}
    assert "Deleted 0 questions" in run("questions", "delete", "--yes", "--project", "bills").stdout
