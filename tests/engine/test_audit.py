"""What is written down about who decided what, and how it reads."""

from sqlalchemy import update
from starlette.testclient import TestClient

from db.tables import AuditEntry, Project, User
from engine import audit
from engine.accounts import members, sessions, users
from engine.audit_clauses import clause
from engine.commands.servers.background import HANDLERS
from engine.projects.project_settings import ProjectSettings
from engine.tasks import tasks
from engine.tasks.standard_questions import replace_standard_questions
from engine.training.retraining import trigger
from engine.workspace import Workspace
from tests.support.accounts import actions, here, make_user, somebody
from tests.support.factories import accept, bill, make_document, make_project

PASSWORD = "a long password"


def test_what_a_data_lead_decides_reads_as_a_sentence(workspace: Workspace, project: Project, owner: User) -> None:
    document = make_document(workspace, project.id, [bill(1)], name="bill.png")
    asked = ["What is the total due?", "Who?", "When?", "Where?", "Why?"]
    replace_standard_questions(workspace, project.id, asked, owner.id)
    replace_standard_questions(workspace, project.id, asked[:1], owner.id)
    answer = accept(workspace, document, asked[0], [4])
    task = next(each for each in tasks.list_tasks(workspace, project.id) if each.question == asked[0])
    tasks.set_gold(workspace, task.id, answer.id, owner.id)
    tasks.set_gold(workspace, task.id, None, owner.id)
    job = trigger.request(workspace, project.id, by=owner.id)
    assert trigger.request(workspace, project.id, by=owner.id).id == job.id
    assert [(line.actor, line.what) for line in audit.entries(workspace, project.id)][:-1] == [
        ("olga", "requested a retraining"),
        ("olga", "removed a gold question: What is the total due? (bill.png)"),
        ("olga", "set a gold question: What is the total due? (bill.png)"),
        ("olga", "set the standard questions: What is the total due?"),
        ("olga", "set the standard questions: What is the total due?; Who?; When?; and 2 more"),
    ]


def test_passwords_and_sessions_are_written_down(workspace: Workspace, owner: User) -> None:
    ann = users.add_user(workspace, "ann", PASSWORD, "annotator", by=owner.id)
    sessions.change_password(workspace, ann, PASSWORD, "another password")
    sessions.log_in(workspace, "ann", "another password", client="Mozilla/5.0 (X11; Linux) Firefox/140.0")
    [session] = sessions.sessions(workspace, ann.id)
    sessions.revoke(workspace, ann.id, session.id, by=owner.id)
    assert [(line.actor, line.what) for line in audit.entries(workspace)][:2] == [
        ("olga", "ended a session of ann: Firefox on Linux"),
        ("ann", "changed their own password"),
    ]


def test_settings_promotions_and_exports_are_written_down_with_who(app_client: TestClient) -> None:
    workspace = here(app_client)
    project = make_project(workspace)
    accept(workspace, make_document(workspace, project.id, [bill(1)]), "What is the total due?", [4])
    adam = somebody(app_client, workspace, make_user(workspace, "adam", **{project.id: "admin"}))
    adam.patch(f"/api/projects/{project.id}/settings", json={"retrain_after": 7})
    adam.patch(f"/api/projects/{project.id}/settings", json={"retrain_after": 7})
    assert adam.get(f"/api/projects/{project.id}/export").status_code == 200
    lines = adam.get(f"/api/projects/{project.id}/audit").json()
    assert [(line["actor"], line["what"]) for line in lines[:2]] == [
        ("adam", "exported 1 answer as coco"),
        ("adam", "changed settings: a retraining now starts after 7 newly accepted answers instead of 20"),
    ]
    older = adam.get(f"/api/projects/{project.id}/audit?before={lines[0]['id']}&limit=1").json()
    assert [line["id"] for line in older] == [lines[1]["id"]]


def test_the_trail_of_a_project_tells_nothing_of_others(workspace: Workspace, project: Project, owner: User) -> None:
    other = make_project(workspace, "other")
    members.put_member(workspace, other.id, owner.id, "annotator", by=owner)
    users.add_user(workspace, "gil", PASSWORD, "annotator", by=owner.id)
    assert actions(workspace, project.id) == ["projects.create"]
    assert actions(workspace)[:2] == ["users.add", "members.add"]


def test_an_entry_of_another_version_is_still_a_line(workspace: Workspace) -> None:
    audit.note(workspace, None, "moon.land", "the moon", height=1)
    with workspace.database.write() as session:
        session.execute(update(AuditEntry).values(actor_id=None))
    audit.note(workspace, None, "members.add", "x")
    assert [(line.actor, line.what) for line in audit.entries(workspace)] == [
        ("Glossator", "added ? to the project as ?"),
        ("Glossator", "moon.land: the moon"),
    ]


def test_every_setting_and_job_has_a_clause_in_plain_english() -> None:
    others = {
        "review_required": True, "retrain_automatically": False, "retrain_after_days": 1.0, "retrain_cron": "0 3 * * *",
        "promotion": "by_hand", "selection": "model", "retrain_time_zone": "Europe/Berlin",
    }  # fmt: skip
    for name, old in ProjectSettings().model_dump().items():
        new = others.get(name, old * 2 if isinstance(old, int | float) else old)
        said = clause("settings.change", "", {"changes": {name: [old, new]}})
        assert name not in said and "_" not in said and "True" not in said and "False" not in said, said
    changes = {"review_required": [False, True], "gold_share": [0.0, 0.05], "retrain_after_days": [7.0, 0.0]}
    assert clause("settings.change", "", {"changes": changes}) == (
        "changed settings: 5 % of the tasks are now gold questions instead of 0 %; accepted answers now wait for a "
        "retraining without a limit of days; review is now required"
    )
    for kind in (*HANDLERS, "import", "export", "read"):
        assert "a job" not in clause("jobs.ask", "", {"kind": kind}), kind
    assert clause("automatic.undo", "", {"answers": 1}) == "withdrew 1 automatic answer"
