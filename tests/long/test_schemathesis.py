"""The REST interface against its own description: Schemathesis calls every route with what the document allows and forbids.

It runs as a person would (`schemathesis run`), against the application behind a port, where people log in: as an admin of
everything and as an annotator, on the ids of a project that holds everything, and on ids that nothing has. Its seed is fixed.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from annotator.app import create_app
from engine.accounts.digests import digest
from engine.settings import Settings
from tests.conftest import needed
from tests.support.accounts import cookie_of, make_user
from tests.support.populated_project import World
from tests.support.server_thread import served

HOOKS = "schemathesis_hooks"
SEED = 20261123
# Bodies that the schema allows and the engine refuses all the same, and why no schema can tell them apart.
REFUSED_RIGHTLY = {
    # It depends on what is there.
    "GET /api/projects/{project_id}/export": "no answer passes the filters; what was exported, and when, is a matter of words",
    "POST /api/projects/{project_id}/rollback": "there is no previous model",
    "POST /api/projects/{project_id}/models/{version_id}/promote": "no gate has judged the version",
    "PUT /api/projects/{project_id}/stage": "the precision has not been measured",
    "PUT /api/tasks/{task_id}/gold": "the annotation has no accepted answer to the question of the task",
    "POST /api/projects/{project_id}/survey": "the model may be gone",
    "POST /api/annotations/{annotation_id}/refine": "a point or a box lies outside this page, a mask does not fill its box",
    "PUT /api/annotations/{annotation_id}/revisions": "an edit names a word that this page has not, or no pixels at all",
    "POST /api/annotations/{annotation_id}/reviews": "verdict, reason and edits must fit each other",
    "PUT /api/pages/{page_id}/words": "an edit names a word that this page has not, or a box outside it",
    # It depends on what characters mean.
    "POST /api/projects": "a name is printable",
    "POST /api/users": "a name is printable, and no password",
    "POST /api/documents/{document_id}/ask": "a question is more than spaces and marks that nobody sees",
    "PUT /api/projects/{project_id}/standard-questions": "a question is more than spaces, and not asked twice",
    "PATCH /api/projects/{project_id}/settings": "bounds that the engine keeps, crontab expressions, time zones",
    "PUT /api/me/preferences": "64 KB are counted in bytes",
    # It depends on what a file holds.
    "POST /api/projects/{project_id}/documents": "the file is no picture and no PDF",
    "POST /api/projects/{project_id}/import": "the file is no dataset",
}
# A list far beyond its length is refused by its size, before anybody looks at what is in it (annotator.json_gate).
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "5xx"]
ALLOWED = ["2xx", "3xx", "401", "403", "404", "409", "422", "429"]


def configuration(ids: dict[str, str]) -> str:
    """What schemathesis.toml says; values as JSON are values of TOML."""
    lines = [f"seed = {SEED}", f'hooks = "{HOOKS}"', "[parameters]"]
    lines += [f'"path.{name}" = {json.dumps(value)}' for name, value in ids.items()]
    for route in REFUSED_RIGHTLY:
        method, path = route.split(" ")
        lines += [
            "[[operations]]",
            f"include-path = {json.dumps(path)}",
            f"include-method = {json.dumps(method)}",
            f"checks.positive_data_acceptance.expected-statuses = {json.dumps(ALLOWED)}",
        ]
    lines += ["[checks.negative_data_rejection]", f"expected-statuses = {json.dumps(REFUSED)}"]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("database_url", "who", "real", "phases"),
    [
        pytest.param(
            "postgresql", "owner", True, "examples,coverage,fuzzing,stateful", marks=pytest.mark.postgresql, id="admin"
        ),
        pytest.param("sqlite", "annotator", True, "examples,coverage,fuzzing", id="annotator"),
        pytest.param("postgresql", "owner", False, "coverage", marks=pytest.mark.postgresql, id="unknown ids"),
    ],
    indirect=["database_url"],
)
def test_every_route_keeps_to_its_description(
    database_url: str, who: str, real: bool, phases: str, tmp_path: Path
) -> None:
    if importlib.util.find_spec("schemathesis") is None:
        needed("Schemathesis is not installed (make install-bench).")
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, auth="login", _env_file=None)
    app = create_app(settings)
    workspace = app.state.answer_service.workspace
    world = World(workspace, None)  # type: ignore[arg-type]
    person = world.people[who]
    ids = world.ids_of(person) if real else {}
    [token] = person.cookie.values()
    [owner] = cookie_of(workspace, make_user(workspace, "the one who makes anew", "admin")).values()
    (tmp_path / "schemathesis.toml").write_text(configuration(ids))
    with served(app) as address:
        own = [person.known.id, digest(token)[:16]]
        given = {"address": address, "owner": owner, "ids": ids, "own": own}
        environment = {
            **os.environ,
            "GLOSSATOR_TEST_WORLD": json.dumps(given),
            "PYTHONPATH": str(Path(__file__).parent),
        }
        header = {"Authorization": f"Bearer {token}"}
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml"),
            *("run", f"{address}/api/openapi.json", "-H", f"Authorization: {header['Authorization']}"),
            *("--exclude-path", "/api/changes"),  # its answer has no end
            *("--checks", "all", "--phases", phases, "--max-examples", "15", "--continue-on-failure", "--no-color"),
        ]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
        assert httpx.get(f"{address}/api/me", headers=header).json()["user"]["name"] == person.known.name
