"""Names that are HTML: of projects, documents, questions, people and reasons."""

from playwright.sync_api import Page

from db.tables import Run, Snapshot, User
from engine.accounts import members
from engine.accounts.users import add_user
from engine.jobs import queue
from engine.models import registry
from engine.projects.projects import create_project
from engine.selection import stages
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.browser.team import PASSWORD
from tests.support.factories import accept, bill, make_document

# Closes an attribute, breaks out of an element, and is a template of JavaScript and of Handlebars too.
HOSTILE = '"><img src=x onerror="window.hacked=1">${window.hacked=1}{{this}}'
QUESTION = f"Who is {HOSTILE}?"


def make_hostile_project(workspace: Workspace, user: User) -> str:
    """Make a project in which everything has a hostile name; return its id.

    Args:
        workspace: workspace of a server.
        user: who makes it, an admin.
    """
    project = create_project(workspace, HOSTILE, created_by=user.id).id
    document = make_document(workspace, project, [bill(1)], name=f"{HOSTILE}.png")
    replace_standard_questions(workspace, project, [QUESTION], user.id)
    accept(workspace, document, QUESTION, [4], author=HOSTILE)
    stages.set_stage(workspace, project, "semi_automatic", by=user, reason=HOSTILE)
    other = add_user(workspace, f"{HOSTILE} 2", PASSWORD, "annotator")
    members.put_member(workspace, project, other.id, "annotator", by=user)
    job = queue.enqueue(workspace, "nothing", project, {})
    with workspace.database.write() as session:
        session.get_one(type(job), job.id).failure = HOSTILE
        snapshot = Snapshot(project_id=project, sha256="1" * 64)
        session.add(snapshot)
        session.flush()
        session.add(
            Run(
                project_id=project,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=registry.champion(session, project).id,
                seed=0,
                code_version="test",
                status="judged",
                verdict={"passed": False, "sentence": HOSTILE},
            )
        )
    return project


def harmless(page: Page) -> None:
    """Nothing of a name has run, and nothing of it is an element."""
    assert page.evaluate("() => [typeof window.hacked, document.querySelectorAll('img[src=x]').length]") == [
        "undefined",
        0,
    ]
